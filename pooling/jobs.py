"""Register the kinds of job that import, train, pool and score, and find the live jobs of a graph, system or pool."""

from django.db.models import Q, QuerySet

from core.enums import LIVE, JobState
from core.jobs.registry import JobType
from core.models import Job
from pooling.enums import PoolingAct, PoolingJob, PoolState, SystemState
from pooling.models import Graph, Pool, System


def training_left(job: Job, state: JobState) -> None:
    """Give a system whose training job failed or was cancelled the same state."""
    left = SystemState(state.value)
    System.objects.filter(jobs=job, state=SystemState.TRAINING).update(state=left)


def building_left(job: Job, state: JobState) -> None:
    """Give a pool whose building job failed or was cancelled the same state."""
    left = PoolState(state.value)
    Pool.objects.filter(jobs=job, state=PoolState.BUILDING).update(state=left)


_SYSTEMS, _BUILT = PoolingAct.SYSTEMS_TRAINED, PoolingAct.POOL_BUILT
_TRAIN, _BUILD = "pooling.training.train.train", "pooling.pools.build.run_build_pool"
JOBS = (
    JobType(PoolingJob.TRAIN, "gpu", _TRAIN, "systems", _SYSTEMS, trains=True, leave=training_left),
    JobType(PoolingJob.BUILD_POOL, "gpu", _BUILD, "pool", _BUILT, leave=building_left),
    JobType(PoolingJob.EXTEND_POOL, "gpu", "pooling.pools.growth.run_extend_pool", "pool"),
    JobType(PoolingJob.FILTER_POOL, "cpu", "pooling.pools.filtering.run_filter_pool", "filter"),
    JobType(PoolingJob.IMPORT_GRAPH, "cpu", "pooling.layouts.uploads.run_import", "graph"),
    JobType(PoolingJob.SCORE, "gpu", "pooling.runs.distributions.score", "runs"),
    JobType(PoolingJob.IMPORT_RUN, "cpu", "pooling.runs.parts_import.run_import", "runs"),
)


def live_jobs(subject: Graph | System | Pool) -> QuerySet[Job]:
    """Return the jobs of a subject, and of what belongs to it, that are not over, oldest first."""
    if isinstance(subject, Graph):
        own = Q(graph=subject) | Q(system__graph=subject) | Q(pool__graph=subject)
    elif isinstance(subject, Pool):
        own = Q(pool=subject)
    else:
        own = Q(system=subject) | Q(pk__in=_extensions_by(subject))
    return Job.objects.filter(own, state__in=LIVE).order_by("id")


def _extensions_by(system: System) -> list[int]:
    """Find live jobs that add the system to a pool; only their params name it, and SQLite cannot search JSON lists."""
    live = Job.objects.filter(kind=PoolingJob.EXTEND_POOL, pool__graph=system.graph_id, state__in=LIVE)
    return [pk for pk, params in live.values_list("pk", "params") if system.name in params["systems"]]
