"""Sort the systems of a pool by whether their runs hold the scores that a page reads, and have what is missing scored.

Max-k and triple classification read such scores; each says what a run needs.
"""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from django.contrib.auth.models import User

from core.models import Job
from evaluation.labels.pool_table import PoolTable, evaluated
from pooling.models import Pool, Run
from pooling.runs.start_scoring import start_scoring
from pooling.training.train import systems_with_runs

AGAIN = " A system whose run lacks them is scored once more; ranks and labels stay as they are."


class RunsByState(NamedTuple):
    """Hold the systems of a pool by whether they can be shown; `imported` never have scores of all entities."""

    ready: list[tuple[str, Run]]
    missing: list[str]
    imported: list[str]


def sort_runs(
    pool: Pool, table: PoolTable, has_scores: Callable[[Run], bool], asked: Sequence[str] = ()
) -> RunsByState:
    """Sort the evaluated systems of a pool by whether their run has its scores.

    asked: names of the systems that somebody chose, () for all; imported ones of them are told although the table,
    from `trained_here`, is without them.
    """
    found, every = RunsByState([], [], []), (table.whole or table).systems
    for system in systems_with_runs(pool):
        if system.is_imported and system.name in every and (not asked or system.name in asked):
            found.imported.append(system.name)
        elif system.name not in table.systems or system.is_imported:
            continue
        elif has_scores(system.run):
            found.ready.append((system.name, system.run))
        else:
            found.missing.append(system.name)
    return found


def trained_here(pool: Pool, asked: Sequence[str]) -> list[str]:
    """Return the names in `asked`, or of all systems if there are none, without imported runs: these have no scores.

    So the questions that an imported run was not asked do not narrow a page that cannot show it. Where only imported
    runs were asked for, these are returned.
    """
    imported = {system.name for system in systems_with_runs(pool) if system.is_imported}
    names = asked or evaluated(pool)
    return [name for name in names if name not in imported] or list(asked)


def score_again(pool: Pool, names: Collection[str], user: User | None) -> list[Job]:
    """Start a scoring job for each of these systems, or return the one under way."""
    systems = [system for system in systems_with_runs(pool) if system.name in names]
    return start_scoring(pool, systems, user=user)
