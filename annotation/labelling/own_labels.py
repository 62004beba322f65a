"""A person's own labels: those that they may read, and those that they may still change. A check looks like a slot."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from annotation.enums import CampaignState
from annotation.models import Campaign, Check, CheckLabel, Item, Label

CHANGEABLE = 10  # only the last labels of a person can be changed


def answers_in(campaign: Campaign) -> tuple[QuerySet[Label], QuerySet[CheckLabel]]:
    """Return every version of every answer in a campaign: those to slots, and those to checks."""
    return Label.objects.filter(item__campaign=campaign), CheckLabel.objects.filter(check_item__campaign=campaign)


def changeable_tickets(user: User, campaign: Campaign, *, now: datetime | None = None) -> set[UUID]:
    """Return the tickets of the slots and checks whose labels this person may still change."""
    since = (now or timezone.now()) - timedelta(minutes=campaign.undo_minutes)
    if campaign.state == CampaignState.CLOSED:
        return set()
    labels, checks = answers_in(campaign)
    labels = labels.filter(annotator=user, supersedes=None).order_by("-pk")
    checks = checks.filter(annotator=user, supersedes=None).order_by("-pk")
    last = [
        *labels.values_list("created_at", "slot__ticket")[:CHANGEABLE],
        *checks.values_list("created_at", "check_item__ticket")[:CHANGEABLE],
    ]
    return {ticket for at, ticket in sorted(last, reverse=True)[:CHANGEABLE] if at > since}


class OwnLabel(NamedTuple):
    """A current label of a person, as they may see it."""

    label: Label | CheckLabel
    asked: Item | Check
    ticket: UUID

    @property
    def created_at(self) -> datetime:
        return self.label.created_at


@dataclass(frozen=True)
class OwnLabels:
    """The current labels of a person, to slots and to checks, as one list by time.

    It has as much of a queryset's interface as paging reads.
    """

    labels: QuerySet[Label]
    checks: QuerySet[CheckLabel]
    newest_first: bool = True

    def order_by(self, order: str) -> OwnLabels:
        """Order by "created_at" or "-created_at"."""
        newest_first = order.startswith("-")
        by = (order, "-pk" if newest_first else "pk")
        return OwnLabels(self.labels.order_by(*by), self.checks.order_by(*by), newest_first)

    def filter(self, **conditions: Any) -> OwnLabels:
        return OwnLabels(self.labels.filter(**conditions), self.checks.filter(**conditions), self.newest_first)

    def __getitem__(self, wanted: slice) -> list[OwnLabel]:
        found = [OwnLabel(label, label.item, label.slot.ticket) for label in self.labels[: wanted.stop]]
        found += [OwnLabel(label, label.check_item, label.check_item.ticket) for label in self.checks[: wanted.stop]]
        found.sort(key=lambda own: own.created_at, reverse=self.newest_first)
        return found[wanted]


def own_labels(user: User, campaign: Campaign) -> OwnLabels:
    """Return the current labels of a person, newest first."""
    labels, checks = answers_in(campaign)
    current = {"annotator": user, "superseded_by": None}
    return OwnLabels(
        labels.filter(**current).select_related("item__triple", "template", "slot"),
        checks.filter(**current).select_related("check_item__gold", "check_item__item__triple", "template"),
    ).order_by("-created_at")
