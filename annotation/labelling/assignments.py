"""A question that one person answers, be it a slot or a check: one interface, so that both are answered alike."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q

from annotation.enums import ItemState, SlotState, SurplusReason
from annotation.errors import AnswerRefused
from annotation.judging.judgements import judge_item
from annotation.judging.transitions import move_checks, move_slots
from annotation.labelling.queue import newest_templates
from annotation.models import Campaign, Check, CheckLabel, Item, Label, Slot, SurplusLabel
from annotation.models.slot import ADJUDICATION

USED_ID = "The id of this answer was used for another one. Load the page again, then answer."
KeptLabel = Label | CheckLabel | SurplusLabel


class GivenAnswer(NamedTuple):
    """What a person answered; times are in milliseconds."""

    client_id: UUID
    answer: str
    source_url: str = ""
    comment: str = ""
    active_ms: int = 0
    away_ms: int = 0


class Assignment(Protocol):
    """What submit and change need of a slot or check. Its row is locked until the end of the transaction."""

    user: User
    campaign: Campaign
    ticket: UUID
    relation: int  # index
    needs_reason: bool  # the answer decides a dispute
    is_held: bool  # in this person's hands, unanswered
    question: dict[str, int | None]  # its item or check, by the columns of SurplusLabel

    @property
    def template_id(self) -> int:
        """The version of the question that was shown."""

    def refuse_used(self, client_id: UUID) -> None:
        """Raise AnswerRefused if the id names an answer in the other table; the database guards the own one."""

    def answer_held(self) -> bool:
        """Mark what is held as answered; return whether this call did it."""

    def answer_late(self) -> SurplusReason | None:
        """Mark as answered what is no longer held; return why that is too late, or None if it is done.

        Raises AnswerRefused if the answer cannot even be kept apart.
        """

    def keep(self, given: GivenAnswer, now: datetime | None) -> KeptLabel:
        """Store the answer as the first label, with what follows from it."""

    def replace(self, given: GivenAnswer, now: datetime | None) -> KeptLabel:
        """Store the answer as the label that supersedes the current one, with what follows from it."""


def find_submitted(user: User, ticket: UUID) -> Assignment | None:
    """Return the slot with this ticket, or the check of this person; None if it was withdrawn."""
    return _find(user, Q(ticket=ticket), Q(ticket=ticket))


def find_answered(user: User, client_id: UUID) -> Assignment | None:
    """Return the slot or check that this person answered with this id; None if there is none."""
    return _find(user, Q(labels__client_id=client_id, labels__annotator=user), Q(labels__client_id=client_id))


def _find(user: User, slots: Q, checks: Q) -> Assignment | None:
    """Lock the item of a slot, or the check: of two answers that arrive together the second sees the first."""
    locked = Slot.objects.select_related("item__campaign", "item__triple").select_for_update(of=("item",), no_key=True)
    slot = next(iter(locked.filter(slots)), None)
    if slot is not None:
        return _SlotAssignment(user, slot)
    own = Check.objects.filter(checks, person=user).select_for_update(of=("self",), no_key=True)
    check = own.select_related("campaign", "gold", "item__triple").first()
    return None if check is None or check.template_id is None else _CheckAssignment(user, check)


class _SlotAssignment:
    def __init__(self, user: User, slot: Slot) -> None:
        self.user, self.slot = user, slot
        self.campaign, self.ticket, self.relation = slot.item.campaign, slot.ticket, slot.item.triple.relation
        self.needs_reason = slot.number == ADJUDICATION
        self.is_held = slot.annotator_id == user.pk and slot.state == SlotState.LEASED
        self.question: dict[str, int | None] = {"item_id": slot.item_id, "check_item_id": None}

    @property
    def template_id(self) -> int:
        if self.slot.template_id is not None:
            return self.slot.template_id
        return newest_templates(self.campaign, [self.relation])[self.relation].pk

    def refuse_used(self, client_id: UUID) -> None:
        if CheckLabel.objects.filter(client_id=client_id).exists():
            raise AnswerRefused(USED_ID)

    def answer_held(self) -> bool:
        held = Slot.objects.filter(pk=self.slot.pk, annotator=self.user)
        return move_slots(held, "answer", leased_until=None) == 1

    def answer_late(self) -> SurplusReason | None:
        item = self.slot.item
        if self.slot.number == ADJUDICATION:
            if item.state != ItemState.DISPUTED:
                return SurplusReason.OVER
            if item.flags.filter(holds_item=True, replied_at=None).exists():
                raise AnswerRefused("This dispute waits for an answer to a report; it is given out again after that.")
        if self._take():
            return None
        own = Slot.objects.filter(item=item, annotator=self.user).exclude(labels=None)
        return SurplusReason.TWICE if own.exists() else SurplusReason.LATE

    def _take(self) -> bool:
        """Take the slot if nobody has it and this person has no other slot of the item."""
        try:
            with transaction.atomic():
                return move_slots(Slot.objects.filter(pk=self.slot.pk), "answer late", annotator=self.user) == 1
        except IntegrityError:
            return False

    def keep(self, given: GivenAnswer, now: datetime | None) -> Label:
        label = self._store(given)
        if self.slot.item.started_by_id is None:
            Item.objects.filter(pk=self.slot.item_id).update(started_by=self.user)
        else:
            judge_item(self.slot.item, now=now)
        return label

    def replace(self, given: GivenAnswer, now: datetime | None) -> Label:
        label = self._store(given, supersedes=Label.objects.get(slot=self.slot, superseded_by=None))
        judge_item(self.slot.item, now=now)
        return label

    def _store(self, given: GivenAnswer, **more: Any) -> Label:
        return Label.objects.create(
            slot=self.slot,
            item=self.slot.item,
            annotator=self.user,
            template_id=self.template_id,
            **more,
            **given._asdict(),
        )


class _CheckAssignment:
    """A check enters nothing: it has no item to judge, and belongs to one person from the beginning."""

    needs_reason = False

    def __init__(self, user: User, check: Check) -> None:
        assert check.template_id is not None
        self.user, self.check, self.template_id = user, check, check.template_id
        self.campaign, self.ticket, self.relation = check.campaign, check.ticket, check.triple.relation
        self.is_held = check.state == SlotState.LEASED
        self.question: dict[str, int | None] = {"item_id": None, "check_item_id": check.pk}

    def refuse_used(self, client_id: UUID) -> None:
        if Label.objects.filter(client_id=client_id).exists():
            raise AnswerRefused(USED_ID)

    def answer_held(self) -> bool:
        return move_checks(Check.objects.filter(pk=self.check.pk), "answer", leased_until=None) == 1

    def answer_late(self) -> SurplusReason | None:
        return None if self.answer_held() else SurplusReason.TWICE

    def keep(self, given: GivenAnswer, now: datetime | None) -> CheckLabel:
        return self._store(given)

    def replace(self, given: GivenAnswer, now: datetime | None) -> CheckLabel:
        return self._store(given, supersedes=CheckLabel.objects.get(check_item=self.check, superseded_by=None))

    def _store(self, given: GivenAnswer, **more: Any) -> CheckLabel:
        return CheckLabel.objects.create(
            check_item=self.check, annotator=self.user, template_id=self.template_id, **more, **given._asdict()
        )
