"""A question that one person answers, be it a slot or a check: one interface, so that both are answered alike."""

from abc import ABC, abstractmethod
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from annotation.enums import ItemState, SlotState, SurplusReason
from annotation.errors import AnswerRefused
from annotation.judging.judgements import judge_item
from annotation.judging.transitions import answer_check, answer_slot, move_slots
from annotation.labelling.places import KeptLabel, Place, in_hand
from annotation.models import Check, CheckLabel, Item, Label, Slot, SurplusLabel
from annotation.models.slot import ADJUDICATION
from annotation.questions.templates import newest_templates
from core.fixed import Fixed, FixedUpdate


class GivenAnswer(NamedTuple):
    """What a person answered; times are in milliseconds."""

    client_id: UUID
    answer: str
    source_url: str = ""
    comment: str = ""
    active_ms: int = 0
    away_ms: int = 0
    passage: str = ""
    is_bulk: bool = False  # one of several given at once
    cause: str = ""  # a Cause, of a decision


class Assignment(ABC):
    """What slots and checks have in common for the person who answers."""

    question: dict[str, int | None]  # its item or check, by the columns of SurplusLabel
    holder_id: int | None  # who has it

    def __init__(self, user: User, place: Slot | Check) -> None:
        self.user, self.place, self.ticket = user, place, place.ticket
        self.campaign, self.relation = place.asked.campaign, place.asked.triple.relation

    @property
    def template_id(self) -> int:
        """The version of the question that was shown."""
        shown = self.place.words if isinstance(self.place, Check) else self.place.template_id
        return shown or newest_templates(self.campaign, [self.relation])[self.relation].pk

    def is_held(self) -> bool:
        """Return whether the person has this question now, so that an answer to it counts."""
        return in_hand(self.user, self.holder_id, self.place.state, self.campaign.state)

    @abstractmethod
    def answer_held(self) -> bool:
        """Mark what is held as answered; return whether this call did it."""

    @abstractmethod
    def answer_late(self) -> SurplusReason | None:
        """Mark as answered what is no longer held; return why that is too late, or None if it is done.

        Raises AnswerRefused if the answer cannot even be kept apart.
        """

    @abstractmethod
    def keep(self, given: GivenAnswer, supersedes: Any = None, *, now: datetime | None = None) -> KeptLabel:
        """Store the answer as a label, with what follows from it."""

    def keep_apart(self, given: GivenAnswer, reason: SurplusReason) -> SurplusLabel:
        """Store the answer as a surplus label, which enters nothing."""
        return SurplusLabel.objects.create(reason=reason, **self.question, **self._answer(given))

    def _answer(self, given: GivenAnswer) -> dict[str, Any]:
        return {"annotator": self.user, "template_id": self.template_id, **given._asdict()}


def lock_assignment(user: User, place: Place) -> Assignment | None:
    """Lock the item of a slot, or the check, until the end of the transaction, and read the slot or check with it.

    None: it is gone. Of two answers at once the second waits here and then sees what the first did to the item. What
    else it reads may be older, so an answer is only kept by an UPDATE that looks at the slot or check again.
    """
    if place.is_check:
        check = _LOCKED_CHECK.first(pk=place.pk)
        return None if check is None else _CheckAssignment(user, check)
    slot = _LOCKED_SLOT.first(pk=place.pk)
    return None if slot is None else _SlotAssignment(user, slot)


_LOCKED_CHECK = Fixed(
    lambda pk: (
        Check.objects.select_related("campaign", "gold", "item__triple", "beside")
        .filter(pk=pk)
        .select_for_update(of=("self",), no_key=True)
    )
)
_LOCKED_SLOT = Fixed(
    lambda pk: (
        Slot.objects.select_related("item__campaign", "item__triple")
        .filter(pk=pk)
        .select_for_update(of=("item",), no_key=True)
    )
)


_START = FixedUpdate(lambda item, person: (Item.objects.filter(pk=item), {"started_by": person}))


class _SlotAssignment(Assignment):
    def __init__(self, user: User, slot: Slot) -> None:
        super().__init__(user, slot)
        self.slot, self.item = slot, slot.item
        self.question, self.holder_id = {"item_id": slot.item_id, "check_item_id": None}, slot.annotator_id

    def answer_held(self) -> bool:
        return answer_slot(self.slot.pk, self.user.pk)

    def answer_late(self) -> SurplusReason | None:
        if self.slot.number == ADJUDICATION:
            if self.item.state != ItemState.DISPUTED:
                return self._decided_by() or SurplusReason.OVER
            if self.item.flags.filter(holds_item=True, replied_at=None).exists():
                raise AnswerRefused(_("This dispute waits for a reply to a report; it is given out again after that."))
        if self._take():
            return None
        own = Slot.objects.filter(item=self.item, annotator=self.user).exclude(labels=None)
        return SurplusReason.TWICE if own.exists() else SurplusReason.LATE

    def _decided_by(self) -> SurplusReason | None:
        """Return the reason if the dispute was decided, by this person or by somebody else; None: it ended without."""
        decider = self.slot.labels.values_list("annotator", flat=True).first()
        if decider is None:
            return None
        return SurplusReason.TWICE if decider == self.user.pk else SurplusReason.LATE

    def _take(self) -> bool:
        """Take the slot if nobody has it and this person has no other slot of the item."""
        try:
            with transaction.atomic():
                return move_slots(Slot.objects.filter(pk=self.slot.pk), "answer late", annotator=self.user) == 1
        except IntegrityError:
            return False

    def keep(self, given: GivenAnswer, supersedes: Any = None, *, now: datetime | None = None) -> Label:
        label = Label.objects.create(slot=self.slot, item=self.item, supersedes=supersedes, **self._answer(given))
        if supersedes is None and self.item.started_by_id is None:
            _START(item=self.item.pk, person=self.user.pk)
        else:
            judge_item(self.item, now=now)
        return label


class _CheckAssignment(Assignment):
    """A check has no item to judge, and belongs to one person from the beginning."""

    def __init__(self, user: User, check: Check) -> None:
        super().__init__(user, check)
        self.check, self.question = check, {"item_id": None, "check_item_id": check.pk}
        self.holder_id = check.person_id

    def answer_held(self) -> bool:
        return answer_check(self.check.pk)

    def answer_late(self) -> SurplusReason | None:
        if self.check.state == SlotState.ANSWERED:
            return SurplusReason.TWICE
        if self.check.state != SlotState.WITHDRAWN and not self.check.went_to_others and self.answer_held():
            return None
        same = Check.objects.filter(gold=self.check.gold, person=self.user, state=SlotState.ANSWERED)
        return SurplusReason.TWICE if same.exists() else SurplusReason.LATE

    def keep(self, given: GivenAnswer, supersedes: Any = None, *, now: datetime | None = None) -> CheckLabel:
        return CheckLabel.objects.create(check_item=self.check, supersedes=supersedes, **self._answer(given))
