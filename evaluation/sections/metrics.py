"""Compute the measures of every system of a pool under one label set, for the overview, commands and the API."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluation.measures.rank_table import Floats
from evaluation.measures.registry import USUAL_NAMES, parse_measure
from evaluation.sections.compared import compared_of
from evaluation.sections.section import Context, number, numbers
from evaluation.sections.seed_notes import seed_notes
from evaluation.sections.settings import Settings
from pooling.models import Pool


def metrics(
    pool: Pool,
    labels: str = "current",
    measures: Sequence[str] = USUAL_NAMES,
    assumed_is_judged: bool = True,
    questions: str = "grown",
    seeds: str = "each",
    systems: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the measures of every system of a pool under one label set.

    {labels, name, counts, n: {measure: units}, systems: {name: {measure: value or None}}, reasons: {name: {measure:
    why it is None}}, left_out: systems without complete rank rows, compared: as in Compared}. ValueError for an unknown
    measure. `systems` are those to compare; empty: all that were asked enough questions.

    With `seeds` "families" a family of seeds is one system, the chosen one, and there are also families: {name: {seeds:
    names, mean: {measure: value}, sd: {measure: value}}}, and notes: which systems are no family, and why.
    """
    names = [parse_measure(name).name for name in measures]
    context = Context(pool, Settings(labels=labels, questions=questions, seeds=seeds, systems=tuple(systems)))
    table, chosen = context.table, context.labels
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
        "compared": compared_of(context),
        **(_families(context, names, assumed_is_judged) if context.settings.by_family else {}),
    }


def _families(context: Context, names: Sequence[str], assumed_is_judged: bool) -> dict[str, Any]:
    """Return mean and standard deviation over the seeds of each family of several, and what is no family."""

    def means(one: Context) -> Floats:
        sums = one.labels.sums(names, assumed_is_judged)
        return np.stack([sums[name].mean() for name in names], axis=1)

    families: dict[str, dict[str, Any]] = {}
    if spread := context.spread(means):
        for i, (name, seeds) in enumerate(context.seeds_of.items()):
            if len(seeds) > 1:
                mean, sd = (dict(zip(names, numbers(values[i]), strict=True)) for values in (spread.mean, spread.sd))
                families[name] = {"seeds": seeds, "mean": mean, "sd": sd}
    return {"families": families, "notes": seed_notes(context)}
