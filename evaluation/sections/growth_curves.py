"""Show values and taus while labels are added, for the pages Depth and Accumulation."""

from collections.abc import Callable, Sequence

import numpy as np

from evaluation.labels.label_sets import LabelSet
from evaluation.measures.prepared import Prepared, prepare
from evaluation.measures.rank_table import Floats, Ints, keep_rows
from evaluation.measures.registry import Measure
from evaluation.measures.values import NO_ANSWER
from evaluation.sections.builders import small_multiples
from evaluation.sections.section import Cell, Chart, Column, Context, Json, Table, cell, numbers, seed_cells
from evaluation.statistics.growth import Growth
from evaluation.statistics.seeds import SeedSpread
from pooling.systems.shown_names import shown_name

ONE_SYSTEM = "One system only: there is no order, tau is undefined."
NO_ORDER = "fewer than two systems have a value, or one of the two orders ties them all"


def asked_rows(chosen: LabelSet) -> Prepared:
    """Return the rank rows of the evaluated questions: all of them, or those of the seeds' questions."""
    if chosen.asked is None:
        return chosen.prepared
    table = chosen.prepared.table
    return prepare(keep_rows(table, chosen.asked[table.question]))


def order_notes(context: Context) -> list[str]:
    return [] if len(context.systems) > 1 else [ONE_SYSTEM]


def settled_from(tau: Floats) -> int | None:
    """Return the first state from which the order stays the last one; None where tau is undefined at the end."""
    if not tau.size or not np.isfinite(tau[-1]):
        return None
    apart = np.flatnonzero(~(tau > 1 - 1e-9))
    return int(apart[-1]) + 1 if apart.size else 0


def values_table(
    context: Context,
    curve: Growth,
    measure: Measure,
    spread: SeedSpread | None,
    key: str,
    steps: Column,
    at: Sequence[Cell],
) -> Table:
    """Build a table with a row for each label state: step, positives, questions, the value of each system.

    `spread` is that of the measure over seeds, [systems, states].
    """
    means = curve.means[measure.name]
    reasons = why_undefined(context, curve, measure)
    rows: list[list[Cell]] = [
        [
            step,
            int(curve.positives[i]),
            int(curve.questions[i]),
            *seed_cells([*map(cell, means[i].tolist(), reasons[i])], spread and spread.at(i)),
        ]
        for i, step in enumerate(at)
    ]
    columns = [
        steps,
        Column("positives", "Positive triples", "count", "triples that are positive by the labels until then"),
        Column("questions", "Questions", "count", "with an answer among the positive triples"),
        *(Column(name, shown_name(name), "value") for name in context.systems),
    ]
    return Table(key, f"{measure.label} of each system by {steps.label.lower()}", columns, rows)


def growth_spread(context: Context, curve_of: Callable[[Context], Growth]) -> SeedSpread | None:
    """Return the spread over seeds of the values on a curve, [systems, measures, states]."""

    def values(each: Context) -> Floats:
        curve = curve_of(each)
        return np.stack([curve.means[measure.name].T for measure in context.measures], axis=1)

    return context.spread(values)


def why_undefined(context: Context, curve: Growth, measure: Measure) -> list[list[str]]:
    """Return a reason for an undefined mean, for each label state and system."""
    if np.isfinite(curve.means[measure.name]).all():
        return [[""] * len(context.systems)] * len(curve.questions)
    final = context.labels.values([measure.name], context.settings.assumed_is_judged)[measure.name].reasons()
    early = "a value that the measure needs is missing under the labels until then"
    return [[NO_ANSWER] * len(final) if not n else [why or early for why in final] for n in curve.questions.tolist()]


def values_chart(context: Context, curve: Growth, measure: Measure, x: Ints, axis: str) -> Chart:
    series = [
        {"system": s, "name": name, "x": x.tolist(), "y": numbers(curve.means[measure.name][:, s])}
        for s, name in enumerate(context.systems)
    ]
    data: Json = {"series": series, "x": axis, "y": measure.label}
    return Chart("lines", f"{measure.label} of each system by {axis}", data)


def tau_table(
    context: Context, curve: Growth, taus: dict[str, Floats], key: str, title: str, steps: Column, at: Sequence[Cell]
) -> Table:
    rows: list[list[Cell]] = [
        [step, int(curve.positives[i]), *(cell(taus[m.name][i], NO_ORDER) for m in context.measures)]
        for i, step in enumerate(at)
    ]
    columns = [
        steps,
        Column("positives", "Positive triples", "count"),
        *(Column(m.name, m.label, "tau") for m in context.measures),
    ]
    return Table(key, title, columns, rows)


def tau_chart(context: Context, taus: dict[str, Floats], x: Ints, axis: str, against: str) -> Chart:
    series = [
        {"measure": i, "name": m.label, "x": x.tolist(), "y": numbers(taus[m.name])}
        for i, m in enumerate(context.measures)
    ]
    lowest = min([0.0, *(float(tau[np.isfinite(tau)].min(initial=0)) for tau in taus.values())])
    axes = {"x": axis, "y": f"Kendall's tau against {against}", "yrange": [lowest - 0.05 if lowest < 0 else 0.0, 1.05]}
    return small_multiples(f"Tau against {against} by {axis}", series, **axes)
