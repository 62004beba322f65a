"""Report the hours that people worked, for their pay; every answer counts, even if it enters no judgement."""

from collections import defaultdict
from datetime import UTC, date
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, Sum
from django.db.models.functions import TruncDate

from annotation.enums import AnnotationAct
from annotation.labelling.own_labels import answers_in
from annotation.models import Campaign, SurplusLabel
from annotation.people.members import roles_in
from core.files.csv_cells import csv_of
from core.people.audit_log import record

COLUMNS = ("person", "roles", "date", "labels", "active_hours", "away_hours")
_MS_AN_HOUR = 3_600_000


class Hours(NamedTuple):
    """What one person did on one day (UTC)."""

    person: str
    roles: str  # current ones
    day: date
    labels: int  # answers given; a change adds time but no label
    active_hours: float
    away_hours: float


def hours(campaign: Campaign) -> list[Hours]:
    """Return a row per person and day, sorted: labels, decisions, checks, surplus answers, withdrawn or not."""
    first = Count("id", filter=Q(supersedes=None))
    total: dict[tuple[int, date], list[int]] = defaultdict(lambda: [0, 0, 0])
    of_campaign = Q(item__campaign=campaign) | Q(check_item__campaign=campaign)
    for rows, count in (
        *((answers, first) for answers in answers_in(campaign)),
        (SurplusLabel.objects.filter(of_campaign), Count("id")),
    ):
        days = rows.order_by().annotate(day=TruncDate("created_at", tzinfo=UTC))
        for person, day, *found in days.values_list("annotator_id", "day").annotate(
            n=count, active=Sum("active_ms"), away=Sum("away_ms")
        ):
            total[person, day] = [old + new for old, new in zip(total[person, day], map(int, found), strict=True)]
    names = dict(User.objects.filter(pk__in={person for person, _ in total}).values_list("pk", "username"))
    roles = roles_in(campaign)
    return sorted(
        Hours(names[person], roles.get(person, ""), day, n, active / _MS_AN_HOUR, away / _MS_AN_HOUR)
        for (person, day), (n, active, away) in total.items()
    )


def hours_csv(campaign: Campaign, *, by: User | None = None) -> str:
    """Return `hours` as CSV with a header, safe for spreadsheets; the download is recorded in the audit log."""
    rows = hours(campaign)
    cells = [(*row[:4], f"{row.active_hours:.4f}", f"{row.away_hours:.4f}") for row in rows]
    with transaction.atomic():
        record(by, AnnotationAct.HOURS_EXPORTED, pool=campaign.pool, about=f"{len(rows)} rows")
    return csv_of([COLUMNS, *cells])
