"""A person's own labels: those that they may read or still change, and their number. A check looks like a slot."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.enums import CampaignState, CheckKind, SlotState
from annotation.judging.waiting import lost_gold_comes, waiting_disputes, waiting_items
from annotation.labelling.queue import held_slots
from annotation.labelling.training import needs_training
from annotation.messages.flags import new_answers
from annotation.models import Campaign, Check, CheckLabel, Item, Label, Slot, TrainingQuestion
from annotation.models.slot import ADJUDICATION, PLACES
from annotation.release.next_batch import may_release
from core import clock
from core.people.roles import CampaignRole
from pooling.enums import TO_PEOPLE

CHANGEABLE = 10  # only the last labels of a person can be changed


def answers_in(campaign: Campaign) -> tuple[QuerySet[Label], QuerySet[CheckLabel]]:
    """Return every version of every answer in a campaign: those to slots, and those to checks."""
    return Label.objects.filter(item__campaign=campaign), CheckLabel.objects.filter(check_item__campaign=campaign)


def changeable_tickets(user: User, campaign: Campaign, *, now: datetime | None = None) -> set[UUID]:
    """Return the tickets of the slots and checks whose labels this person may still change."""
    return set(changeable_until(user, campaign, now=now))


def changeable_until(user: User, campaign: Campaign, *, now: datetime | None = None) -> dict[UUID, datetime]:
    """Return these tickets with the time until which their labels can be changed."""
    window = timedelta(minutes=campaign.undo_minutes)
    since = (now or clock.now()) - window
    if campaign.state == CampaignState.CLOSED:
        return {}
    labels, checks = answers_in(campaign)
    labels = labels.filter(annotator=user, supersedes=None).order_by("-pk")
    checks = checks.filter(annotator=user, supersedes=None).order_by("-pk")
    last = [
        *labels.values_list("created_at", "slot__ticket")[:CHANGEABLE],
        *checks.values_list("created_at", "check_item__ticket")[:CHANGEABLE],
    ]
    return {ticket: at + window for at, ticket in sorted(last, reverse=True)[:CHANGEABLE] if at > since}


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


class LabelCounts(NamedTuple):
    today: int  # labels
    total: int
    decided_today: int  # disputes
    decided: int


@dataclass(frozen=True)
class OwnProgress:
    campaign: Campaign
    roles: tuple[str, ...]
    counts: LabelCounts
    left: int  # questions, as questions_left() counts them
    first: int  # questions with items that a manager assigned to the person, as num_assigned() counts them
    has_questions: bool  # something is waiting for this person to label
    disputes: int | None  # as disputes_left() counts them; None unless the person is an adjudicator
    answers: int  # to own reports in the last days
    training: int  # questions of the training that comes first; 0: none, or it is passed


def label_counts(user: User, campaign: Campaign) -> LabelCounts:
    """Return this person's labels and decisions of disputes, today and in all.

    A changed label counts once, and the answer to a check counts as a label.
    """
    midnight = clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    is_today, is_decision = Q(created_at__gte=midnight), Q(slot__number=ADJUDICATION)
    labels, checks = (answers.filter(annotator=user, supersedes=None) for answers in answers_in(campaign))
    given = labels.aggregate(
        today=Count("pk", filter=is_today & ~is_decision),
        total=Count("pk", filter=~is_decision),
        decided_today=Count("pk", filter=is_today & is_decision),
        decided=Count("pk", filter=is_decision),
    )
    checked = checks.aggregate(today=Count("pk", filter=is_today), total=Count("pk"))
    given |= {name: given[name] + checked[name] for name in checked}
    return LabelCounts(**given)


def questions_left(user: User, campaign: Campaign) -> int:
    """Return how many questions this person can still be given, with those in hand; one less after each answer.

    Triples that are not released yet count, so that the number tells nothing of batches. So do checks, which look
    like slots; only without any other question they are not waited for.
    """
    if campaign.state == CampaignState.CLOSED:
        return 0
    held = held_slots(campaign, user).exclude(number=ADJUDICATION).count()
    left = held + waiting_items(campaign, user).count()
    if may_release(campaign):
        left += campaign.pool.triples.filter(reason=TO_PEOPLE, item=None).count()
    checks = Check.objects.filter(campaign=campaign, person=user, state__in=[SlotState.FREE, SlotState.LEASED])
    waiting = list(checks.select_related("beside__item"))
    rechecks = sum(check.kind == CheckKind.RECHECK for check in waiting)
    golds = _golds_kept(user, campaign, waiting)
    # it keeps the rest of the gold in the number: a fall before it is answered would show it
    if not left and not golds:
        return rechecks
    left += rechecks
    kept = [check.gold_id for check in golds]
    if not campaign.gold_percent:
        return left + len(kept)
    # what others took with its question comes no more, as an item that two others have
    had = Check.objects.filter(gold=OuterRef("pk"), person=user).exclude(state=SlotState.FREE, template=None)
    trained = TrainingQuestion.objects.filter(gold=OuterRef("pk"), training__person=user)
    to_come = Q(~Exists(had), ~Exists(trained), is_active=True)
    return left + campaign.golds.filter(Q(pk__in=kept) | to_come).count()


def _golds_kept(user: User, campaign: Campaign, checks: Collection[Check]) -> list[Check]:
    """Return the gold of free and leased checks that this person has in hand, or that comes again."""
    had = [check for check in checks if check.state == SlotState.LEASED or check.template_id is not None]
    golds = [check for check in had if check.kind == CheckKind.GOLD]
    comes = lost_gold_comes(campaign, user, {check.beside.item_id for check in golds if check.beside and check.is_lost})
    return [check for check in golds if not check.is_lost or (check.beside and check.beside.item_id in comes)]


def num_assigned(user: User, campaign: Campaign) -> int:
    """Return how many questions with items that a manager assigned to this person have candidates left for them.

    Questions, not items: gold is never assigned, so a number of items that stays after an answer would show it.
    """
    if campaign.state == CampaignState.CLOSED:
        return 0
    assigned = campaign.items.filter(pk__in=Item.assigned_to.through.objects.filter(user=user).values("item"))
    held = Slot.objects.filter(annotator=user, number__in=PLACES).exclude(state=SlotState.WITHDRAWN)
    waiting = waiting_items(campaign, user).values("pk")
    theirs = assigned.filter(Q(pk__in=held.values("item")) | Q(pk__in=waiting)).order_by()
    groups = set(theirs.values_list("group", flat=True))
    if not groups:
        return 0
    in_hand = held.filter(state=SlotState.LEASED).values("item")
    items = campaign.items.filter(Q(pk__in=in_hand) | Q(pk__in=waiting), group__in=groups).order_by()
    left = set(items.values_list("group", flat=True))
    checks = Check.objects.filter(campaign=campaign, person=user, state__in=[SlotState.FREE, SlotState.LEASED])
    kept = _golds_kept(user, campaign, checks.select_related("beside__item"))
    return len(left | groups & {check.beside.item.group for check in kept if check.beside})


def disputes_left(user: User, campaign: Campaign) -> int:
    """Return how many disputes this adjudicator can decide now, with those in hand."""
    held = held_slots(campaign, user).filter(number=ADJUDICATION).count()
    return held + waiting_disputes(campaign, user).count()


def own_progress(user: User) -> list[OwnProgress]:
    """Return one entry for each campaign that the person is a member of, by name."""
    found = []
    for campaign in (
        Campaign.objects.filter(members__person=user).select_related("pool").distinct().order_by("pool__name")
    ):
        roles = tuple(campaign.members.filter(person=user).order_by("role").values_list("role", flat=True))
        left = questions_left(user, campaign)
        waits = left > 0 or may_release(campaign)  # a claim would release the next batch
        disputes = disputes_left(user, campaign) if CampaignRole.ADJUDICATOR in roles else None
        counts = label_counts(user, campaign), left, num_assigned(user, campaign)
        answers, training = new_answers(user, campaign).count(), needs_training(campaign, user)
        training_items = campaign.training_items if training else 0
        found.append(OwnProgress(campaign, roles, *counts, waits, disputes, answers, training_items))
    return found
