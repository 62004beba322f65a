"""Compute the measures of every system of a pool under one label set, for the overview, commands and the API."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import pool_table
from evaluation.measures.registry import USUAL_NAMES, parse_measure
from evaluation.sections.section import number
from pooling.models import Pool


def metrics(
    pool: Pool,
    labels: str = "current",
    measures: Sequence[str] = USUAL_NAMES,
    assumed_is_judged: bool = True,
    questions: str = "grown",
) -> dict[str, Any]:
    """Return the measures of every system of a pool under one label set.

    {labels, name, counts, n: {measure: units}, systems: {name: {measure: value or None}}, reasons: {name: {measure:
    why it is None}}, left_out: systems without complete rank rows}. ValueError for an unknown measure.
    """
    names = [parse_measure(name).name for name in measures]
    table = pool_table(pool)
    chosen = label_set(pool, table, labels, questions)
    found = chosen.sums(names, assumed_is_judged)
    means = {name: sums.mean().tolist() for name, sums in found.items()}
    undefined = [name for name in names if not np.isfinite(means[name]).all()]
    why = {name: value.reasons() for name, value in chosen.values(undefined, assumed_is_judged).items()}
    by_system: dict[str, dict[str, float | None]] = {system: {} for system in table.systems}
    reasons: dict[str, dict[str, str]] = {system: {} for system in table.systems}
    for name in names:
        for i, system in enumerate(table.systems):
            by_system[system][name] = number(means[name][i])
            if by_system[system][name] is None:
                reasons[system][name] = why[name][i]
    return {
        "labels": labels,
        "name": chosen.name,
        "counts": chosen.counts(),
        "assumed_is_judged": assumed_is_judged,
        "questions": questions,
        "n": {name: found[name].units for name in names},
        "systems": by_system,
        "reasons": reasons,
        "left_out": table.left_out,
    }
