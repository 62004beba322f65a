"""Forecast the labels and hours that are left until the target of a campaign is reached."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from annotation.models import Campaign
from evaluation.labels.decision_order import order_of_decision
from evaluation.measures.label_state import without_labels
from evaluation.measures.question_sums import question_sums
from evaluation.measures.registry import Measure, parse_measure
from evaluation.measures.values import values
from evaluation.planning.kernel import bootstrap_order, questions_needed
from evaluation.planning.work_left import CLOSE, LEVEL, RESAMPLES, TARGET, Pace, Span, Work, pace_of, work_of
from evaluation.sections.growth_curves import asked_rows
from evaluation.sections.section import Context
from evaluation.sections.settings import Settings

POINTS = 5  # of the replay, beside the one before any judgement


class Point(NamedTuple):
    """How sure the order is after the first judgements: tau against its own resamples."""

    judged: int
    questions: int
    tau: float
    low: float
    high: float
    is_sure: bool = True  # no pair of systems is undecided, and every resample defines tau


@dataclass(frozen=True)
class Forecast:
    """Judgements and labels left until the lower end of tau's interval is at the target.

    `labels` is None where there is no forecast, and `reason` says why; inf is not reached within the pool.
    """

    measure: str
    target: float
    points: list[Point]
    judgements: Span | None
    labels: Span | None
    reason: str = ""


def replay(context: Context, measure: str) -> list[Point]:
    """Return how sure the order is after no judgement, and after five even steps to all of them."""
    chosen, table, assumed = context.labels, context.table, context.settings.assumed_is_judged
    decided, _ = order_of_decision(context.pool, len(table.triples), table.position_of)
    total = int(decided.max(initial=0))
    rows = asked_rows(chosen)
    points = []
    for n in np.unique(np.rint(np.linspace(0, total, POINTS + 1)).astype(np.int64)).tolist():
        state = without_labels(chosen.state, decided > n)
        sums = question_sums(values(rows, state, [measure], assumed)[measure])
        found = bootstrap_order({measure: sums}, context.rng(), RESAMPLES, LEVEL)[measure]
        is_sure = not found.undecided(LEVEL).size and found.defined == found.resamples
        points.append(Point(n, found.questions, found.mean, found.low, found.high, is_sure))
    return points


def forecast(measure: str, target: float, points: Sequence[Point], work: Work) -> Forecast:
    """Forecast the judgements and labels until the target.

    The gap 1 - lower end shrinks as 1 / sqrt(questions); judgements open questions as they did so far.
    """

    def without(reason: str) -> Forecast:
        return Forecast(measure, target, list(points), None, None, reason)

    first, last = points[0], points[-1]
    if not math.isfinite(last.low):
        return without("tau is undefined: fewer than two systems have a value, or all of them tie")
    if last.low >= target - CLOSE and not last.is_sure:
        return without(
            "the interval begins there already, yet pairs of systems are undecided or resamples tie them all"
        )
    if last.low >= target - CLOSE:
        return Forecast(measure, target, list(points), Span(0, 0, 0), Span(0, 0, 0))
    if not last.judged:
        return without("nothing is judged yet, so it is not known how many questions a judgement opens")
    steps = ((first, last), *pairwise(points))
    opened = [(after.questions - before.questions) / (after.judged - before.judged) for before, after in steps]
    seen = [point for point in points if point.judged]
    gap, questions = np.array([(1.0 - point.low, float(point.questions)) for point in seen]).T
    needed = questions_needed(gap, questions, 1.0 - target)
    assert needed is not None  # the last point has a lower end

    def judgements_for(more: float, opened_by_one: float) -> float:  # at least one; inf: more than are left
        left = max(more / opened_by_one, 1.0) if opened_by_one > 0 else math.inf
        return left if left <= work.to_judge else math.inf

    rates = (opened[0], max(opened), min(opened))
    left = [judgements_for(count - last.questions, rate) for count, rate in zip(needed, rates, strict=True)]
    judgements = Span(left[0], min(left), max(left))
    return Forecast(measure, target, list(points), judgements, judgements.times(work.per_judgement))


@dataclass(frozen=True)
class Aim:
    """Aim of a campaign: the target of the forecast, whether anybody set it, and the budget."""

    measure: Measure
    target: float
    is_set: bool
    budget: int | None


def aim_of(context: Context) -> Aim:
    found = Campaign.objects.filter(pool=context.pool).first()
    if found is None:
        return Aim(parse_measure(Settings().measure), TARGET, False, None)
    measure = parse_measure(found.target_measure)
    return Aim(measure, found.target_tau or TARGET, found.target_tau is not None, found.budget)


@dataclass(frozen=True)
class Plan:
    """Work that is left; spans are of labels, and of hours where a pace was measured."""

    aim: Aim
    work: Work
    pace: Pace
    forecast: Forecast

    def hours(self, labels: Span | None) -> Span | None:
        if labels is None or self.pace.seconds is None:
            return None
        return Span(*(seconds / 3600 for seconds in labels.times(self.pace.seconds)))

    def ends(self) -> dict[str, Span | None]:
        budget = None if self.aim.budget is None else Span(*[float(max(self.aim.budget - self.work.given, 0))] * 3)
        return {"target": self.forecast.labels, "budget": budget, "pool": self.work.labels_left}


def plan(context: Context) -> Plan:
    aim, work = aim_of(context), work_of(context.pool)
    found = forecast(aim.measure.name, aim.target, replay(context, aim.measure.name), work)
    return Plan(aim, work, pace_of(context.pool), found)
