"""Start the jobs that score what a pool lacks."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User

from core.jobs.lifecycle import start_job
from core.models import Job
from pooling.enums import PoolingJob
from pooling.models import Pool, System
from pooling.runs.imports import imported_for
from pooling.training.train import get_systems


def systems_to_score(pool: Pool, names: Sequence[str] = ()) -> list[System]:
    """Return the named systems; without names all trained ones of the graph, and imported runs that answer a seed."""
    systems = get_systems(pool.graph, names or None)
    return systems if names else [*systems, *imported_for(pool)]


def start_scoring(
    pool: Pool, systems: Sequence[System], *, params: dict[str, Any] | None = None, user: User | None = None
) -> list[Job]:
    """Start a job for each system that adds the scores of pooled and test triples that its run lacks."""
    return [start_job(PoolingJob.SCORE, pool=pool, system=system, params=params, user=user) for system in systems]
