"""List the disputes of one adjudicator: those to decide now, and those that wait for something else first."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, Max, Q, QuerySet
from django.utils.translation import gettext

from annotation.enums import AnnotationAct, Answer, CampaignState, Cause, ItemState, SlotState
from annotation.judging.judgements import live_labels
from annotation.judging.waiting import most_disputed, not_labelled_by, waiting_disputes
from annotation.labelling.queue import held_slots
from annotation.models import Campaign, Flag, Item, Slot
from annotation.models.slot import ADJUDICATION, PLACES
from annotation.questions.templates import statements_now
from core import clock
from core.models import AuditEntry
from pooling.graphs.opening import open_graph
from pooling.questions.relation_names import relation_words


class Dispute(NamedTuple):
    question: str
    relation: str  # in words
    since: datetime | None  # its last label, or its reopening
    labels: int  # that were given on it so far
    difference: str
    ticket: UUID
    until: datetime | None  # the end of this person's lease; None: the dispute is free


class Closed(StrEnum):
    """Reasons why a dispute cannot be opened."""

    OVER = "over"  # its labels agree now, or it is not this person's to see
    RETURNED = "returned"
    OWN = "own"  # this person decided it
    DECIDED = "decided"  # another adjudicator did
    HELD = "held"  # by another adjudicator
    REPORTED = "reported"  # it waits for a reply to a report
    WINDOW = "window"  # its labels can still be changed
    CAMPAIGN = "campaign"  # the campaign is not open


class ClosedDispute(NamedTuple):
    reason: Closed
    until: datetime | None = None  # of a lease or a change window
    answer: str = ""  # own decision


@dataclass(frozen=True)
class BlockedDisputes:
    """Disputes that cannot be opened yet."""

    in_window: int  # their labels can still be changed
    seconds_to_next: int | None
    parked: list[Flag]  # own reports that nobody has answered


def disputes_in_hand(campaign: Campaign, user: User) -> QuerySet[Slot]:
    """Return the third slots that this person holds; once the lease is over, they are free."""
    return most_disputed(held_slots(campaign, user).filter(number=ADJUDICATION, leased_until__gte=clock.now()))


def open_disputes(campaign: Campaign, user: User) -> QuerySet[Slot]:
    """Return the third slots that this person can be given now, in the order in which they are given out."""
    return most_disputed(waiting_disputes(campaign, user))


def describe_disputes(campaign: Campaign, slots: Iterable[Slot]) -> list[Dispute]:
    """Return what an adjudicator may know before answering of disputes that they hold or can be given.

    That excludes names, and who gave which answer.
    """
    slots, now = list(slots), clock.now()
    given = _given([slot.item_id for slot in slots])
    items = Item.objects.select_related("triple__judgement").annotate(
        last=Max("labels__created_at"), num_labels=Count("labels", filter=Q(labels__supersedes=None))
    )
    by_id = items.in_bulk([slot.item_id for slot in slots])
    found, graph = [by_id[slot.item_id] for slot in slots], open_graph(campaign.pool.graph)
    return [
        Dispute(
            question,
            relation_words(graph.relation_name(item.triple.relation)),
            item.triple.judgement.decided_at if item.reopened and hasattr(item.triple, "judgement") else item.last,
            item.num_labels,
            answer_difference([answer for answer, _ in given[item.pk]]),
            slot.ticket,
            slot.leased_until if slot.state == SlotState.LEASED and (slot.leased_until or now) > now else None,
        )
        for slot, item, question in zip(slots, found, statements_now(campaign, found), strict=True)
    ]


class StandingDispute(NamedTuple):
    """Tell a manager of a dispute that waits."""

    difference: str
    since: datetime  # its later answer
    holder: str = ""  # name of the adjudicator who has it now
    until: datetime | None = None  # the end of that lease


class Decision(NamedTuple):
    """Tell a manager how an adjudicator decided a dispute."""

    person: str
    answer: str
    reason: str  # as chosen or written; empty where it was none
    at: datetime


def standing_disputes(items: Iterable[Item]) -> dict[int, StandingDispute]:
    """Return item id -> what a manager may know of it, for the disputes among items; two queries, none without one."""
    disputed = [item.pk for item in items if item.state == ItemState.DISPUTED]
    if not disputed:
        return {}
    leased = Slot.objects.filter(item__in=disputed, number=ADJUDICATION, state=SlotState.LEASED)
    held = leased.filter(leased_until__gte=clock.now()).values_list("item", "annotator__username", "leased_until")
    holders = {pk: (name, until) for pk, name, until in held}
    return {
        pk: StandingDispute(
            answer_difference([answer for answer, _ in labels]), max(at for _, at in labels), *holders.get(pk, ())
        )
        for pk, labels in _given(disputed).items()
    }


def decisions(items: Iterable[Item]) -> dict[int, Decision]:
    """Return item id -> the adjudicator's answer that counts, for those among items that have one; one query."""
    labels = live_labels().filter(item__in=list(items), slot__number=ADJUDICATION)
    found = labels.values_list("item", "annotator__username", "answer", "cause", "comment", "created_at")
    return {
        pk: Decision(name, str(Answer(answer).label), str(Cause(cause).label) if cause else comment, at)
        for pk, name, answer, cause, comment, at in found
    }


def _given(items: list[int]) -> dict[int, list[tuple[str, datetime]]]:
    """Return item id -> the annotators' answers that count, each with its time; one query."""
    found: dict[int, list[tuple[str, datetime]]] = defaultdict(list)
    labels = live_labels().filter(item__in=items, slot__number__in=PLACES)
    for pk, answer, at in labels.values_list("item", "answer", "created_at"):
        found[pk].append((answer, at))
    return found


def reopening_reasons(campaign: Campaign, items: Iterable[Item]) -> dict[int, str]:
    """Return item id -> why a manager reopened it last, for those of these items that are reopened."""
    about = {f"item {item.pk}": item.pk for item in items if item.reopened}
    if not about:
        return {}
    acts = AuditEntry.objects.filter(pool=campaign.pool, act=AnnotationAct.JUDGEMENT_REOPENED, about__in=about)
    found = acts.order_by("pk").values_list("about", "details")
    return {about[text]: details.get("reason", "") for text, details in found}


def answer_difference(answers: list[str]) -> str:
    """Return in words how two answers differ, without an order that would tell whose is whose."""
    count = {answer: answers.count(answer) for answer in Answer}
    if count[Answer.CANT_TELL]:
        if count[Answer.YES]:
            return gettext("yes and can't tell")
        return gettext("no and can't tell") if count[Answer.NO] else gettext("both can't tell")
    return gettext("yes and no") if count[Answer.YES] and count[Answer.NO] else gettext("reopened")


def closed_dispute(
    campaign: Campaign, user: User, ticket: UUID, *, now: datetime | None = None
) -> ClosedDispute | None:
    """Return why this person cannot open the dispute with this ticket now; None if they can."""
    now = now or clock.now()
    third = Slot.objects.filter(ticket=ticket, number=ADJUDICATION, item__campaign=campaign)
    slot = third.select_related("item").first()
    if slot is None or Slot.objects.filter(item=slot.item_id, number__in=PLACES, annotator=user).exists():
        return ClosedDispute(Closed.OVER)
    if slot.item.is_disputed and slot.state != SlotState.WITHDRAWN:
        return _kept_closed(campaign, user, slot, now)
    own = live_labels().filter(slot=slot, annotator=user).first()
    if own is not None:
        return ClosedDispute(Closed.OWN, answer=str(Answer(own.answer).label))
    if slot.state == SlotState.ANSWERED:
        return ClosedDispute(Closed.DECIDED)
    return ClosedDispute(Closed.RETURNED if slot.item.is_open else Closed.OVER)


def _kept_closed(campaign: Campaign, user: User, slot: Slot, now: datetime) -> ClosedDispute | None:
    """Return what keeps a dispute that is not over from this person."""
    is_leased = slot.state == SlotState.LEASED
    if is_leased and slot.annotator_id == user.pk:
        return None
    if is_leased and slot.leased_until is not None and slot.leased_until >= now:
        return ClosedDispute(Closed.HELD, slot.leased_until)
    if campaign.state != CampaignState.OPEN:
        return ClosedDispute(Closed.CAMPAIGN)
    if waiting_disputes(campaign, user, now=now).filter(pk=slot.pk).exists():
        return None
    if slot.item.flags.filter(holds_item=True, replied_at=None).exists():
        return ClosedDispute(Closed.REPORTED)
    labels = slot.item.labels.filter(supersedes=None)
    last = labels.aggregate(last=Max("created_at"))["last"] or now
    return ClosedDispute(Closed.WINDOW, last + timedelta(minutes=campaign.undo_minutes))


def num_held_by_others(campaign: Campaign, user: User, *, now: datetime | None = None) -> int:
    """Count the disputes that other adjudicators hold and that this person did not label."""
    third = Slot.objects.filter(number=ADJUDICATION, state=SlotState.LEASED, leased_until__gte=now or clock.now())
    items = not_labelled_by(campaign.items.filter(state=ItemState.DISPUTED), user)
    return third.filter(item__in=items).exclude(annotator=user).count()


def blocked_disputes(campaign: Campaign, user: User, *, now: datetime | None = None) -> BlockedDisputes:
    """Return the disputes that wait for the end of a change window or for a reply to a report; two queries."""
    now = now or clock.now()
    window = timedelta(minutes=campaign.undo_minutes)
    slots = waiting_disputes(campaign, user, now=now, wait_for_windows=False)
    last = Max("item__labels__created_at", filter=Q(item__labels__supersedes=None))
    given = slots.annotate(last=last).filter(last__gt=now - window).order_by("last")
    ends = [at + window for at in given.values_list("last", flat=True)]
    parked = campaign.flags.filter(person=user, holds_item=True, replied_at=None)
    parked = parked.select_related("template", "item__triple").order_by("pk")
    return BlockedDisputes(len(ends), max(1, int((ends[0] - now).total_seconds()) + 1) if ends else None, list(parked))
