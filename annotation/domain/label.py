"""Labels: append-only. A repeated submit is the same label, a change is a new one that supersedes the old."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.domain.evidence import check_evidence
from annotation.domain.judgement import judge_item
from annotation.domain.moves import move_slots
from annotation.domain.question import current_template
from annotation.enums import Answer, SlotState
from annotation.errors import AnswerRefused, NotYours
from annotation.models import Campaign, Item, Label, Slot, SurplusLabel
from annotation.models.slot import ADJUDICATION, lease_of
from pooling.models import Relation

CHANGEABLE = 10  # among one's last so many labels
MAX_COMMENT = 2000
MAX_ACTIVE_MS = 24 * 3600 * 1000
_USED = "The id of this answer was used for another one. Load the page again, then answer."
_SURPLUS = "Your time for this question was over and it went to somebody else: kept as a surplus label."
_TWICE = "You have answered this question already: kept as a surplus label."


class Given(NamedTuple):
    """What a person answered."""

    client_id: UUID
    answer: str
    source_url: str = ""
    comment: str = ""
    active_ms: int = 0


@dataclass(frozen=True)
class SubmitResult:
    label: Label | SurplusLabel
    repeated: bool = False
    message: str = ""

    @property
    def is_surplus(self) -> bool:
        return isinstance(self.label, SurplusLabel)


def verified_hosts(campaign: Campaign) -> list[str]:
    return list(campaign.sources.values_list("host", flat=True))


def submit(
    user: User, slot_id: int, lease: UUID, client_id: UUID, answer: str, source_url: str = "",
    comment: str = "", active_ms: int = 0, *, hosts: Collection[str] | None = None,
    now: datetime | None = None,
) -> SubmitResult:  # fmt: skip
    """Keep an answer to a slot that this person was given.

    Raises NotYours for anybody else's slot, EvidenceError for its link, AnswerRefused when it cannot be kept.
    An answer after the lease is kept in its slot if that is still free, else apart as a surplus label.
    `hosts`: the verified hosts, where a caller that submits many knows them.
    """
    if lease != lease_of(slot_id, user.pk):
        raise NotYours("This question was not given to you. Load the page again; no label was changed.")
    given = Given(client_id, answer, source_url.strip(), comment.strip(), min(active_ms, MAX_ACTIVE_MS))
    with _one_client_id(client_id), transaction.atomic():
        slot = _lock(Slot.objects.filter(pk=slot_id))
        if slot is None:
            raise AnswerRefused("This question was withdrawn: it needs no answer any more.")
        if slot.state == SlotState.LEASED and slot.annotator_id == user.pk:
            _check(slot, given, hosts)
            mine = Slot.objects.filter(pk=slot.pk, annotator=user)
            if move_slots(mine, "answer", leased_until=None) == 1:
                return SubmitResult(_keep(slot, user, given, now=now))
        repeated = _repeated(user, slot, given)
        if repeated:
            return repeated
        _check(slot, given, hosts)
        if _take_late(slot, user):
            return SubmitResult(_keep(slot, user, given, now=now))
        return _keep_apart(slot, user, given)


def change(
    user: User, label_id: int, client_id: UUID, answer: str, source_url: str = "", comment: str = "",
    active_ms: int = 0, *, now: datetime | None = None,
) -> SubmitResult:  # fmt: skip
    """Supersede an own label, for some minutes and among one's last ten, whatever others have answered."""
    now = now or timezone.now()
    given = Given(client_id, answer, source_url.strip(), comment.strip(), min(active_ms, MAX_ACTIVE_MS))
    with _one_client_id(client_id), transaction.atomic():
        slot = _lock(Slot.objects.filter(labels__pk=label_id, annotator=user))
        if slot is None:
            raise NotYours("This is not a label of yours. Nothing was changed.")
        repeated = _repeated(user, slot, given)
        if repeated:
            return repeated
        if slot.pk not in changeable_slots(user, slot.item.campaign, now=now):
            raise AnswerRefused("This label can no longer be changed. It stays as it is.")
        _check(slot, given, None)
        newest = Label.objects.get(slot=slot, superseded_by=None)
        return SubmitResult(_keep(slot, user, given, supersedes=newest, now=now))


def changeable_slots(user: User, campaign: Campaign, *, now: datetime | None = None) -> set[int]:
    """Slots of the labels that this person may still change."""
    since = (now or timezone.now()) - timedelta(minutes=campaign.undo_minutes)
    first = Label.objects.filter(annotator=user, supersedes=None, item__campaign=campaign).order_by("-pk")
    return {slot for slot, at in first.values_list("slot", "created_at")[:CHANGEABLE] if at > since}


def own_labels(user: User, campaign: Campaign) -> QuerySet[Label]:
    """The present labels of a person, newest first."""
    labels = Label.objects.filter(annotator=user, item__campaign=campaign, superseded_by=None)
    return labels.select_related("item__triple", "item__campaign__pool__graph", "template", "slot").order_by(
        "-pk"
    )


def _lock(slots: QuerySet[Slot]) -> Slot | None:
    """The slot, with its item locked: of two answers that arrive together the second sees the first."""
    locked = slots.select_related("item__campaign").select_for_update(of=("item",), no_key=True)
    return next(iter(locked), None)


@contextmanager
def _one_client_id(client_id: UUID) -> Iterator[None]:
    """The database lets a client id name one label only."""
    try:
        yield
    except IntegrityError as error:
        if (
            Label.objects.filter(client_id=client_id).exists()
            or SurplusLabel.objects.filter(client_id=client_id).exists()
        ):
            raise AnswerRefused(_USED) from error
        raise


def _repeated(user: User, slot: Slot, given: Given) -> SubmitResult | None:
    first = (
        Label.objects.filter(client_id=given.client_id).first()
        or SurplusLabel.objects.filter(client_id=given.client_id).first()
    )
    if first is None:
        return None
    if first.annotator_id != user.pk or first.item_id != slot.item_id:
        raise AnswerRefused(_USED)
    return SubmitResult(first, repeated=True, message=_SURPLUS if isinstance(first, SurplusLabel) else "")


def _check(slot: Slot, given: Given, hosts: Collection[str] | None) -> None:
    campaign = slot.item.campaign
    if given.answer not in Answer.values:
        raise AnswerRefused(f"The answer {given.answer!r} is none of Y, N and ?.")
    if len(given.comment) > MAX_COMMENT:
        raise AnswerRefused(f"The comment has {len(given.comment)} characters: shorten it to {MAX_COMMENT}.")
    if "\0" in given.comment:
        raise AnswerRefused("The comment has a control character: take it out.")
    if slot.number == ADJUDICATION and not given.comment:
        raise AnswerRefused("An adjudicator gives a reason: write one sentence.")
    hosts = verified_hosts(campaign) if hosts is None else hosts
    check_evidence(given.source_url, hosts, campaign.evidence_rule, given.answer)


def _take_late(slot: Slot, user: User) -> bool:
    """After the lease an answer counts if nobody has the slot, nor this person another one."""
    try:
        with transaction.atomic():
            return move_slots(Slot.objects.filter(pk=slot.pk), "answer late", annotator=user) == 1
    except IntegrityError:
        return False


def _keep(
    slot: Slot, user: User, given: Given, *, supersedes: Label | None = None, now: datetime | None = None
) -> Label:
    item = slot.item
    label = Label.objects.create(
        slot=slot,
        item=item,
        annotator=user,
        supersedes=supersedes,
        template_id=_shown(slot),
        **given._asdict(),
    )
    if supersedes is None and not item.started:
        Item.objects.filter(pk=item.pk).update(started=True)
    else:
        judge_item(item, now=now)
    return label


def _keep_apart(slot: Slot, user: User, given: Given) -> SubmitResult:
    own = Slot.objects.filter(item=slot.item_id, annotator=user).exclude(labels=None).exists()
    surplus = SurplusLabel.objects.create(
        item_id=slot.item_id, annotator=user, template_id=_shown(slot), **given._asdict()
    )
    return SubmitResult(surplus, message=_TWICE if own else _SURPLUS)


def _shown(slot: Slot) -> int:
    if slot.template_id is not None:
        return slot.template_id
    triple = slot.item.triple
    return current_template(Relation.objects.get(graph=triple.pool.graph_id, index=triple.relation)).pk
