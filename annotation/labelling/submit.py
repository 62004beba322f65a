"""Labels: append-only. A repeated submit is the same label, a change is a new one that supersedes the old."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.enums import Answer, CampaignState, ItemState, SlotState, SurplusReason
from annotation.errors import AnswerRefused, NotYours
from annotation.judging.judgements import judge_item
from annotation.judging.transitions import move_checks, move_slots
from annotation.labelling.queue import newest_templates
from annotation.models import Campaign, Check, CheckLabel, Item, Label, Slot, SurplusLabel
from annotation.models.slot import ADJUDICATION, lease_of
from annotation.sources.evidence import check_evidence
from annotation.sources.verified import VerifiedSources, verified

CHANGEABLE = 10  # among one's last so many labels
MAX_COMMENT = 2000
MAX_ACTIVE_MS, MAX_AWAY_MS = 3600 * 1000, 24 * 3600 * 1000  # of one answer; hours are paid by them
_USED = "The id of this answer was used for another one. Load the page again, then answer."
_SURPLUS = {
    SurplusReason.LATE: "Your time for this question was over and it went to somebody else: kept as a surplus label.",
    SurplusReason.TWICE: "You have answered this question already: kept as a surplus label.",
    SurplusReason.CLOSED: "The campaign is closed: kept as a surplus label.",
    SurplusReason.OVER: "This dispute is over, its labels were changed or taken back: kept as a surplus label.",
}
Kept = Label | CheckLabel | SurplusLabel


class Given(NamedTuple):
    """What a person answered."""

    client_id: UUID
    answer: str
    source_url: str = ""
    comment: str = ""
    active_ms: int = 0
    away_ms: int = 0


@dataclass(frozen=True)
class SubmitResult:
    label: Kept
    repeated: bool = False

    @property
    def is_surplus(self) -> bool:
        return isinstance(self.label, SurplusLabel)

    @property
    def message(self) -> str:
        return _SURPLUS[SurplusReason(self.label.reason)] if isinstance(self.label, SurplusLabel) else ""


def submit(
    user: User,
    ticket: UUID,
    lease: UUID,
    client_id: UUID,
    answer: str,
    source_url: str = "",
    comment: str = "",
    active_ms: int = 0,
    away_ms: int = 0,
    *,
    sources: VerifiedSources | None = None,
    now: datetime | None = None,
) -> SubmitResult:
    """Keep an answer to a question that this person was given: of a slot, or of a check, which looks the same.

    Raises NotYours for anybody else's ticket, EvidenceError for its link, AnswerRefused when it cannot be kept.
    An answer after the lease is kept in its slot if that is still free, else apart as a surplus label.
    `sources`: the verified sources, where a caller knows them.
    """
    if lease != lease_of(ticket, user.pk):
        raise NotYours("This question was not given to you. Load the page again; no label was changed.")
    given = _given(client_id, answer, source_url, comment, active_ms, away_ms)
    with _one_client_id(client_id), transaction.atomic():
        slot = _lock(Slot.objects.filter(ticket=ticket))
        if slot is None:
            return _submit_check(user, ticket, given, sources)
        mine = slot.annotator_id == user.pk
        if mine and slot.state == SlotState.LEASED and slot.item.campaign.state != CampaignState.CLOSED:
            _check(slot.item.campaign, slot.item.triple.relation, slot.number, given, sources)
            if CheckLabel.objects.filter(client_id=client_id).exists():
                raise AnswerRefused(_USED)  # as the database does for the id of another label
            if move_slots(Slot.objects.filter(pk=slot.pk, annotator=user), "answer", leased_until=None) == 1:
                return SubmitResult(_keep(slot, user, given, now=now))
        repeated = _repeated(user, given, slot.item_id, None)
        if repeated:
            return repeated
        _check(slot.item.campaign, slot.item.triple.relation, slot.number, given, sources)
        if slot.item.campaign.state == CampaignState.CLOSED:
            return _keep_apart(slot, user, given, SurplusReason.CLOSED)
        if slot.number == ADJUDICATION:
            if slot.item.state != ItemState.DISPUTED:
                return _keep_apart(slot, user, given, SurplusReason.OVER)
            if slot.item.flags.filter(holds_item=True, replied_at=None).exists():
                raise AnswerRefused("This dispute waits for an answer to a report; it is given out again after that.")
        if _take_late(slot, user):
            return SubmitResult(_keep(slot, user, given, now=now))
        own = Slot.objects.filter(item=slot.item_id, annotator=user).exclude(labels=None).exists()
        return _keep_apart(slot, user, given, SurplusReason.TWICE if own else SurplusReason.LATE)


def change(
    user: User,
    client_id_of_label: UUID,
    client_id: UUID,
    answer: str,
    source_url: str = "",
    comment: str = "",
    active_ms: int = 0,
    away_ms: int = 0,
    *,
    now: datetime | None = None,
) -> SubmitResult:
    """Supersede an own label, for some minutes and among one's last ten, whatever others have answered.

    Named by the client id of any of its versions. NotYours if it is none of this person's.
    """
    now = now or timezone.now()
    given = _given(client_id, answer, source_url, comment, active_ms, away_ms)
    with _one_client_id(client_id), transaction.atomic():
        slot = _lock(Slot.objects.filter(labels__client_id=client_id_of_label, labels__annotator=user))
        if slot is None:
            return _change_check(user, client_id_of_label, given, now)
        repeated = _repeated(user, given, slot.item_id, None)
        if repeated:
            return repeated
        _changeable(user, slot.item.campaign, slot.ticket, now)
        _check(slot.item.campaign, slot.item.triple.relation, slot.number, given, None)
        newest = Label.objects.get(slot=slot, superseded_by=None)
        return SubmitResult(_keep(slot, user, given, supersedes=newest, now=now))


def changeable_tickets(user: User, campaign: Campaign, *, now: datetime | None = None) -> set[UUID]:
    """Of the slots and checks whose labels this person may still change."""
    since = (now or timezone.now()) - timedelta(minutes=campaign.undo_minutes)
    if campaign.state == CampaignState.CLOSED:
        return set()
    labels = Label.objects.filter(annotator=user, supersedes=None, item__campaign=campaign).order_by("-pk")
    checks = CheckLabel.objects.filter(annotator=user, supersedes=None, check_item__campaign=campaign)
    last = [
        *labels.values_list("created_at", "slot__ticket")[:CHANGEABLE],
        *checks.order_by("-pk").values_list("created_at", "check_item__ticket")[:CHANGEABLE],
    ]
    return {ticket for at, ticket in sorted(last, reverse=True)[:CHANGEABLE] if at > since}


class OwnLabel(NamedTuple):
    """A present label of a person, as they may see it: a check looks like any other."""

    label: Label | CheckLabel
    asked: Item | Check
    ticket: UUID

    @property
    def created_at(self) -> datetime:
        return self.label.created_at


@dataclass(frozen=True)
class OwnLabels:
    """The present labels of a person, of slots and of checks, as one list by time: as much of a queryset as is read."""

    labels: QuerySet[Label]
    checks: QuerySet[CheckLabel]
    newest_first: bool = True

    def order_by(self, order: str) -> "OwnLabels":
        """By "created_at" or "-created_at"."""
        newest_first = order.startswith("-")
        by = (order, "-pk" if newest_first else "pk")
        return OwnLabels(self.labels.order_by(*by), self.checks.order_by(*by), newest_first)

    def filter(self, **conditions: Any) -> "OwnLabels":
        labels, checks = self.labels.filter(**conditions), self.checks.filter(**conditions)
        return OwnLabels(labels, checks, self.newest_first)

    def __getitem__(self, wanted: slice) -> list[OwnLabel]:
        found = [OwnLabel(label, label.item, label.slot.ticket) for label in self.labels[: wanted.stop]]
        found += [OwnLabel(label, label.check_item, label.check_item.ticket) for label in self.checks[: wanted.stop]]
        found.sort(key=lambda own: own.created_at, reverse=self.newest_first)
        return found[wanted]


def own_labels(user: User, campaign: Campaign) -> OwnLabels:
    """The present labels of a person, newest first."""
    labels = Label.objects.filter(annotator=user, item__campaign=campaign, superseded_by=None)
    checks = CheckLabel.objects.filter(annotator=user, check_item__campaign=campaign, superseded_by=None)
    return OwnLabels(
        labels.select_related("item__triple", "template", "slot"),
        checks.select_related("check_item__gold", "check_item__item__triple", "template"),
    ).order_by("-created_at")


def _given(client_id: UUID, answer: str, source_url: str, comment: str, active_ms: int, away_ms: int) -> Given:
    return Given(
        client_id, answer, source_url.strip(), comment.strip(), min(active_ms, MAX_ACTIVE_MS), min(away_ms, MAX_AWAY_MS)
    )


def _lock(slots: QuerySet[Slot]) -> Slot | None:
    """The slot, with its item locked: of two answers that arrive together the second sees the first."""
    locked = slots.select_related("item__campaign", "item__triple").select_for_update(of=("item",), no_key=True)
    return next(iter(locked), None)


@contextmanager
def _one_client_id(client_id: UUID) -> Iterator[None]:
    """The database lets a client id name one label only."""
    try:
        yield
    except IntegrityError as error:
        if _of_client(client_id) is not None:
            raise AnswerRefused(_USED) from error
        raise


def _of_client(client_id: UUID) -> Kept | None:
    return (
        Label.objects.filter(client_id=client_id).first()
        or CheckLabel.objects.filter(client_id=client_id).first()
        or SurplusLabel.objects.filter(client_id=client_id).first()
    )


def _repeated(user: User, given: Given, item: int | None, check: int | None) -> SubmitResult | None:
    """The first result of the same submit; AnswerRefused if the id names an answer to something else."""
    first = _of_client(given.client_id)
    if first is None:
        return None
    same = getattr(first, "item_id", None) == item and getattr(first, "check_item_id", None) == check
    if first.annotator_id != user.pk or not same:
        raise AnswerRefused(_USED)
    return SubmitResult(first, repeated=True)


def _check(campaign: Campaign, relation: int, number: int, given: Given, sources: VerifiedSources | None) -> None:
    if given.answer not in Answer.values:
        raise AnswerRefused(f"The answer {given.answer!r} is none of Y, N and ?.")
    if len(given.comment) > MAX_COMMENT:
        raise AnswerRefused(f"The comment has {len(given.comment)} characters: shorten it to {MAX_COMMENT}.")
    if "\0" in given.comment:
        raise AnswerRefused("The comment has a control character: take it out.")
    if number == ADJUDICATION and not given.comment:
        raise AnswerRefused("An adjudicator gives a reason: write one sentence.")
    hosts = (sources or verified(campaign)).hosts(relation)
    check_evidence(given.source_url, hosts, campaign.evidence_rule, given.answer)


def _changeable(user: User, campaign: Campaign, ticket: UUID, now: datetime) -> None:
    if campaign.state == CampaignState.CLOSED:
        raise AnswerRefused("The campaign is closed: its labels stay as they are.")
    if ticket not in changeable_tickets(user, campaign, now=now):
        raise AnswerRefused("This label can no longer be changed. It stays as it is.")


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
        slot=slot, item=item, annotator=user, supersedes=supersedes, template_id=_shown(slot), **given._asdict()
    )
    if supersedes is None and item.started_by_id is None:
        Item.objects.filter(pk=item.pk).update(started_by=user)
    else:
        judge_item(item, now=now)
    return label


def _keep_apart(slot: Slot, user: User, given: Given, reason: SurplusReason) -> SubmitResult:
    return SubmitResult(
        SurplusLabel.objects.create(
            item_id=slot.item_id, annotator=user, template_id=_shown(slot), reason=reason, **given._asdict()
        )
    )


def _shown(slot: Slot) -> int:
    if slot.template_id is not None:
        return slot.template_id
    relation = slot.item.triple.relation
    return newest_templates(slot.item.campaign, [relation])[relation].pk


# -- checks: the same moves, kept apart ----------------------------------------------------------------------


def _lock_check(checks: QuerySet[Check]) -> Check | None:
    locked = checks.select_for_update(of=("self",), no_key=True)
    return locked.select_related("campaign", "gold", "item__triple").first()


def _submit_check(user: User, ticket: UUID, given: Given, sources: VerifiedSources | None) -> SubmitResult:
    check = _lock_check(Check.objects.filter(ticket=ticket, person=user))
    if check is None or check.template_id is None:
        raise AnswerRefused("This question was withdrawn: it needs no answer any more.")
    closed = check.campaign.state == CampaignState.CLOSED
    if check.state == SlotState.LEASED and not closed:  # as `submit`: first what was answered, then its id
        _check(check.campaign, check.triple.relation, 1, given, sources)
    repeated = _repeated(user, given, None, check.pk)
    if repeated:
        return repeated
    _check(check.campaign, check.triple.relation, 1, given, sources)
    if not closed and move_checks(Check.objects.filter(pk=check.pk), "answer", leased_until=None) == 1:
        label = CheckLabel.objects.create(
            check_item=check, annotator=user, template_id=check.template_id, **given._asdict()
        )
        return SubmitResult(label)
    reason = SurplusReason.CLOSED if closed else SurplusReason.TWICE
    return SubmitResult(
        SurplusLabel.objects.create(
            check_item=check, annotator=user, template_id=check.template_id, reason=reason, **given._asdict()
        )
    )


def _change_check(user: User, client_id_of_label: UUID, given: Given, now: datetime) -> SubmitResult:
    check = _lock_check(Check.objects.filter(labels__client_id=client_id_of_label, person=user))
    if check is None or check.template_id is None:
        raise NotYours("This is not a label of yours. Nothing was changed.")
    repeated = _repeated(user, given, None, check.pk)
    if repeated:
        return repeated
    _changeable(user, check.campaign, check.ticket, now)
    _check(check.campaign, check.triple.relation, 1, given, None)
    newest = CheckLabel.objects.get(check_item=check, superseded_by=None)
    label = CheckLabel.objects.create(
        check_item=check, annotator=user, template_id=check.template_id, supersedes=newest, **given._asdict()
    )
    return SubmitResult(label)
