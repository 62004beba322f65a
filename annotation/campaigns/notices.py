"""Tell managers by bell, and by mail once a day: reports, ended jobs, stalled campaigns, webhooks switched off.

Nothing is stored but when a person looked and when a digest was sent; the notices follow from the rows themselves.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Count, Max, OuterRef, Q, Subquery
from django.urls import reverse

from annotation.campaigns.trend import STALLED_DAYS, is_stalled, labels_of_people, stalls_at
from annotation.enums import CampaignState, ItemState
from annotation.models import Campaign, Flag, Item, NoticeSettings, Webhook
from annotation.people.accounts import managers
from annotation.people.invitations import send
from core import clock
from core.enums import JobState
from core.models import Job

KEPT_DAYS = 30  # notices are not older
MOST = 200
DIGEST_EVERY = timedelta(days=1)
_ENDED = (JobState.DONE, JobState.FAILED)


class Notice(NamedTuple):
    at: datetime
    kind: str  # reports, job, failed, stalled
    text: str
    path: str


def notices(person: User, since: datetime, now: datetime | None = None) -> list[Notice]:
    """Return what happened after `since` that a manager should know, newest first."""
    now = now or clock.now()
    found = [*_reports(person, since), *_jobs(person, since), *_stalled(since, now), *_webhooks(since)]
    return sorted(found, key=lambda notice: notice.at, reverse=True)[:MOST]


def settings_of(person: User) -> NoticeSettings:
    return NoticeSettings.objects.get_or_create(person=person)[0]


def unseen(person: User, now: datetime | None = None) -> int:
    """Count the notices since the person looked at them."""
    now = now or clock.now()
    seen = NoticeSettings.objects.filter(person=person).values_list("seen_at", flat=True).first()
    return len(notices(person, max(filter(None, (seen, now - timedelta(days=KEPT_DAYS)))), now))


def _reports(person: User, since: datetime) -> list[Notice]:
    """Return a notice for each campaign with reports by others that nobody has answered."""
    waiting = Flag.objects.filter(replied_at=None, created_at__gt=since, campaign__pool__archived=False).order_by()
    waiting = waiting.exclude(person=person)
    counted = waiting.values_list("campaign__pool__name").annotate(n=Count("pk"), last=Max("created_at"))
    return [
        Notice(
            last,
            "reports",
            f"{pool}: {n:,} report{'s' if n > 1 else ''} of a statement, without a reply.",
            reverse("inbox", args=[pool]),
        )
        for pool, n, last in counted
    ]


def _jobs(person: User, since: datetime) -> list[Notice]:
    """Return the jobs of a person that ended."""
    ended = Job.objects.filter(created_by=person, parent=None, state__in=_ENDED, finished_at__gt=since)
    rows = ended.select_related("graph", "system__graph", "pool").defer("log").order_by("-finished_at")[:MOST]
    found = []
    for job in rows:
        failed, what = job.state == JobState.FAILED, str(job).strip()
        text = f"{'Failed' if failed else 'Done'}: {what}."
        assert job.finished_at is not None
        found.append(Notice(job.finished_at, "failed" if failed else "job", text, reverse("job", args=[job.pk])))
    return found


def _webhooks(since: datetime) -> list[Notice]:
    """Return the webhooks that the site switched off after `since`."""
    return [
        Notice(
            hook.stopped_at,
            "failed",
            f"The webhook to {hook.host} is switched off: messages could not be delivered.",
            reverse("webhook", args=[hook.pk]),
        )
        for hook in Webhook.objects.filter(active=False, stopped_at__gt=since)
        if hook.stopped_at is not None
    ]


def _stalled(since: datetime, now: datetime) -> list[Notice]:
    """Return a notice for each campaign that began to stall after `since`."""
    found = []
    for campaign, at, left in stalled(since, now):
        waits = "1 item waits" if left == 1 else f"{left:,} items wait"
        text = f"{campaign.pool.name}: no label for {STALLED_DAYS} days, and {waits}."
        found.append(Notice(at, "stalled", text, reverse("campaign", args=[campaign.pool.name])))
    return found


def stalled(since: datetime, now: datetime) -> Iterator[tuple[Campaign, datetime, int]]:
    """Yield the open campaigns that began to stall after `since`, with that time and the items that wait."""
    last = labels_of_people().filter(item__campaign=OuterRef("pk")).order_by("-pk").values("created_at")[:1]
    waiting = Item.objects.filter(campaign=OuterRef("pk"), state=ItemState.OPEN).order_by().values("campaign")
    campaigns = Campaign.objects.filter(state=CampaignState.OPEN, pool__archived=False).select_related("pool")
    for campaign in campaigns.annotate(
        last=Subquery(last), waiting=Subquery(waiting.annotate(n=Count("pk")).values("n"))
    ):
        at, left = stalls_at(campaign, campaign.last), campaign.waiting or 0
        if since < at and is_stalled(campaign, left, campaign.last, now):
            yield campaign, at, left


# -- the digest ----------------------------------------------------------------------------------------------


def send_next_digest(now: datetime | None = None) -> bool:
    """Send one digest that is due, if any; return whether one was sent. Workers call this every few seconds.

    A person gets one a day at most, and none if nothing happened. If the mail server fails, the next day's digest
    tells of both days.
    """
    if not settings.EMAIL_IS_SET:
        return False
    now = now or clock.now()
    rested = Q(notice_settings=None) | Q(notice_settings__digest=True) & (
        Q(notice_settings__digest_at=None) | Q(notice_settings__digest_at__lte=now - DIGEST_EVERY)
    )
    person = managers().filter(rested).exclude(email="").order_by("pk").first()
    if person is None:
        return False
    own = settings_of(person)
    since = max(own.told_until or now - DIGEST_EVERY, now - timedelta(days=KEPT_DAYS))
    due = NoticeSettings.objects.filter(pk=own.pk, digest=True, digest_at=own.digest_at)
    if due.update(digest_at=now, told_until=since) != 1:
        return False  # another worker was faster
    found = notices(person, since, now)
    context = {"person": person, "notices": found, "site": settings.SITE_URL, "page": reverse("notices")}
    if found and not send(person.email, "annotation/people/digest_mail.txt", context):
        return False
    NoticeSettings.objects.filter(pk=own.pk).update(told_until=now)
    return bool(found)
