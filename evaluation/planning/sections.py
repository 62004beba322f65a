"""Planning: is the order of the systems sure enough, how much judging is left, and where the next labels pay most."""

from __future__ import annotations

import math

from evaluation.planning.confidence import NO_ORDER, by_order, target_says
from evaluation.planning.forecast import POINTS, Plan, plan
from evaluation.planning.work_left import LEAST_TIMED, RESAMPLES, Span, Work, confidences, planning_version
from evaluation.planning.yields import by_relation, relation_json, yields
from evaluation.sections.coefficients import LEVEL
from evaluation.sections.section import (
    Analysis,
    Cell,
    Chart,
    Column,
    Context,
    Json,
    Part,
    Section,
    Table,
    cell,
    label_caption,
    number,
    numbers,
)
from evaluation.sections.settings import Settings
from pooling.models import Pool

NOT_MEASURED = f"not measured yet: fewer than {LEAST_TIMED} labels have a measured time"
BEYOND = "not reached within the pool"
NO_BUDGET = "the campaign has no budget"


# -- what is left --------------------------------------------------------------------------------------------------


def by_work(context: Context) -> list[Section]:
    made = plan(context)
    return [_left(made), _history(context, made)]


def _left(made: Plan) -> Section:
    names = {"target": f"to tau {made.aim.target:.2f}", "budget": "to the budget", "pool": "to the end of the pool"}
    reasons = {"target": made.forecast.reason, "budget": NO_BUDGET, "pool": ""}
    rows: list[list[Cell]] = []
    for end, labels in made.ends().items():
        no_hours = reasons[end] if labels is None else NOT_MEASURED
        rows.append([names[end], _span_cell(labels, reasons[end]), _span_cell(made.hours(labels), no_hours)])
    columns = [
        Column("end", "Until", "text"),
        Column("labels", "Labels left", "count", "with the range in brackets"),
        Column("hours", "Hours left", "value", "labels left times the pace"),
    ]
    third, pace = made.work.third, made.pace
    known = (
        f"{100 * third.value:.1f} % of items needed a third label so far"
        if made.work.conflicts.n
        else ("no item has two labels yet, so a third one is in the upper end only")
    )
    timed = (
        f"Pace {pace.seconds.value:.0f} s of active time a label (the quickest {pace.seconds.low:.0f} s, the slowest"
        f" {pace.seconds.high:.0f} s), by the medians of {pace.people} people with {pace.labels:,} timed labels."
        if pace.seconds
        else f"Pace {NOT_MEASURED}."
    )
    return Section(
        "left",
        "What is left",
        "Labels and hours until the order is sure enough, until the budget is used up, and until every triple is"
        " judged. Two labels a triple, and a third where two differ.",
        f"{made.work.given:,} labels given, {made.work.to_judge:,} triples for people without a judgement; {known}."
        f" {timed}",
        [Table("left", "Labels and hours left", columns, rows)],
        finding=_left_says(made),
        notes=_left_notes(made.work),
    )


def _left_notes(work: Work) -> list[str]:
    if not work.imported:
        return []
    return [f"{work.imported:,} triples that wait for labels of people have an imported judgement already."]


def _span_cell(span: Span | None, reason: str) -> Cell:
    if span is None:
        return cell(float("nan"), reason)
    if not math.isfinite(span.value):
        return BEYOND if math.isinf(span.low) else f"{BEYOND}; at best in {span.low:,.0f}"
    return cell(span.value, low=span.low, high=number(span.high))


def _left_says(made: Plan) -> str:
    pool, target = made.work.labels_left, made.forecast.labels
    words = [f"About {pool.value:,.0f} labels are left to the end of the pool"]
    hours = made.hours(pool)
    words.append(f", {hours_in_words(hours.value)}." if hours else ".")
    if target is None:
        words.append(f" There is no forecast for tau {made.aim.target:.2f}: {made.forecast.reason}.")
    elif target.value == 0:
        words.append(f" Tau {made.aim.target:.2f} by {made.aim.measure.label} is reached.")
    elif math.isinf(target.value):
        words.append(f" Tau {made.aim.target:.2f} by {made.aim.measure.label} is {BEYOND}.")
    else:
        aim = f"Tau {made.aim.target:.2f} by {made.aim.measure.label}"
        words.append(f" {aim} is forecast in {in_words(target)} labels.")
    return "".join(words)


def hours_in_words(hours: float) -> str:
    if hours < 1:
        return "under an hour"
    return "about an hour" if hours < 1.5 else f"some {hours:,.0f} hours"


def in_words(span: Span) -> str:
    """ "120 (90 to 400)"; an end beyond the pool in words."""
    if math.isinf(span.high):
        return f"{span.value:,.0f} ({span.low:,.0f} to more than the pool holds)"
    return f"{span.value:,.0f} ({span.low:,.0f} to {span.high:,.0f})"


def _history(context: Context, made: Plan) -> Section:
    found, measure = made.forecast, made.aim.measure
    rows: list[list[Cell]] = []
    for point in found.points:
        ends = {"low": point.low, "high": point.high} if math.isfinite(point.low) else {}
        gap = (1 - point.low) * math.sqrt(point.questions)
        rows.append([point.judged, point.questions, cell(point.tau, NO_ORDER, **ends), cell(gap, NO_ORDER)])
    columns = [
        Column("judged", "Judgements", "count"),
        Column("questions", "Questions", "count", "with an answer"),
        Column("tau", "Tau", "tau", "mean and 95 % interval"),
        Column("gap", "Gap · √questions", "value", "1 less the lower end, times the root of the questions"),
    ]
    series = {
        "name": measure.label,
        "x": [point.judged for point in found.points],
        "y": numbers([point.tau for point in found.points]),
    }
    if all(math.isfinite(point.low) for point in found.points):
        series |= {"low": [point.low for point in found.points], "high": [point.high for point in found.points]}
    target = {"y": made.aim.target, "name": f"target {made.aim.target:.2f}"}
    kept = "" if made.aim.is_set else f" The campaign has no target; the forecast is for {made.aim.target:.2f}."
    return Section(
        "forecast",
        f"Tau by {measure.label} as judgements came",
        "How sure the order was after each part of the judgements, which is what the forecast is made from. The gap"
        " between the interval and 1 shrinks with the root of the number of questions.",
        f"{label_caption(context.labels, context.settings)} Replay at {POINTS} even steps in the order of decision,"
        f" {RESAMPLES:,} resamples each, seed {context.settings.seed}. Forecast: the gap is taken to fall as"
        " 1 / √questions from the last step, and judgements to open as many questions as so far; the range is by the"
        f" best and the worst of the steps.{kept}",
        [Table("forecast", f"Tau by {measure.label} as judgements came", columns, rows)],
        Chart(
            "lines",
            f"Tau by {measure.label} as judgements came",
            {"series": [series], "x": "judgements", "y": "tau", "references": [target]},
        ),
        notes=[f"No forecast: {found.reason}."] if found.reason else [],
    )


def plan_json(pool: Pool) -> Json:
    """What the page says under the usual settings, for who reads it by a script."""
    context = Context(pool, Settings())
    made, found = plan(context), confidences(context, context.settings.measures)
    per_relation = yields(context, made.work)
    reasons = {"target": made.forecast.reason or _beyond(made.forecast.labels), "budget": NO_BUDGET, "pool": ""}
    return {
        "pool": pool.name,
        "measure": made.aim.measure.name,
        "target": made.aim.target,
        "is_set": made.aim.is_set,
        "says": [target_says(context), _left_says(made)],
        "order": {
            name: {
                "tau": number(one.mean),
                "low": number(one.low),
                "high": number(one.high),
                "undecided": int(one.undecided(LEVEL).size),
                "pairs": len(one.pairs),
                "questions": one.questions,
            }
            for name, one in found.items()
        },
        "left": {
            end: {
                "labels": labels.json() if labels else None,
                "hours": hours.json() if hours else None,
                "reason": "" if labels and math.isfinite(labels.value) else reasons[end],
            }
            for end, labels in made.ends().items()
            for hours in [made.hours(labels)]
        },
        "labels_given": made.work.given,
        "triples_left": made.work.to_judge,
        "third_labels": made.work.third.json(),
        "seconds_a_label": made.pace.seconds.json() if made.pace.seconds else None,
        "history": [{key: number(value) for key, value in point._asdict().items()} for point in made.forecast.points],
        "relations": [relation_json(row, made.work) for row in per_relation.relations],
    }


def _beyond(span: Span | None) -> str:
    return BEYOND if span is not None and math.isinf(span.value) else ""


ANALYSIS = Analysis(
    "planning",
    "Planning",
    "Planning",
    "Is the order of the systems sure enough, how much judging is left, and where do the next labels pay most?",
    "planning",
    ("measures", "questions", "assumed", "seed"),
    (Part("order", by_order), Part("left", by_work), Part("relations", by_relation)),
    also=("current",),
    version=planning_version,
)
