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


FLOAT = 4  # bytes


def training_needs(graph: Graph | None, system: System | None, pool: Pool | None) -> int:
    """Return the bytes that training a system takes at least; 0 if its settings do not tell.

    For each entity `embedding_dim` numbers, their slopes and what the optimiser keeps (Adam two, Adagrad one), and the
    scores of a batch. Training itself estimates what the rest takes (pooling/learning/memory.py), and needs torch for
    it: this is known where the job is started, and never more. A system that must train on the CPU is not held back
    from a worker with a small GPU.
    """
    if system is None or not (weights := _weights(system)):
        return 0
    own, states = system.settings, 1 if system.settings.get("optimizer") == "adagrad" else 2
    rows = min(int(own.get("batch_size", 0)), 2 * system.graph.num_train)
    columns = min(int(own.get("num_negatives", 0)) or system.graph.num_entities, system.graph.num_entities)
    return weights * (2 + states) + FLOAT * rows * columns


def _weights(system: System) -> int:
    """Return the bytes of a number per entity and dimension; 0 if it has no vectors, or only a CPU may compute it."""
    if system.settings.get("device") == "cpu":
        return 0
    return FLOAT * system.graph.num_entities * int(system.settings.get("embedding_dim", 0))


_SYSTEMS, _BUILT = PoolingAct.SYSTEMS_TRAINED, PoolingAct.POOL_BUILT
_TRAIN, _BUILD = "pooling.training.train.train", "pooling.pools.build.run_build_pool"
JOBS = (
    JobType(
        PoolingJob.TRAIN, "gpu", _TRAIN, "systems", _SYSTEMS, trains=True, leave=training_left, needs=training_needs
    ),
    JobType(PoolingJob.BUILD_POOL, "gpu", _BUILD, "pool", _BUILT, leave=building_left),
    JobType(PoolingJob.EXTEND_POOL, "gpu", "pooling.pools.growth.run_extend_pool", "pool"),
    JobType(PoolingJob.FILTER_POOL, "cpu", "pooling.pools.filtering.run_filter_pool", "filter"),
    JobType(PoolingJob.IMPORT_GRAPH, "cpu", "pooling.layouts.uploads.run_import", "graph"),
    JobType(PoolingJob.SCORE, "gpu", "pooling.runs.distributions.score", "runs", PoolingAct.SCORING_STARTED),
    JobType(PoolingJob.SCORE_SYSTEM, "gpu", "pooling.pools.scoring.run_score_system", "runs"),
    JobType(PoolingJob.SCORE_SHARD, "gpu", "pooling.runs.shard_work.run_shard", "runs"),
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
