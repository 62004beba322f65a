"""Build the sections of Planning on how sure the order of the systems is, and which pairs are undecided."""

import numpy as np

from evaluation.planning.forecast import aim_of
from evaluation.planning.kernel import OrderConfidence
from evaluation.planning.work_left import RESAMPLES, confidences, is_reached, order_figure
from evaluation.sections.builders import chart, interval_cell, matrix, series_of, table_of
from evaluation.sections.coefficients import LEVEL
from evaluation.sections.section import Chart, Column, Context, Section, evaluated, label_caption, numbers
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
        "Tau, now against resampled",
        [(measure.label, found[measure.name]) for measure in context.measures],
        [
            (Column("measure", "Measure", "measure"), lambda row: row[0]),
            (
                Column("tau", "Tau", "tau", held),
                lambda row: interval_cell(row[1].mean, row[1].low, row[1].high, NO_ORDER),
            ),
            (Column("undecided", "Undecided pairs", "count", unsure), lambda row: int(row[1].undecided(LEVEL).size)),
            (Column("pairs", "Pairs", "count", "of systems that have a value"), lambda row: len(row[1].pairs)),
            (Column("questions", "Questions", "count"), lambda row: row[1].questions),
        ],
    )
    least = min((one.defined for one in found.values() if one.defined), default=RESAMPLES)
    says = f"Where all systems tie, a resample has no tau and is left out: each mean rests on at least {least:,}."
    notes = [] if least == RESAMPLES else [says]
    return Section(
        "order-now",
        "How sure the order is",
        "Tau, now against resampled: between the order of the systems now and their order when the questions are drawn"
        " again. Near 1 the order would hold with other questions of the same kind; more labels open more questions."
        " It is not the tau of the results overview, seeds against labels, which says how much the labels changed.",
        f"{label_caption(context.labels, context.settings)} n = {evaluated(context.labels)}. Kendall's tau-b, mean and"
        f" {100 * LEVEL:g} % percentile interval of {RESAMPLES:,} bootstrap resamples of the questions, seed"
        f" {context.settings.seed}.",
        [table],
        _order_chart(context, found),
        target_says(context),
        notes,
    )


def _order_chart(context: Context, found: dict[str, OrderConfidence]) -> Chart:
    series = []
    for i, measure in enumerate(context.measures):
        one = found[measure.name]
        mean, low, high = ([value] for value in numbers([one.mean, one.low, one.high]))
        said = f"{signed(one.mean)} ({signed(one.low)} to {signed(one.high)})" if one.defined else "undefined"
        ends = {"low": low, "high": high, "hover": [f"{measure.label}: {said}"]}
        series.append(series_of(measure.label, [i], mean, measure=i, **ends))
    ticks = named_ticks([measure.label for measure in context.measures])
    least = min((one.low for one in found.values() if one.defined), default=0.0)
    label = "Tau, now against resampled, by measure"
    return chart(
        "points",
        label,
        series,
        y="Kendall's tau, now against resampled",
        yrange=[min(0.0, least) - 0.05, 1.05],
        xaxis=ticks,
    )


def target_says(context: Context) -> str:
    """Say whether the target is reached, from the figure that the release of triples reads: it is of all systems."""
    aim = aim_of(context)
    by = "For all systems, which a target always counts, by" if context.settings.systems else "By"
    content = order_figure(context.pool, aim.measure.name).content
    if content["low"] is None:
        return (
            f"{by} {aim.measure.label} tau, now against resampled, is undefined: {NO_ORDER}. Nothing stops at a target."
        )
    said = (
        f"{by} {aim.measure.label}, tau, now against resampled, is"
        f" {signed(content['tau'])} (95 % interval {signed(content['low'])} to {signed(content['high'])});"
        f" {content['undecided']} of {content['pairs']} pairs of systems are undecided."
    )
    if not aim.is_set:
        return f"{said} The campaign has no target; forecasts are for the usual {aim.target:.2f}."
    if is_reached(content, aim.target):
        return f"{said} The target of {aim.target:.2f} is reached: no further batch is released by itself."
    if content["undefined"]:
        said += f" {content['undefined']:,} of {RESAMPLES:,} resamples tie all systems."
    return (
        f"{said} The target is not reached: it is that the interval begins at {aim.target:.2f} or above, no pair is"
        " undecided, and no resample ties all systems."
    )


def _undecided(context: Context, found: dict[str, OrderConfidence]) -> Section:
    undecided = {measure: found[measure.name].undecided(LEVEL).tolist() for measure in context.measures}
    pairs = [(measure, found[measure.name], i) for measure, places in undecided.items() for i in places]
    systems, first = context.systems, context.measures[0]
    table = table_of(
        "order-pairs",
        "Undecided pairs of systems",
        pairs,
        [
            (Column("measure", "Measure", "measure"), lambda row: row[0].label),
            (Column("ahead", "Ahead now", "system"), lambda row: systems[row[1].pairs[row[2], 0]]),
            (Column("behind", "Behind now", "system"), lambda row: systems[row[1].pairs[row[2], 1]]),
            (Column("same", "Same order", "share", "share of the resamples"), lambda row: float(row[1].same[row[2]])),
        ],
    )
    surest = min(context.measures, key=lambda measure: len(undecided[measure]))
    fewest = f"Fewest pairs, {len(undecided[surest])}, are undecided by {surest.label}."
    enough = len(systems) > 1
    return Section(
        "order-pairs",
        "Undecided pairs",
        "Pairs whose order the questions do not settle: fewer than 95 % of the resamples give the same order as now."
        " Systems that tie are undecided. This is a bootstrap of each pair alone, not corrected for the"
        " number of pairs; the results overview asks for 97.5 %. For a claim about a pair, quote the randomised Tukey"
        " HSD of Discriminative power.",
        f"The same resamples, {len(pairs):,} undecided pairs in all. The chart is of {first.label}: how often the"
        " system of the row is ahead of that of the column.",
        [table],
        _pairs_chart(context, found[first.name]) if enough else None,
        fewest if enough and len(context.measures) > 1 else "",
        [] if enough else ["One system only: there is no pair."],
    )


def _pairs_chart(context: Context, one: OrderConfidence) -> Chart:
    """Draw the share of the resamples that keep each pair, best systems first."""
    wins = np.bincount(one.pairs[:, 0], minlength=len(context.systems))
    order = np.argsort(-wins, kind="stable").tolist()
    kept = dict(zip(map(tuple, one.pairs.tolist()), one.same.tolist(), strict=True))
    names = [context.systems[i] for i in order]
    values = [[kept.get((row, column)) for column in order] for row in order]
    return matrix("Share of the resamples in which a system is ahead of another one", names, values, range=[0, 1])
