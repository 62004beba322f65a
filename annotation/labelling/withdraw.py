"""Take back the labels of a person, an item or a judgement. Nothing is deleted: slots are retired.

A retired slot keeps its person and label, so that this person is not asked again; a new slot takes its number.
"""

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.enums import AnnotationAct, Answer, ItemState, JudgementOrigin, SlotState, Verdict
from annotation.errors import AnswerRefused, CampaignError, NotYours
from annotation.judging.judgements import drop_third_slots, fallback_verdict, judge_item, live_labels
from annotation.judging.transitions import move_item, move_slots
from annotation.labelling.queue import held_slots, one_by_one, release_all
from annotation.models import Campaign, Check, ImportedLabel, Item, Judgement, Slot
from annotation.models.slot import ADJUDICATION, PLACES, lease_of
from core import clock
from core.people.audit_log import record

_BATCH = 500
_CHUNK = 5000  # items locked and changed at a time, well below the number of ids that SQLite takes in one query


@dataclass(frozen=True)
class Withdrawal:
    """What taking back the labels of a person does or did."""

    labels: int  # that will be discarded
    reopened: int  # items that need another label
    to_adjudicate: int  # items that need another adjudicator
    judgements: int  # final judgements that are lost until then
    positive: int  # of these
    negative: int
    held: int  # questions that the person holds and gives back


def preview_withdrawal(campaign: Campaign, person: User) -> Withdrawal:
    """Return what `withdraw_labels` would do now."""
    slots = _answered(campaign, person)
    checks = Check.objects.filter(campaign=campaign, person=person, state=SlotState.LEASED)
    return _outlook(slots, held_slots(campaign, person).count() + checks.count())


def _outlook(slots: QuerySet[Slot], held: int) -> Withdrawal:
    places = slots.filter(number__in=PLACES)
    lost = Judgement.objects.filter(
        triple__item__in=Item.objects.filter(slots__in=slots), origin=JudgementOrigin.PEOPLE
    )
    verdicts = Counter(lost.values_list("verdict", flat=True))
    return Withdrawal(
        labels=slots.count(),
        reopened=places.count(),
        to_adjudicate=slots.filter(number=ADJUDICATION).count(),
        judgements=verdicts[Verdict.POSITIVE] + verdicts[Verdict.NEGATIVE],
        positive=verdicts[Verdict.POSITIVE],
        negative=verdicts[Verdict.NEGATIVE],
        held=held,
    )


def withdraw_labels(campaign: Campaign, person: User, *, by: User | None = None, reason: str = "") -> Withdrawal:
    """Discard the labels of a person and reopen their items. This cannot be undone.

    An item loses its judgement until another person has labelled it; an adjudicator's answer stays and decides again
    once the item has two labels. The rows of labels, and everything frozen, are kept.
    """
    now = clock.now()
    with transaction.atomic():
        one_by_one(person)
        # before labels are read: this waits for an answer that is given right now, which then counts among them
        held = release_all(person, campaign)
        ids = list(_answered(campaign, person).order_by("item").values_list("item", flat=True))
        done = _outlook(_answered(campaign, person), held)
        for start in range(0, len(ids), _CHUNK):
            _withdraw_from(campaign, person, ids[start : start + _CHUNK], now)
        if done.labels or done.held:  # a second time there is nothing to tell
            about, details = f"{done.labels} labels", {"reason": reason, "judgements": done.judgements}
            record(by, AnnotationAct.LABELS_WITHDRAWN, pool=campaign.pool, subject=person, about=about, **details)
    return done


def _withdraw_from(campaign: Campaign, person: User, ids: list[int], now: datetime) -> None:
    """Withdraw the labels on these items only.

    An item that this person answers right now is not locked, and that answer stays.
    """
    list(Item.objects.filter(pk__in=ids).select_for_update(no_key=True).order_by("pk"))
    slots = list(_answered(campaign, person).filter(item__in=ids))
    _retire(slots, now)
    _reopen({slot.item_id for slot in slots if slot.number in PLACES}, ItemState.OPEN)
    decided = {slot.item_id for slot in slots if slot.number == ADJUDICATION}
    _reopen(decided, ItemState.DISPUTED)
    _take_judgements(campaign, ids, now)
    answers = defaultdict(list)
    for item_id, answer in live_labels().filter(item__in=decided).values_list("item", "answer"):
        answers[item_id].append(answer)
    agreed = [pk for pk, (first, *rest) in answers.items() if rest == [first] != [Answer.CANT_TELL]]
    for item in Item.objects.filter(pk__in=agreed).select_related("campaign"):
        judge_item(item, now=now)  # its two labels came to agree after it was decided


def return_item(item: Item, *, by: User | None = None, reason: str = "", now: datetime | None = None) -> None:
    """Send an item back to the pool: its labels are discarded, and two other people are asked.

    An adjudicator who sends it back has seen its labels and does not get it as an annotator. CampaignError unless both
    slots are answered.
    """
    now = now or clock.now()
    with transaction.atomic():
        item = _locked(item)
        if item.state == ItemState.OPEN:
            raise CampaignError("This item waits for labels already: there is nothing to send back.")
        _retire(list(item.slots.filter(state=SlotState.ANSWERED)), now, again=PLACES)
        drop_third_slots([item.pk])
        Item.objects.filter(pk=item.pk).update(started_by=None, reopened=False)
        move_item(item, ItemState.OPEN, settled_at=None)
        _take_judgements(item.campaign, [item.pk], now)
        record(by, AnnotationAct.ITEM_RETURNED, pool=item.campaign.pool, about=f"item {item.pk}", reason=reason)


def return_dispute(user: User, ticket: UUID, lease: UUID, reason: str) -> None:
    """Send the item of a dispute back to the pool, for the adjudicator who holds it; a reason is required."""
    if lease != lease_of(ticket, user.pk):
        raise NotYours(_("This statement was not given to you. Load the page again; nothing was changed."))
    if not reason.strip():
        raise AnswerRefused(_("Say in a sentence why two others are to be asked."))
    with transaction.atomic():
        item = Item.objects.filter(slots__ticket=ticket).select_for_update(of=("self",), no_key=True).first()
        held = Slot.objects.filter(ticket=ticket, annotator=user, number=ADJUDICATION, state=SlotState.LEASED)
        if item is None or not held.exists():
            raise AnswerRefused(_("This dispute is no longer in your hands. Nothing was changed."))
        return_item(item, by=user, reason=reason.strip())


def reopen_judgement(item: Item, *, by: User | None = None, reason: str = "", now: datetime | None = None) -> None:
    """Ask an adjudicator (again) about a settled or undecided item; CampaignError if it is neither."""
    now = now or clock.now()
    with transaction.atomic():
        item = _locked(item)
        if item.state not in (ItemState.SETTLED, ItemState.UNDECIDED):
            raise CampaignError("This item has no final judgement to reopen.")
        _retire(list(item.slots.filter(number=ADJUDICATION, state=SlotState.ANSWERED)), now)
        if not item.slots.filter(number=ADJUDICATION).exclude(state=SlotState.WITHDRAWN).exists():
            Slot.objects.create(item=item, number=ADJUDICATION)
        Item.objects.filter(pk=item.pk).update(reopened=True)
        move_item(item, ItemState.DISPUTED, settled_at=None)
        _take_judgements(item.campaign, [item.pk], now)
        record(by, AnnotationAct.JUDGEMENT_REOPENED, pool=item.campaign.pool, about=f"item {item.pk}", reason=reason)


def _locked(item: Item) -> Item:
    items = Item.objects.select_for_update(of=("self",), no_key=True)
    return items.select_related("campaign__pool").get(pk=item.pk)


def _answered(campaign: Campaign, person: User) -> QuerySet[Slot]:
    return Slot.objects.filter(annotator=person, item__campaign=campaign, state=SlotState.ANSWERED)


def _retire(slots: list[Slot], now: datetime, again: Collection[int] = (*PLACES, ADJUDICATION)) -> None:
    """Withdraw slots; make a free one for each whose number is in `again`."""
    ids = [slot.pk for slot in slots]
    if move_slots(Slot.objects.filter(pk__in=ids), "withdraw", withdrawn_at=now) != len(ids):
        raise RuntimeError("a slot was moved by somebody else while its item was locked")
    Slot.objects.bulk_create(
        (Slot(item_id=slot.item_id, number=slot.number) for slot in slots if slot.number in again), batch_size=_BATCH
    )


def _reopen(ids: set[int], state: ItemState) -> None:
    """Reopen items whose answered slots were just retired; open ones stay open."""
    items = list(Item.objects.filter(pk__in=ids))
    left = dict(live_labels().filter(item__in=ids, slot__number__in=PLACES).values_list("item", "annotator"))
    complete = Counter(live_labels().filter(item__in=ids, slot__number__in=PLACES).values_list("item", flat=True))
    # one UPDATE per person: a withdrawal may concern thousands of items
    by_starter: dict[int | None, list[int]] = defaultdict(list)
    for item in items:
        if state == ItemState.OPEN:
            by_starter[left.get(item.pk)].append(item.pk)
        elif complete[item.pk] == 2:  # otherwise a label of the same person was taken back too, and it stays open
            by_starter[item.started_by_id].append(item.pk)
    for person, pks in by_starter.items():
        Item.objects.filter(pk__in=pks).update(state=state, settled_at=None, started_by=person)
    drop_third_slots(list(Item.objects.filter(pk__in=ids, state=ItemState.OPEN).values_list("pk", flat=True)))


def _take_judgements(campaign: Campaign, ids: Collection[int], now: datetime) -> None:
    """Set judgements back to what imported labels say, or to undecided; none is deleted."""
    triples = Item.objects.filter(pk__in=ids).values("triple")
    imported: dict[int, list[str]] = defaultdict(list)
    for triple, answer in ImportedLabel.objects.filter(triple__in=triples).values_list("triple", "answer"):
        imported[triple].append(answer)
    judgements = campaign.pool.judgements.filter(triple__in=triples, origin=JudgementOrigin.PEOPLE)
    by_verdict: dict[tuple[Verdict, JudgementOrigin], list[int]] = defaultdict(list)
    for pk, triple in judgements.values_list("pk", "triple"):
        by_verdict[fallback_verdict(imported.get(triple, []))].append(pk)
    for (verdict, origin), pks in by_verdict.items():
        Judgement.objects.filter(pk__in=pks).update(verdict=verdict, origin=origin, decided_at=now)
