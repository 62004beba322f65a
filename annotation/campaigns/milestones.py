"""Tell webhooks how far campaigns are: each tenth of the items that is settled, and campaigns that stall."""

import time
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.db.models import Count, Q
from django.urls import reverse

from annotation.campaigns.notices import stalled
from annotation.campaigns.trend import STALLED_DAYS
from annotation.enums import CampaignState, ItemState, WebhookEvent
from annotation.models import Campaign, Webhook
from annotation.webhooks.events import note
from core import clock
from pooling.models import Pool

EVERY_SECONDS = 60.0  # a worker looks, while a webhook wants it
STEP = 10  # % of the items
_WANTED = {WebhookEvent.LABELS, WebhookEvent.STALLED}
_OVER = (ItemState.SETTLED, ItemState.UNDECIDED)


class Standing(NamedTuple):
    """How far a campaign is: its items, and since when it stalls (empty: it does not)."""

    pool: Pool
    items: int
    settled: int
    stalled: str

    @property
    def share(self) -> int:
        """Return the share of the items that are settled, in whole steps."""
        return self.settled * 100 // self.items // STEP * STEP if self.items else 0


def tell_of_campaigns(now: datetime | None = None) -> int:
    """Note what is new of campaigns for the webhooks that want it, and return how many messages that made.

    What a webhook sees first of a campaign is only remembered: news is what came after.
    """
    hooks = [hook.pk for hook in Webhook.objects.filter(active=True) if _WANTED & set(hook.events)]
    if not hooks:
        return 0
    standings, made = dict(_standings(now or clock.now())), 0
    for pk in hooks:
        with transaction.atomic():  # another worker may look too: the row is locked
            hook = Webhook.objects.select_for_update(of=("self",)).filter(pk=pk, active=True).first()
            if hook is not None:
                made += _tell(hook, standings)
    return made


def _tell(hook: Webhook, standings: dict[str, Standing]) -> int:
    told, made = dict(hook.told), 0
    for key, now in standings.items():
        if hook.pool_id not in (None, now.pool.pk):
            continue
        before = told.get(key)
        share = now.share if before is None else max(now.share, before[0])  # it shrinks when a pool grows
        told[key] = [share, now.stalled]
        path = reverse("campaign", args=[now.pool.name])
        if before is None:
            continue
        if WebhookEvent.LABELS in hook.events and share > before[0]:
            data = {"percent": share, "settled": now.settled, "items": now.items}
            made += len(note([hook], WebhookEvent.LABELS, now.pool, path, data))
        if WebhookEvent.STALLED in hook.events and now.stalled and now.stalled != before[1]:
            data = {"days": STALLED_DAYS, "items": now.items, "settled": now.settled}
            made += len(note([hook], WebhookEvent.STALLED, now.pool, path, data))
    if told != hook.told:
        Webhook.objects.filter(pk=hook.pk).update(told=told)
    return made


def _standings(now: datetime) -> Iterator[tuple[str, Standing]]:
    since = datetime.min.replace(tzinfo=now.tzinfo)
    stalls = {campaign.pk: at.isoformat() for campaign, at, _ in stalled(since, now)}
    campaigns = Campaign.objects.exclude(state=CampaignState.PREPARING).filter(pool__archived=False)
    counted = campaigns.annotate(n=Count("items"), over=Count("items", filter=Q(items__state__in=_OVER)))
    for one in counted.select_related("pool").order_by("pk"):
        yield str(one.pk), Standing(one.pool, one.n, one.over, stalls.get(one.pk, ""))


_looked = 0.0


def tell_now_and_then() -> None:
    """Look for news of campaigns once a minute. Workers call this every few seconds."""
    global _looked
    if time.monotonic() - _looked >= EVERY_SECONDS:
        _looked = time.monotonic()
        tell_of_campaigns()
