"""Build the page Planning: how sure the order is, how much judging is left, and where the next labels pay most."""

import math
from collections.abc import Sequence
from typing import Any

from annotation.models import Campaign
from evaluation.measures.registry import parse_measure
from evaluation.planning.confidence import NO_ORDER, by_order, target_says
from evaluation.planning.forecast import POINTS, Plan, Point, plan
from evaluation.planning.work_left import (
    LEAST_TIMED,
    RESAMPLES,
    Span,
    Work,
    confidences,
    is_reached,
    kept_order_figure,
    order_json,
    planning_version,
)
from evaluation.planning.yields import by_relation, relation_json, yields
from evaluation.sections.builders import chart, interval_cell, series_of, table_of
from evaluation.sections.compared import compared_notes, compared_of
from evaluation.sections.figure_cache import figure_version, is_live, may_follow, part_job, start_part
from evaluation.sections.section import (
    Analysis,
    Cell,
    Column,
    Context,
    Json,
    Part,
    Section,
    cell,
    label_caption,
    number,
    numbers,
)
from evaluation.sections.seed_notes import seed_notes
from evaluation.sections.settings import Settings
from pooling.graphs.source_data import plural
from pooling.models import Pool

NOT_MEASURED = f"not measured yet: fewer than {LEAST_TIMED} labels of people have a measured time"
BEYOND = "not reached within the pool"
NO_BUDGET = "the campaign has no budget"


def by_work(context: Context) -> list[Section]:
    made = plan(context)
    return [_left(made), _history(context, made)]


def _left(made: Plan) -> Section:
    names = {
        "target": f"the interval of tau, now against resampled, begins at {made.aim.target:.2f}",
        "budget": "the budget is used up",
        "pool": "the pool is judged",
    }
    reasons, ends = {"target": made.forecast.reason, "budget": NO_BUDGET, "pool": ""}, made.ends()
    no_hours = {end: reasons[end] if labels is None else NOT_MEASURED for end, labels in ends.items()}
    ranged, paced = "third labels among them; the range in brackets", "labels left times the pace"
    table = table_of(
        "left",
        "Labels and hours left",
        ends,
        [
            (Column("end", "Until", "text"), lambda end: names[end]),
            (Column("labels", "Labels left", "count", ranged), lambda end: _span_cell(ends[end], reasons[end])),
            (Column("hours", "Hours left", note=paced), lambda end: _span_cell(made.hours(ends[end]), no_hours[end])),
        ],
    )
    third, pace = made.work.third, made.pace
    known = (
        f"{100 * third.value:.1f} % of items needed a third label so far"
        if made.work.conflicts.n
        else "no item has two labels yet, so a third one is in the upper end only"
    )
    imported = f"{made.work.imported:,} triples that wait for labels of people have an imported judgement already."
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
        f"{given_says(made.work)} {made.work.to_judge:,} triples for people without a judgement; {known}. {timed}",
        [table],
        finding=left_says(made),
        notes=[imported] if made.work.imported else [],
    )


def _span_cell(span: Span | None, reason: str) -> Cell:
    if span is None:
        return cell(float("nan"), reason)
    if not math.isfinite(span.value):
        return BEYOND if math.isinf(span.low) else f"{BEYOND}; at best in {span.low:,.0f}"
    return cell(span.value, low=span.low, high=number(span.high))


def left_says(made: Plan) -> str:
    pool, target = made.work.labels_left, made.forecast.labels
    hours, tau = made.hours(pool), f"{made.aim.target:.2f}"
    time = f", {hours_in_words(hours.value)}" if hours and pool.value else ""
    left = f"{labels_left_say(made.work)} left to the end of the pool{time}."
    if target is None:
        return f"{left} There is no forecast for tau {tau}: {made.forecast.reason}."
    if target.value == 0:
        forecast = f"begins at {tau} or above already"
    elif math.isinf(target.value):
        forecast = f"is not forecast to begin at {tau} or above within the pool"
    else:
        forecast = f"is forecast to begin at {tau} or above in {in_words(target)} labels"
    return f"{left} The 95 % interval of tau, now against resampled, by {made.aim.measure.label} {forecast}."


def labels_left_say(work: Work) -> str:
    """Say what is left as other pages count it: first and second labels, and third labels apart."""
    labels, third = work.places - work.disputed, round(work.third_left)
    about = "about " if work.may_differ else ""
    parts = [plural(labels, "label")] if labels or not third else []
    said = " and ".join([*parts, f"{about}{plural(third, 'third label')}"] if third else parts)
    return f"{said[:1].upper()}{said[1:]} {'is' if labels + third == 1 else 'are'}"


def given_says(work: Work) -> str:
    withdrawn = work.given - work.labels - work.third_given
    lost = f", and {withdrawn:,} that {'was' if withdrawn == 1 else 'were'} withdrawn" if withdrawn else ""
    return f"{plural(work.labels, 'label')} and {plural(work.third_given, 'third label')} given{lost}."


def hours_in_words(hours: float) -> str:
    if hours < 1:
        return "under an hour"
    return "about an hour" if hours < 1.5 else f"some {hours:,.0f} hours"


def in_words(span: Span) -> str:
    """Write a span as "120 (90 to 400)", an end beyond the pool in words."""
    high = "more than the pool holds" if math.isinf(span.high) else f"{span.high:,.0f}"
    return f"{span.value:,.0f} ({span.low:,.0f} to {high})"


def _history(context: Context, made: Plan) -> Section:
    found, measure = made.forecast, made.aim.measure
    title = f"Tau by {measure.label}, now against resampled, as judgements came"
    rooted = "1 less the lower end, times the root of the questions"

    def gap(point: Point) -> Cell:
        return cell((1 - point.low) * math.sqrt(point.questions), NO_ORDER)

    table = table_of(
        "forecast",
        title,
        found.points,
        [
            (Column("judged", "Judgements", "count"), lambda point: point.judged),
            (Column("questions", "Questions", "count", "with an answer"), lambda point: point.questions),
            (
                Column("tau", "Tau", "tau", "mean and 95 % interval"),
                lambda point: interval_cell(point.tau, point.low, point.high, NO_ORDER),
            ),
            (Column("gap", "Gap · √questions", note=rooted), gap),
        ],
    )
    judged, _, tau, low, high, _ = (list(values) for values in zip(*found.points, strict=True))
    band = {"low": low, "high": high} if all(map(math.isfinite, low)) else {}
    series = [series_of(measure.label, judged, numbers(tau), **band)]
    target = {"y": made.aim.target, "name": f"{'target' if made.aim.is_set else 'usual target'} {made.aim.target:.2f}"}
    kept = (
        "" if made.aim.is_set else f" The campaign has no target; the forecast is for the usual {made.aim.target:.2f}."
    )
    return Section(
        "forecast",
        title,
        "How certain the order was after each part of the judgements. The forecast continues this curve. The gap"
        " between the interval and 1 shrinks with the root of the number of questions.",
        f"{label_caption(context.labels, context.settings)} Replay at {POINTS} even steps in the order of decision,"
        f" {RESAMPLES:,} resamples each, seed {context.settings.seed}. Forecast: the gap is taken to fall as"
        " 1 / √questions from the last step, with judgements opening questions at the rate seen so far; the range is by"
        f" the best and the worst of the steps.{kept}",
        [table],
        chart("lines", title, series, x="judgements", y="Kendall's tau, now against resampled", references=[target]),
        notes=[f"No forecast: {found.reason}."] if found.reason else [],
    )


def plan_json(pool: Pool, systems: Sequence[str] = ()) -> Json:
    """Return the content of the page under the usual settings, with some systems or all, for scripts."""
    context = ANALYSIS.context(pool, Settings(systems=tuple(systems)))
    made, found = plan(context), confidences(context, context.settings.measures)
    per_relation, target = yields(context, made.work), made.forecast.labels
    beyond = BEYOND if target is not None and math.isinf(target.value) else ""
    reasons = {"target": made.forecast.reason or beyond, "budget": NO_BUDGET, "pool": ""}
    return {
        "pool": pool.name,
        "measure": made.aim.measure.name,
        "target": made.aim.target,
        "is_set": made.aim.is_set,
        "compared": compared_of(context),
        "says": [
            *compared_notes(compared_of(context)),
            target_says(context),
            left_says(made),
            *seed_notes(context, asked=False),
        ],
        "order": {name: {**order_json(one), "questions": one.questions} for name, one in found.items()},
        "left": {end: _left_json(made, labels, reasons[end]) for end, labels in made.ends().items()},
        "labels_given": made.work.given,
        "triples_left": made.work.to_judge,
        "third_labels": made.work.third.json(),
        "seconds_a_label": made.pace.seconds.json() if made.pace.seconds else None,
        "history": [_point_json(point) for point in made.forecast.points],
        "relations": [relation_json(row, made.work) for row in per_relation.relations],
    }


def _point_json(point: Point) -> Json:
    return {key: number(getattr(point, key)) for key in ("judged", "questions", "tau", "low", "high")}


def _left_json(made: Plan, labels: Span | None, reason: str) -> Json:
    hours, is_known = made.hours(labels), labels is not None and math.isfinite(labels.value)
    return {
        "labels": labels.json() if labels else None,
        "hours": hours.json() if hours else None,
        "reason": "" if is_known else reason,
    }


ANALYSIS = Analysis(
    "planning",
    "Planning",
    "Is the order of the systems sure enough, how much judging is left, and where do the next labels pay most? Always"
    " of the current labels, since it is about what to judge next.",
    "planning",
    ("measures", "questions", "assumed", "seed"),
    (Part("order", by_order), Part("left", by_work), Part("relations", by_relation)),
    also=("current",),
    version=planning_version,
    by_family=True,
    group="Reliability",
)


def stop_at_target(sender: Any, campaign: Campaign, **kwargs: Any) -> str:
    """Return why no batch should be released: the target is reached; empty where it is not, or not known.

    A release must not wait for a thousand resamples: this reads the kept figure, and starts a job where it is missing
    or older than the labels.
    """
    if campaign.target_tau is None:
        return ""
    pool = campaign.pool
    kept = kept_order_figure(pool, campaign.target_measure)
    is_fresh = kept is not None and kept.version == figure_version(pool)
    if not is_fresh:
        settings, part = Settings(), ANALYSIS.part("order")  # it keeps the figure of the target beside its own
        job = part_job(pool, ANALYSIS, part, settings)
        if not is_live(job) and may_follow(job):
            start_part(pool, ANALYSIS, part, settings)
    if kept is None or not is_reached(kept.content, campaign.target_tau):
        return ""
    content = kept.content
    age = "" if is_fresh else f" This is of the first {content['judged']:,} judgements; later ones wait for a job."
    return (
        f"The target is reached: by {parse_measure(campaign.target_measure).label} the 95 % interval of tau, now"
        f" against resampled, begins at {content['low']:.2f}, and {campaign.target_tau:.2f} was asked for.{age}"
    )
