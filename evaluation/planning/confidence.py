"""Build the sections of Planning on how sure the order of the systems is, and which pairs are undecided."""

import numpy as np

from evaluation.planning.forecast import aim_of
from evaluation.planning.kernels.order_confidence import OrderConfidence
from evaluation.planning.work_left import RESAMPLES, confidences, is_reached, order_figure
from evaluation.sections.builders import chart, interval_cell, series_of, table_of
from evaluation.sections.coefficients import LEVEL
from evaluation.sections.section import Cell, Chart, Column, Context, Section, Table, evaluated, label_caption, numbers
from evaluation.sections.wording import named_ticks, signed

NO_ORDER = "fewer than two systems have a value, or all of them tie"


def by_order(context: Context) -> list[Section]:
    found = confidences(context, context.settings.measures)
    return [_order(context, found), _undecided(context, found)]


def _order(context: Context, found: dict[str, OrderConfidence]) -> Section:
    held = "mean over the resamples, with its 95 % interval"
    unsure = "in the same order in fewer than 95 % of the resamples"
    table = table_of(
        "order-now",
        "Tau between the order now and resampled orders",
        [(measure.label, found[measure.name]) for measure in context.measures],
        [
            (Column("measure", "Measure", "measure"), lambda row: row[0]),
            (Column("tau", "Tau", "tau", held), lambda row: _tau_cell(row[1])),
            (Column("undecided", "Undecided pairs", "count", unsure), lambda row: int(row[1].undecided(LEVEL).size)),
            (Column("pairs", "Pairs", "count", "of systems that have a value"), lambda row: len(row[1].pairs)),
            (Column("questions", "Questions", "count"), lambda row: row[1].questions),
        ],
    )
    least = min((one.defined for one in found.values() if one.defined), default=RESAMPLES)
    notes = [] if least == RESAMPLES else [f"Some resamples tie all systems; the fewest left are {least:,}."]
    return Section(
        "order-now",
        "How sure the order is",
        "Tau between the order of the systems now and their order when the questions are drawn again. Near 1 the order"
        " would hold with other questions of the same kind; more labels open more questions.",
        f"{label_caption(context.labels, context.settings)} n = {evaluated(context.labels)}. Kendall's tau-b, mean and"
        f" {100 * LEVEL:g} % percentile interval of {RESAMPLES:,} bootstrap resamples of the questions, seed"
        f" {context.settings.seed}.",
        [table],
        _order_chart(context, found),
        target_says(context),
        notes,
    )


def _tau_cell(one: OrderConfidence) -> Cell:
    return interval_cell(one.mean, one.low, one.high, NO_ORDER)


def _order_chart(context: Context, found: dict[str, OrderConfidence]) -> Chart:
    series = []
    for i, measure in enumerate(context.measures):
        one = found[measure.name]
        mean, low, high = ([value] for value in numbers([one.mean, one.low, one.high]))
        hover = [f"{measure.label}: {_with_interval(one)}"]
        series.append(series_of(measure.label, [i], mean, measure=i, low=low, high=high, hover=hover))
    ticks = named_ticks([measure.label for measure in context.measures])
    least = min((one.low for one in found.values() if one.defined), default=0.0)
    label = "Tau between the order now and resampled orders, by measure"
    return chart("points", label, series, y="tau", yrange=[min(0.0, least) - 0.05, 1.05], xaxis=ticks)


def _with_interval(one: OrderConfidence) -> str:
    return f"{signed(one.mean)} ({signed(one.low)} to {signed(one.high)})" if one.defined else "undefined"


def target_says(context: Context) -> str:
    """Say whether the target is reached, from the figure that the release of triples reads."""
    aim = aim_of(context)
    content = order_figure(context.pool, aim.measure.name).content
    if content["low"] is None:
        return f"By {aim.measure.label} tau is undefined: {NO_ORDER}. Nothing stops at a target."
    said = (
        f"By {aim.measure.label} tau is {signed(content['tau'])}, 95 % interval {signed(content['low'])} to"
        f" {signed(content['high'])}; {content['undecided']} of {content['pairs']} pairs of systems are undecided."
    )
    if not aim.is_set:
        return f"{said} The campaign has no target."
    if is_reached(content, aim.target):
        return f"{said} The target of {aim.target:.2f} is reached: no further batch is released by itself."
    return f"{said} The target is that the interval begins at {aim.target:.2f} or above."


def _undecided(context: Context, found: dict[str, OrderConfidence]) -> Section:
    rows: list[list[Cell]] = []
    for measure in context.measures:
        one = found[measure.name]
        for i in one.undecided(LEVEL).tolist():
            ahead, behind = (context.systems[s] for s in one.pairs[i].tolist())
            rows.append([measure.label, ahead, behind, float(one.same[i])])
    columns = [
        Column("measure", "Measure", "measure"),
        Column("ahead", "Ahead now", "text"),
        Column("behind", "Behind now", "text"),
        Column("same", "Same order", "share", "share of the resamples"),
    ]
    counts = {one: int(found[one.name].undecided(LEVEL).size) for one in context.measures}
    least = min(counts.values(), default=0)
    surest = [measure.label for measure, count in counts.items() if count == least]
    enough, first = len(context.systems) > 1, context.measures[0]
    return Section(
        "order-pairs",
        "Undecided pairs",
        "The pairs of systems whose order the questions do not settle: they stand as now in fewer than 95 % of the"
        " resamples. Systems that tie are undecided.",
        f"The same resamples, {len(rows):,} undecided pairs in all. The chart is of {first.label}: how often the system"
        " of the row is ahead of that of the column.",
        [Table("order-pairs", "Undecided pairs of systems", columns, rows)],
        _pairs_chart(context, found[first.name]) if enough else None,
        f"Fewest pairs, {least}, are undecided by {surest[0]}." if enough and len(counts) > 1 else "",
        [] if enough else ["One system only: there is no pair."],
    )


def _pairs_chart(context: Context, one: OrderConfidence) -> Chart:
    """Draw the share of the resamples that keep each pair, best systems first."""
    wins = np.bincount(one.pairs[:, 0], minlength=len(context.systems))
    order = np.argsort(-wins, kind="stable").tolist()
    kept = dict(zip(map(tuple, one.pairs.tolist()), one.same.tolist(), strict=True))
    names = [context.systems[i] for i in order]
    values = [[kept.get((row, column)) for column in order] for row in order]
    label = "Share of the resamples in which a system is ahead of another one"
    return Chart("matrix", label, {"rows": names, "columns": names, "range": [0, 1], "values": values})
