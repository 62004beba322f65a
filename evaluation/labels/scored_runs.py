"""Sort the systems of a pool by whether their runs hold the scores that a page reads, and have what is missing scored.

Max-k and triple classification read such scores; each says what a run needs.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

from django.contrib.auth.models import User

from core.jobs.lifecycle import start_job
from core.models import Job
from evaluation.labels.pool_table import PoolTable
from pooling.enums import PoolingJob
from pooling.models import Pool, Run
from pooling.training.train import systems_with_runs


class RunsByState(NamedTuple):
    """Hold the systems of a pool by whether they can be shown; `imported` never have scores of all entities."""

    ready: list[tuple[str, Run]]
    missing: list[str]
    imported: list[str]


def sort_runs(pool: Pool, table: PoolTable, has_scores: Callable[[Run], bool]) -> RunsByState:
    """Sort the evaluated systems of a pool by whether their run has its scores."""
    found = RunsByState([], [], [])
    for system in systems_with_runs(pool):
        if system.name not in table.systems:
            continue
        if system.is_imported:
            found.imported.append(system.name)
        elif has_scores(system.run):
            found.ready.append((system.name, system.run))
        else:
            found.missing.append(system.name)
    return found


def score_again(pool: Pool, names: Collection[str], user: User | None) -> list[Job]:
    """Start a scoring job for each of these systems, or return the one under way."""
    systems = [system for system in systems_with_runs(pool) if system.name in names]
    return [start_job(PoolingJob.SCORE, pool=pool, system=system, user=user) for system in systems]
