"""The queue: who is given which slot. Slots are leased for minutes; a lease that is over frees its slot."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation.domain.moves import claimable, move_slots
from annotation.domain.question import current_template
from annotation.enums import CampaignState, ItemState, SlotState
from annotation.models import Campaign, Item, Label, Slot
from annotation.models.slot import ADJUDICATION, lease_of
from pooling.models import Relation

PLACES = (1, 2)
# groups are given out whole, up to this many slots in one person's hands
MAX_LEASED = 50


def claim(campaign: Campaign, user: User, count: int = 8, *, now: datetime | None = None) -> list[Slot]:
    """Lease slots to an annotator until `count` are held, whole groups at a time; those held come first.

    Items with a label are given out first, then the seeded random order of groups. An item on which a person
    has a slot is not offered again. Slots come with item, triple and the question template to be shown.
    """
    now = now or timezone.now()
    count = min(count, MAX_LEASED)
    for wait in (False, True):
        # Rows that another claim is just taking are skipped; only when nothing is left are they waited for.
        try:
            with transaction.atomic():
                held = _renew_held(campaign, user, PLACES, now)
                if held < count and campaign.state == CampaignState.OPEN:
                    _take_groups(campaign, user, count - held, MAX_LEASED - held, now, wait)
                slots = held_slots(campaign, user, PLACES)
        except IntegrityError:
            continue  # the same person in another tab took the other slot of an item: look again
        if slots:
            return slots
    return held_slots(campaign, user, PLACES)


def claim_disputed(
    campaign: Campaign,
    user: User,
    count: int = 4,
    *,
    now: datetime | None = None,
    wait_for_windows: bool = True,
) -> list[Slot]:
    """Lease third slots to an adjudicator, oldest dispute first, never of an item labelled by this person.

    A dispute is offered once nobody can change the labels any more; simulations need not wait for that.
    """
    now = now or timezone.now()
    with transaction.atomic():
        held = _renew_held(campaign, user, (ADJUDICATION,), now)
        if held < count and campaign.state == CampaignState.OPEN:
            slots = waiting_disputes(campaign, user, now=now, wait_for_windows=wait_for_windows)
            taken = _locked(slots.select_related("item__triple").order_by("id"), wait=False)[: count - held]
            _lease(campaign, user, list(taken), now)
        return held_slots(campaign, user, (ADJUDICATION,))


def waiting_items(campaign: Campaign, user: User, *, now: datetime | None = None) -> QuerySet[Item]:
    """Items that could be given to this person now."""
    place = Slot.objects.filter(claimable(now or timezone.now()), item=OuterRef("pk"), number__in=PLACES)
    return _unseen(campaign.items.filter(Exists(place), state=ItemState.OPEN), user)


def waiting_disputes(
    campaign: Campaign, user: User, *, now: datetime | None = None, wait_for_windows: bool = True
) -> QuerySet[Slot]:
    """Third slots that could be given to this adjudicator now."""
    now = now or timezone.now()
    items = _unseen(campaign.items.filter(state=ItemState.DISPUTED), user)
    if wait_for_windows:
        since = now - timedelta(minutes=campaign.undo_minutes)
        items = items.filter(
            ~Exists(Label.objects.filter(item=OuterRef("pk"), supersedes=None, created_at__gt=since))
        )
    return Slot.objects.filter(claimable(now), item__in=items, number=ADJUDICATION)


def renew(user: User, slot_ids: Collection[int], *, now: datetime | None = None) -> int:
    """Lengthen the leases that this person holds; how many."""
    now = now or timezone.now()
    mine = Slot.objects.filter(pk__in=slot_ids, annotator=user)
    campaigns = Campaign.objects.filter(pk__in=mine.values("item__campaign")).order_by("pk")
    return sum(
        move_slots(mine.filter(item__campaign=campaign), "renew", leased_until=_until(campaign, now))
        for campaign in campaigns
    )


def release(user: User, slot_ids: Collection[int]) -> int:
    """Give slots back unanswered; those that are not this person's, or answered, stay as they are."""
    mine = Slot.objects.filter(pk__in=slot_ids, annotator=user)
    return move_slots(mine, "release", annotator=None, leased_until=None)


def held_slots(campaign: Campaign, user: User, numbers: Iterable[int]) -> list[Slot]:
    slots = Slot.objects.filter(
        annotator=user, state=SlotState.LEASED, item__campaign=campaign, number__in=numbers
    ).select_related("item__triple", "template__relation")
    # sorted here: asked to sort, SQLite walks all items of the campaign in their order
    return sorted(slots.order_by(), key=lambda slot: slot.item.order)


def _until(campaign: Campaign, now: datetime) -> datetime:
    return now + timedelta(minutes=campaign.lease_minutes)


def _renew_held(campaign: Campaign, user: User, numbers: Iterable[int], now: datetime) -> int:
    """A lease that is over but that nobody took is still this person's."""
    mine = Slot.objects.filter(annotator=user, item__campaign=campaign, number__in=numbers)
    return move_slots(mine, "renew", leased_until=_until(campaign, now))


def _unseen(items: QuerySet[Item], user: User) -> QuerySet[Item]:
    return items.filter(~Exists(Slot.objects.filter(item=OuterRef("pk"), annotator=user)))


def _locked(slots: QuerySet[Slot], wait: bool) -> QuerySet[Slot]:
    """Row locks where the database has them; SQLite has one writer at a time (transaction_mode IMMEDIATE)."""
    return slots.select_for_update(skip_locked=not wait, no_key=True, of=("self",))


def _take_groups(campaign: Campaign, user: User, wanted: int, room: int, now: datetime, wait: bool) -> None:
    waiting = waiting_items(campaign, user, now=now).order_by("-started", "order")
    passed: list[int] = []
    while wanted > 0:
        group = waiting.exclude(group__in=passed).values_list("group", flat=True).first()
        if group is None:
            return
        passed.append(group)
        taken = _take_group(campaign, user, group, room, now, wait)
        wanted, room = wanted - taken, room - taken


def _take_group(campaign: Campaign, user: User, group: int, room: int, now: datetime, wait: bool) -> int:
    items = _unseen(campaign.items.filter(group=group, state=ItemState.OPEN), user)
    free = Slot.objects.filter(claimable(now), item__in=items, number__in=PLACES).select_related(
        "item__triple"
    )
    places: dict[int, list[Slot]] = {}
    for slot in _locked(free.order_by("item__order", "number"), wait):
        places.setdefault(slot.item_id, []).append(slot)
    # Which of two free slots a person gets is drawn: a slot id must not tell whether another was first.
    chosen = [slots[lease_of(item, user.pk).int % len(slots)] for item, slots in places.items()]
    return _lease(campaign, user, chosen[:room], now)


def _lease(campaign: Campaign, user: User, slots: list[Slot], now: datetime) -> int:
    """Lease locked slots, one UPDATE a relation, whose question template is remembered with the slot."""
    by_relation: dict[int, list[int]] = {}
    for slot in slots:
        by_relation.setdefault(slot.item.triple.relation, []).append(slot.pk)
    taken = 0
    for index, ids in by_relation.items():
        relation = Relation.objects.get(graph=campaign.pool.graph_id, index=index)
        taken += move_slots(
            Slot.objects.filter(claimable(now), pk__in=ids), "claim",
            annotator=user, leased_until=_until(campaign, now), template=current_template(relation),
        )  # fmt: skip
    return taken
