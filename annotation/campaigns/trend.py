"""Follow a campaign over days (UTC): its labels, when it is done at this pace, who is active, what it costs.

Labels of simulated people are in the chart, and in nothing else: they come in at no human pace, and nobody is paid.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.db.models import Count, Max, Q, QuerySet, Sum
from django.db.models.functions import TruncDate

from annotation.campaigns.kernel import Finish, finish
from annotation.campaigns.overview import Overview
from annotation.labelling.own_labels import answers_in
from annotation.models import Campaign, Label, SurplusLabel
from annotation.models.slot import PLACES
from annotation.people.simulated import simulated
from core import clock

SHOWN_DAYS = 30  # in the chart
PACE_DAYS = 14  # whole days that the pace is taken from
ACTIVE_DAYS = 7
STALLED_DAYS = 3  # without a label
_MS_AN_HOUR = 3_600_000


@dataclass(frozen=True)
class Trend:
    days: list[tuple[date, int]]  # labels a day, from the first label on, at most SHOWN_DAYS; today is the last
    by_people: list[int]  # labels of the whole days that the pace is taken from
    finish: Finish | None
    today: date
    labels_today: int  # of people
    simulated: int  # labels of simulated people
    active: int  # people who answered in the last ACTIVE_DAYS days
    last: datetime | None  # when the last label of a person came
    hours: float  # of active time, over all answers
    hours_to_come: float | None  # for what is left, at the hours per label so far

    @property
    def done_on(self) -> date | None:
        return self._on(self.finish.days) if self.finish else None

    @property
    def soonest(self) -> date | None:
        return self._on(self.finish.soonest) if self.finish else None

    @property
    def latest(self) -> date | None:
        return self._on(self.finish.latest) if self.finish else None

    def _on(self, days: float | None) -> date | None:
        """Return the day after this number of days from today; None if it is too far away for a calendar."""
        return self.today + timedelta(days=round(days)) if days is not None and days < 36_500 else None


def trend(campaign: Campaign, counts: Overview, now: datetime | None = None) -> Trend:
    """Return how a campaign goes, in a fixed number of queries."""
    now = now or clock.now()
    today = now.astimezone(UTC).date()
    given = _first_labels().filter(item__campaign=campaign)
    by_day = given.annotate(day=TruncDate("created_at", tzinfo=UTC)).values_list("day")
    counted = {day: (n, by_people) for day, n, by_people in by_day.annotate(
        n=Count("pk"), by_people=Count("pk", filter=~simulated("annotator"))
    )}  # fmt: skip
    first = min(counted, default=today)
    shown = _days(max(first, today - timedelta(days=SHOWN_DAYS - 1)), today)
    first_by_people = min((day for day, (_, n) in counted.items() if n), default=today)
    whole = _days(max(first_by_people, today - timedelta(days=PACE_DAYS)), today - timedelta(days=1))
    by_people = [counted.get(day, (0, 0))[1] for day in whole]
    labels, hours = sum(n for n, _ in counted.values()), _hours(campaign)
    of_people = sum(n for _, n in counted.values())
    people = (
        labels_of_people()
        .filter(item__campaign=campaign)
        .aggregate(
            last=Max("created_at"),
            active=Count("annotator", distinct=True, filter=Q(created_at__gt=now - timedelta(days=ACTIVE_DAYS))),
        )
    )
    return Trend(
        days=[(day, counted.get(day, (0, 0))[0]) for day in shown],
        by_people=by_people,
        finish=finish(counts.left, by_people),
        today=today,
        labels_today=counted.get(today, (0, 0))[1],
        simulated=labels - of_people,
        hours=hours,
        hours_to_come=hours / of_people * counts.left if of_people and hours else None,
        **people,
    )


def _first_labels() -> QuerySet[Label]:
    return Label.objects.filter(slot__number__in=PLACES, supersedes=None).order_by()


def labels_of_people() -> QuerySet[Label]:
    """Return the labels that show that a campaign goes on: those of people, each once, however often it changed."""
    return _first_labels().exclude(simulated("annotator"))


def is_stalled(campaign: Campaign, left: int, last: datetime | None, now: datetime | None = None) -> bool:
    """Tell whether an open campaign with labels left has had none of people for STALLED_DAYS days."""
    return campaign.is_open and left > 0 and stalls_at(campaign, last) < (now or clock.now())


def stalls_at(campaign: Campaign, last: datetime | None) -> datetime:
    """Return when a campaign stalls if no label follows the last one; None: it has no label yet."""
    return (last or campaign.created_at) + timedelta(days=STALLED_DAYS)


def _days(first: date, last: date) -> list[date]:
    return [first + timedelta(days=i) for i in range((last - first).days + 1)]


def _hours(campaign: Campaign) -> float:
    """Return the active hours of people over all answers, also checks, late answers and withdrawn ones."""
    of_campaign = Q(item__campaign=campaign) | Q(check_item__campaign=campaign)
    answers = (*answers_in(campaign), SurplusLabel.objects.filter(of_campaign))
    spent = (rows.exclude(simulated("annotator")).aggregate(ms=Sum("active_ms"))["ms"] for rows in answers)
    return sum(ms or 0 for ms in spent) / _MS_AN_HOUR
