"""Count how far a campaign is, what is left, and what rests on each source."""

import re
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from statistics import median
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet

from annotation.campaigns.pool_states import whole_percent
from annotation.enums import ItemState, SlotState
from annotation.judging.judgements import live_labels
from annotation.models import Campaign, Check, Flag, Item, Label, Slot, SurplusLabel
from annotation.models.slot import ADJUDICATION, PLACES
from annotation.people.simulated import simulated
from annotation.release.next_batch import unreleased
from annotation.sources.evidence import ascii_host
from core import clock
from pooling.pools.effort import ASSUMED_SECONDS, Pace

RECENT = 1000  # the pace is measured over this many last labels
MOST_COUNTED = 2000  # of the labels of a minute
FEW = 20  # fewer labels with a measured time tell no pace: they may be somebody's first tries


@dataclass(frozen=True)
class Overview:
    items: int
    settled: int
    disputed: int
    undecided: int
    places: int  # for a label: two an item
    labels: int  # in these places
    decisions: int  # of adjudicators, in third places
    held: int  # places that people hold now
    pace_ms: float | None  # median active time of the last labels of people; None: too few
    reports: int  # that nobody has answered
    unreleased: int  # triples for people that no batch has released yet

    @property
    def left(self) -> int:
        return self.places - self.labels

    @property
    def open(self) -> int:
        """Return the items that lack a label."""
        return self.items - self.settled - self.disputed - self.undecided

    @property
    def percent(self) -> int:
        return whole_percent(self.labels, self.places) if self.places else 0

    @property
    def pace_seconds(self) -> float:
        """Return the seconds a label, assumed while no pace is known."""
        return ASSUMED_SECONDS if self.pace_ms is None else self.pace_ms / 1000

    @property
    def seconds_left(self) -> float:
        return self.left * self.pace_seconds


def overview(campaign: Campaign) -> Overview:
    """Return the counts of a campaign, in a fixed number of queries."""
    items = dict(Item.objects.filter(campaign=campaign).order_by().values_list("state").annotate(n=Count("pk")))
    place = Q(number__in=PLACES) & ~Q(state=SlotState.WITHDRAWN)
    slots = Slot.objects.filter(item__campaign=campaign).aggregate(
        places=Count("pk", filter=place),
        labels=Count("pk", filter=place & Q(state=SlotState.ANSWERED)),
        decisions=Count("pk", filter=Q(number=ADJUDICATION, state=SlotState.ANSWERED)),
        held=Count("pk", filter=Q(state=SlotState.LEASED)),
    )
    return Overview(
        items=sum(items.values()),
        settled=items.get(ItemState.SETTLED, 0),
        disputed=items.get(ItemState.DISPUTED, 0),
        undecided=items.get(ItemState.UNDECIDED, 0),
        **slots,
        pace_ms=pace(campaign),
        reports=open_reports(campaign).count(),
        unreleased=unreleased(campaign.pool).count(),
    )


class Activity(NamedTuple):
    """Count what people do on the whole site now."""

    leases: int  # questions that they hold
    labels: int  # saved within the last minute, at most MOST_COUNTED
    surplus: int  # answers kept apart


def activity() -> Activity:
    """Return what people do now, in all campaigns; the rows of the last labels are looked at, not all of them."""
    now = clock.now()
    held = {"state": SlotState.LEASED, "leased_until__gte": now}
    leases = Slot.objects.filter(**held).count() + Check.objects.filter(**held).count()
    last = Label.objects.order_by("-pk").values_list("created_at", flat=True)[:MOST_COUNTED]
    labels = sum(at > now - timedelta(minutes=1) for at in last)
    return Activity(leases, labels, SurplusLabel.objects.count())


def pace(campaign: Campaign) -> float | None:
    """Return the median active milliseconds of the last labels, robust to an absurd time; None of too few."""
    times = _times(Label.objects.filter(item__campaign=campaign))
    return median(times) if times else None


def answer_pace(sender: Any, **_: Any) -> Pace | None:
    """Answer the signal `pace_asked`: the pace of the last labels of all campaigns."""
    times = _times(Label.objects.all())
    return Pace(median(times) / 1000, len(times)) if times else None


def _times(labels: QuerySet[Label]) -> list[int]:
    """Return the active milliseconds of the last of these labels.

    Labels given in bulk share one time, simulated people have made-up times, and withdrawn labels were mistakes: none
    of them count. Empty if there are too few.
    """
    given = _of_people(labels).filter(active_ms__gt=0, is_bulk=False)
    times = list(given.order_by("-pk").values_list("active_ms", flat=True)[:RECENT])
    return times if len(times) >= FEW else []


def _of_people(labels: QuerySet[Label]) -> QuerySet[Label]:
    """Return the first and second labels of people that count, each as it was first given."""
    counted = {"supersedes": None, "slot__number__in": PLACES, "slot__state": SlotState.ANSWERED}
    return labels.filter(**counted).exclude(simulated("annotator"))


class Timed(NamedTuple):
    """Labels of people that count, and why some have no measured time."""

    labels: int
    in_bulk: int
    without_time: int  # given one by one, but the time did not come with them, as from scripts

    @property
    def measured(self) -> int:
        return self.labels - self.in_bulk - self.without_time


def timed_labels(campaign: Campaign) -> Timed:
    """Count the labels of people by whether their time was measured."""
    given = _of_people(Label.objects.filter(item__campaign=campaign))
    bulk, untimed = Q(is_bulk=True), Q(is_bulk=False, active_ms=0)
    counts = given.aggregate(
        labels=Count("pk"), in_bulk=Count("pk", filter=bulk), without_time=Count("pk", filter=untimed)
    )
    return Timed(**counts)


def open_reports(campaign: Campaign) -> QuerySet[Flag]:
    return campaign.flags.filter(replied_at=None)


_HOST = re.compile(r"https://([^/?#]+)", re.IGNORECASE)


def labels_by_source(campaign: Campaign) -> dict[int, int]:
    """Return source id -> labels that count and link there; a link under two nested hosts counts for both."""
    links = live_labels().filter(item__campaign=campaign).exclude(source_url="").order_by()
    hosts: Counter[str] = Counter()
    for url in links.values_list("source_url", flat=True).iterator():
        if match := _HOST.match(url):
            hosts[match[1].lower()] += 1
    plain = [(_plain(host), n) for host, n in hosts.items()]
    return {
        source.pk: sum(n for host, n in plain if host == source.host or host.endswith(f".{source.host}"))
        for source in campaign.sources.all()
    }


def _plain(host: str) -> str:
    try:
        return ascii_host(host)
    except ValueError:
        return host
