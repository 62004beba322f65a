"""What the tests of growing pools share."""

from __future__ import annotations

from core.enums import JobState
from core.jobs.progress import Progress
from core.models import Job
from pooling.models import Pool
from pooling.pools.build import unpack_provenance
from pooling.pools.growth import extend_pool, run_extend_pool
from tests.factories import names_of


def extend(pool: Pool, **asked: object) -> Pool:
    """Ask for it, do it as the job does (distributions only if asked), and give the pool as it is then."""
    job = extend_pool(pool, **{"predictive": False, **asked})  # type: ignore[arg-type]
    run_extend_pool(job, Progress(job))
    Job.objects.filter(pk=job.pk).update(state=JobState.DONE)
    return Pool.objects.get(pk=pool.pk)


def content(pool: Pool) -> dict[tuple[str, str, str], tuple]:
    """Every triple by name: depth, reason, and its findings with the names of the systems."""
    return {
        names_of(pool.graph, (row.head, row.relation, row.tail)): (
            row.depth,
            row.reason,
            sorted(unpack_provenance(row.provenance, pool.contributors)),
        )
        for row in pool.triples.all()
    }
