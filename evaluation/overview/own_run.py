"""Compare one run with the published ones of a pool, on demand: nothing of it is kept or shown to others."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import EvaluationError, PoolTable, returned_counts, whole_table
from evaluation.measures.question_sums import question_sums
from evaluation.measures.rank_table import Ranks
from evaluation.measures.registry import parse_measure
from evaluation.sections.compared import Compared, compared, compared_notes
from pooling.models import Pool, Run
from pooling.runs.asked import was_asked
from pooling.runs.files import read_ranks, read_returned, returned_keys
from pooling.scoring.rank_rows import find

MEASURES = ("micro_mrr", "micro_hits@10", "macro_mrr", "map@20", "ndcg@20", "judged@10")


class Beside(NamedTuple):
    """Hold the values of each system by measure, best first; `own` is the name of the run. None: undefined.

    compared: the questions that the values are of; notes: the same in sentences, empty where all were asked all.
    """

    labels: str
    own: str
    measures: tuple[str, ...]
    rows: list[tuple[str, list[float | None]]]
    compared: Compared
    notes: list[str]


def with_run(table: PoolTable, run: Run) -> PoolTable:
    """Return a whole table with an imported run as its last system; 0 for what its file lacks or it was not asked."""
    held = read_returned(run) if run.system.is_a_file else read_ranks(run)
    ranks, asked = table.ranks, was_asked(run, table.question_keys)
    keys = table.question_keys[ranks.question] * table.graph.num_entities + ranks.entity
    at = find(held.keys, keys)
    own = np.where((at >= 0) & asked[ranks.question], held.ranks[:, at], 0).astype(ranks.strict.dtype)
    kinds = dict(zip(("strict", "optimistic", "pessimistic"), own, strict=True))
    stacked = {name: np.concatenate([getattr(ranks, name), row[None]]) for name, row in kinds.items()}
    return replace(
        table,
        systems=[*table.systems, run.system.name],
        ranks=replace(ranks, **stacked, returned=_returned(table, run)),
        families=[*table.families, [len(table.systems)]],
        asked=np.vstack([table.asked, asked]),
        unasked=[name for name in table.unasked if name != run.system.name],
    )


def _returned(table: PoolTable, run: Run) -> Ranks | None:
    """Count what the systems and this run returned of each question; None if all returned every candidate."""
    ranks = table.ranks
    own = returned_counts([returned_keys(run)], table.question_keys, ranks.candidates)
    if own is None and ranks.returned is None:
        return None
    others = np.tile(ranks.candidates, (ranks.systems, 1)) if ranks.returned is None else ranks.returned
    return np.vstack([others, ranks.candidates[None] if own is None else own])


def beside_published(pool: Pool, run: Run, labels: str = "current", measures: Sequence[str] = MEASURES) -> Beside:
    """Return the measures of the published systems and of this run under a label set; EvaluationError if unknown.

    All values are of the questions that all of these systems were asked.
    """
    names = tuple(parse_measure(name).name for name in measures)
    table = _compared(pool, run, full_test=labels == "full-test")
    chosen = label_set(pool, table, labels)
    found = compared(table, chosen)
    if found["of"] and not found["questions"]:
        raise EvaluationError(
            f"Run {run.system.name} and the published systems of pool {pool.name} were asked no question in common, so "
            f"there is nothing to compare. Make the run from the topics of the pool (export_topics {pool.name} FILE), "
            "then replace it."
        )
    means = {name: question_sums(value).mean() for name, value in chosen.values(names).items()}
    rows = [
        (system, [float(means[name][i]) if np.isfinite(means[name][i]) else None for name in names])
        for i, system in enumerate(table.systems)
    ]
    rows.sort(key=lambda row: -np.inf if row[1][0] is None else -row[1][0])
    return Beside(chosen.name, run.system.name, names, rows, found, list(compared_notes(found)))


def _compared(pool: Pool, run: Run, *, full_test: bool) -> PoolTable:
    """Return the systems that pages compare without being asked, and this run, on their common questions."""
    published, own = whole_table(pool), run.system.name
    table = published if own in published.systems else with_run(published, run)
    view = table.compared(full_test=full_test)
    if own in view.systems:
        return view
    chosen = table.compared([*view.systems, own], full_test=full_test)
    return replace(chosen, dropped=tuple(name for name in view.dropped if name != own))
