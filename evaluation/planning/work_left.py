"""Measure what judging is left: how sure the order is, labels to the end of the pool, and the pace of people."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

import numpy as np
from django.db.models import Count, Max, Q

from annotation.enums import ItemState, SlotState
from annotation.judging.judgements import taken_back
from annotation.models import Campaign, Item, Label, Slot
from annotation.models.slot import ADJUDICATION
from annotation.quality.annotators import annotators
from annotation.quality.kernel import Share
from annotation.release.next_batch import unreleased
from evaluation.models import Figure
from evaluation.planning.kernel import OrderConfidence, bootstrap_order
from evaluation.sections.figure_cache import Content, current_figure, figure_version, kept_figure
from evaluation.sections.section import Context, Json, number
from evaluation.sections.settings import Settings
from pooling.models import Pool

RESAMPLES, LEVEL = 1000, 0.95
TARGET = 0.9  # of the forecast where the campaign has none
LEAST_TIMED = 20  # labels with a measured time, before a pace is told
CLOSE = 1e-9


class Span(NamedTuple):
    """A number with its range; inf: more than the pool holds, or never."""

    value: float
    low: float
    high: float

    def times(self, other: Span) -> Span:
        return Span(self.value * other.value, self.low * other.low, self.high * other.high)

    def json(self) -> Json:
        return {"value": number(self.value), "low": number(self.low), "high": number(self.high)}


def planning_version(pool: Pool) -> str:
    """Return a text that changes with the campaign's target, budget, items and labels."""
    campaign = Campaign.objects.filter(pool=pool).values_list("target_tau", "target_measure", "budget").first()
    items = Item.objects.filter(campaign__pool=pool).aggregate(n=Count("pk"), last=Max("pk"))
    slots = Slot.objects.filter(item__campaign__pool=pool, state=SlotState.ANSWERED).count()
    labels = Label.objects.filter(item__campaign__pool=pool).aggregate(last=Max("pk"))
    return hashlib.sha256(f"{campaign} {items} {slots} {labels} {pool.filters}".encode()).hexdigest()[:12]


def confidences(context: Context, names: Sequence[str]) -> dict[str, OrderConfidence]:
    """Return how sure the order is by each named measure, under the labels of the context."""
    sums = context.labels.sums(names, context.settings.assumed_is_judged)
    return bootstrap_order(sums, context.rng(), RESAMPLES, LEVEL)


def order_json(found: OrderConfidence) -> Json:
    """Return tau, its interval and the undecided pairs as JSON."""
    tau = {"tau": number(found.mean), "low": number(found.low), "high": number(found.high)}
    undefined = found.resamples - found.defined
    return {**tau, "undecided": int(found.undecided(LEVEL).size), "pairs": len(found.pairs), "undefined": undefined}


def order_figure(pool: Pool, measure: str) -> Figure:
    """Return tau and its interval by one measure under current labels and usual settings: kept, or computed now."""

    def compute() -> Content:
        found = confidences(Context(pool, Settings(seeds="families")), [measure])[measure]
        return {"measure": measure, **order_json(found), "judged": pool.judgements.count()}

    return current_figure(pool, f"stopping?{measure}", figure_version(pool), compute)


def kept_order_figure(pool: Pool, measure: str) -> Figure | None:
    """Return `order_figure` as it was last computed, however old; None if it never was."""
    return kept_figure(pool, f"stopping?{measure}")


def is_reached(content: Content, target: float) -> bool:
    """Return whether a kept figure of the order meets a target.

    The interval begins there, every pair of systems is decided, and tau is defined on every resample: resamples that
    tie all systems say nothing, and must not make what is left look sure.
    """
    decided = not content["undecided"] and not content.get("undefined")
    return content["low"] is not None and decided and bool(content["low"] >= target - CLOSE)


@dataclass(frozen=True)
class Work:
    """Labels that people gave, and triples and labels that are left."""

    given: int  # labels, third and withdrawn ones among them, a changed one once
    to_judge: int  # triples for people without a judgement
    places: int  # for labels that are left: two for each triple that nobody has begun, a third for each dispute
    may_differ: int  # triples of which two labels may still differ
    conflicts: Share  # of the items with two labels, those where the two differed
    imported: int = 0  # triples that wait for labels although an imported judgement is there
    disputed: int = 0  # of `places`, those for third labels
    labels: int = 0  # of `given`, the first and second ones that count: those that other pages call labels
    third_given: int = 0  # of `given`, the third ones that count

    @property
    def third(self) -> Span:
        """Return third labels for each triple with two; from none to one where nothing is known."""
        if not self.conflicts.n:
            return Span(0.0, 0.0, 1.0)
        low, high = self.conflicts.interval or (0.0, 1.0)
        return Span(self.conflicts.hits / self.conflicts.n, low, high)

    @property
    def per_judgement(self) -> Span:
        return Span(*(2 + third for third in self.third))

    @property
    def labels_left(self) -> Span:
        """Return the labels that are left to the end of the pool."""
        return Span(*(self.places + self.may_differ * third for third in self.third))

    @property
    def third_left(self) -> float:
        """Return how many of the labels left are third ones, at the share of conflicts so far."""
        return self.disputed + self.may_differ * self.third.value


def work_of(pool: Pool) -> Work:
    """Return the work of a pool; without a campaign each unjudged triple for people waits for two labels."""
    to_judge = pool.triples.filter(reason="", judgement=None).count() + taken_back(pool).count()
    campaign = Campaign.objects.filter(pool=pool).first()
    if campaign is None:
        return Work(0, to_judge, 2 * to_judge, to_judge, Share(0, 0))
    states = dict(campaign.items.order_by().values_list("state").annotate(n=Count("pk")))
    slots = Slot.objects.filter(item__campaign=campaign)
    free = Q(state__in=[SlotState.FREE, SlotState.LEASED])
    plain = slots.filter(free, ~Q(number=ADJUDICATION), item__state=ItemState.OPEN).count()
    decided = slots.filter(number=ADJUDICATION, state=SlotState.ANSWERED).exclude(item__state=ItemState.DISPUTED)
    counted = slots.filter(state=SlotState.ANSWERED).aggregate(
        labels=Count("pk", filter=~Q(number=ADJUDICATION)), third_given=Count("pk", filter=Q(number=ADJUDICATION))
    )
    disputed, waiting = states.get(ItemState.DISPUTED, 0), unreleased(pool).count()
    two_labels = disputed + states.get(ItemState.SETTLED, 0) + states.get(ItemState.UNDECIDED, 0)
    conflicts = decided.exclude(item__state=ItemState.OPEN).count() + disputed
    return Work(
        given=Label.objects.filter(item__campaign=campaign, supersedes=None).count(),
        to_judge=to_judge,
        places=plain + disputed + 2 * waiting,
        may_differ=states.get(ItemState.OPEN, 0) + waiting,
        conflicts=Share(conflicts, two_labels),
        imported=campaign.items.filter(state=ItemState.OPEN).exclude(triple__judgement=None).count()
        + unreleased(pool).exclude(judgement=None).count(),
        disputed=disputed,
        **counted,
    )


class Pace(NamedTuple):
    """Seconds of active time a label; range over the people with enough labels. None: not measured yet."""

    seconds: Span | None
    labels: int
    people: int


def pace_of(pool: Pool) -> Pace:
    """Return the pace by the median of each person, which no absurd time changes, weighted by their labels.

    Labels given in bulk share one time, and simulated people have made-up times: neither count.
    """
    campaign = Campaign.objects.filter(pool=pool).first()
    people = [row for row in (annotators(campaign) if campaign else []) if not row.is_simulated]
    times = [[ms / 1000 for ms in row.work.single_ms if ms] for row in people]
    times = [own for own in times if own]
    labels = sum(map(len, times))
    if labels < LEAST_TIMED:
        return Pace(None, labels, len(times))
    medians = [median(own) for own in times]
    usual = float(np.average(medians, weights=[len(own) for own in times]))
    ends = [m for m, own in zip(medians, times, strict=True) if len(own) >= LEAST_TIMED] or [usual]
    return Pace(Span(usual, min(*ends, usual), max(*ends, usual)), labels, len(times))
