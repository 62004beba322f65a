"""Compare one run with the published ones of a pool, on demand: nothing of it is kept or shown to others."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import PoolTable, pool_table
from evaluation.measures.question_sums import question_sums
from evaluation.measures.registry import parse_measure
from pooling.models import Pool, Run
from pooling.runs.files import read_ranks, read_returned
from pooling.scoring.rank_rows import find

MEASURES = ("micro_mrr", "micro_hits@10", "macro_mrr", "map@20", "ndcg@20", "judged@10")


class Compared(NamedTuple):
    """Hold the values of each system by measure, best first; `own` is the name of the run. None: undefined."""

    labels: str
    own: str
    measures: tuple[str, ...]
    rows: list[tuple[str, list[float | None]]]
    questions: int


def with_run(table: PoolTable, run: Run) -> PoolTable:
    """Return the table with the positions of an imported run as its last system; 0 for what its file lacks."""
    held = read_returned(run) if run.system.is_a_file else read_ranks(run)
    ranks = table.ranks
    keys = table.question_keys[ranks.question] * table.graph.num_entities + ranks.entity
    at = find(held.keys, keys)
    own = np.where(at >= 0, held.ranks[:, at], 0).astype(ranks.strict.dtype)
    kinds = dict(zip(("strict", "optimistic", "pessimistic"), own, strict=True))
    stacked = {name: np.concatenate([getattr(ranks, name), row[None]]) for name, row in kinds.items()}
    return replace(
        table,
        systems=[*table.systems, run.system.name],
        ranks=replace(ranks, **stacked),
        families=[*table.families, [len(table.systems)]],
    )


def compared(pool: Pool, run: Run, labels: str = "current", measures: Sequence[str] = MEASURES) -> Compared:
    """Return the measures of the published systems and of this run under a label set; EvaluationError if unknown."""
    names = tuple(parse_measure(name).name for name in measures)
    published = pool_table(pool)
    table = published if run.system.name in published.systems else with_run(published, run)
    chosen = label_set(pool, table, labels)
    means = {name: question_sums(value).mean() for name, value in chosen.values(names).items()}
    rows = [
        (system, [float(means[name][i]) if np.isfinite(means[name][i]) else None for name in names])
        for i, system in enumerate(table.systems)
    ]
    rows.sort(key=lambda row: -np.inf if row[1][0] is None else -row[1][0])
    return Compared(chosen.name, run.system.name, names, rows, chosen.question_counts().answered)
