"""Do a step of the scoring of a pool for each of its systems: one after another, or each as a part of the job."""

from collections.abc import Callable, Sequence

from core.jobs.fencing import working
from core.jobs.parts import do_parts, forget_parts
from core.jobs.progress import Progress
from core.models import Job
from pooling.enums import PoolingJob
from pooling.graphs.opening import open_graph
from pooling.models import Pool, System
from pooling.pools.seeds import seed_array
from pooling.questions.kernel import distinct_questions
from pooling.runs.distributions import predict_for_pool
from pooling.runs.score import score_for_pool, score_triples
from pooling.runs.shards import shard_size


def _candidates(system: System, pool: Pool, progress: Progress) -> None:
    score_triples(system, seed_array(pool), open_graph(pool.graph).test, progress, raw=pool.is_raw)


def _ranks(system: System, pool: Pool, progress: Progress) -> None:
    score_for_pool(system, pool, progress)


ACTS: dict[str, Callable[[System, Pool, Progress], None]] = {
    "candidates": _candidates,
    "rank rows": _ranks,
    "distributions": predict_for_pool,
}


def score_each(act: str, systems: Sequence[System], pool: Pool, progress: Progress) -> None:
    """Do an act of ACTS for each system; in parts, if a job is at work and the questions are more than a shard."""
    graph = open_graph(pool.graph)
    questions = len(distinct_questions(seed_array(pool)).side)
    if len(systems) < 2 or questions <= shard_size(graph) or working() is None:
        for system in systems:
            ACTS[act](system, pool, progress)
        return
    asked = [
        {"act": act, "pool": pool.pk, "system": system.pk, "name": f"{system}, {act} for {pool.name}"}
        for system in systems
    ]
    tell = progress.teller(f"{act} of {len(systems)} systems", "questions")
    forget_parts(do_parts(PoolingJob.SCORE_SYSTEM, asked, [questions] * len(systems), tell))


def run_score_system(job: Job, progress: Progress) -> None:
    """Do one act for one system (params: act, pool, system)."""
    system = System.objects.select_related("graph").get(pk=job.params["system"])
    ACTS[job.params["act"]](system, Pool.objects.select_related("graph").get(pk=job.params["pool"]), progress)
