"""Run the job that scores what a run misses for a pool."""

from core.jobs.progress import Progress
from core.models import Job
from pooling.runs.distributions import predict_for_pool
from pooling.runs.score import score_for_pool


def score(job: Job, progress: Progress) -> None:
    """Fill in the rank rows of job.system for job.pool, then the distributions (params: predictive)."""
    assert job.pool is not None and job.system is not None
    score_for_pool(job.system, job.pool, progress)
    if job.params.get("predictive", True):
        predict_for_pool(job.system, job.pool, progress)
