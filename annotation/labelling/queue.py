"""Give out slots. A slot is leased for minutes; once the lease is over, others can take it."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, OperationalError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotation.enums import CampaignState, ItemState, SlotState
from annotation.judging.transitions import claimable, move_checks, move_slots, release_slots
from annotation.judging.waiting import most_disputed, not_seen_by, waiting_disputes, waiting_items
from annotation.labelling.question import question_of
from annotation.models import Campaign, Check, Item, Membership, QuestionTemplate, Slot
from annotation.models.slot import ADJUDICATION, PLACES
from annotation.questions.templates import newest_templates
from annotation.release.next_batch import release_when_short
from core import clock
from core.database import is_deadlock
from core.fixed import Fixed
from core.people.roles import CampaignRole

# groups are given out whole, until a person holds this many
MAX_LEASED = 50


class Taken(NamedTuple):
    """Ids of what a claim took."""

    slots: frozenset[int] = frozenset()
    alone: frozenset[int] = frozenset()

    def __or__(self, other: "Taken") -> "Taken":
        return Taken(self.slots | other.slots, self.alone | other.alone)

    @property
    def number(self) -> int:
        return len(self.slots) + len(self.alone)


class Alone:
    """What one person alone can take, by id: here nothing. It comes with slots, counts as they do, and hides there."""

    held = 0  # how many of it the person has
    returns: Mapping[int, Item] = {}  # what they gave back: an item of the group that the queue puts it beside

    def ahead(self, group: int) -> Collection[int]:
        """Return what comes before a group, as one before it would; it may name some of `returns`."""
        return ()

    def among(self, slots: list[Slot], back: Collection[int], room: int) -> tuple[list[Slot], Collection[int]]:
        """Return what fits of the free slots of a group, those of `returns` that come `back` with it, and more."""
        return slots[:room], ()

    def is_as_read(self, slots: list[Slot]) -> bool:
        """Return whether it needs no renewal and is what it was when these slots, that the person holds, were read: so
        no other claim of this person came between.
        """
        return True

    def look(self) -> None:
        """Read it again: from now to the end of the transaction no other claim of this person changes it."""

    def give(self, ids: Collection[int]) -> None:
        """Give what a claim took; it is counted in `held` from now on."""


def claim(
    campaign: Campaign, user: User, count: int, alone: Alone | None = None, *, now: datetime | None = None
) -> list[Slot]:
    """Lease slots to an annotator until `count` are held, with what is theirs `alone`; return the slots they hold.

    Questions are given out whole. Items assigned to the person come first, then items with one label, then groups in
    the seeded random order. An item on which the person has a slot is not offered again. Item, triple and question
    template are loaded.
    """
    now, alone = now or clock.now(), alone or Alone()
    count = min(count, MAX_LEASED)
    if campaign.state == CampaignState.CLOSED:
        return []
    slots, taken = _claim(campaign, user, count, alone, now)
    while len(slots) + alone.held < count and release_when_short(
        campaign, waiting_items(campaign, user, now=now).exists
    ):
        slots, taken = _claim(campaign, user, count, alone, now)
        if slots and not taken.slots:
            break  # others are taking what is left
    return slots


def _claim(campaign: Campaign, user: User, count: int, alone: Alone, now: datetime) -> tuple[list[Slot], Taken]:
    """Lease from what is released."""
    slots = slots_in_hand(campaign, user, PLACES)
    enough = len(slots) + alone.held >= count and all(_runs_long(campaign, slot, now) for slot in slots)
    if enough and alone.is_as_read(slots):
        return slots, Taken()  # the most frequent claim by far: few queries, and nothing is locked
    for wait in (False, True):
        # skip rows that another claim is taking; wait for them only when nothing else is left
        taken = Taken()
        try:
            with transaction.atomic():
                one_by_one(user)
                alone.look()
                held = _renew_held(campaign, user, PLACES, now) + alone.held
                if held < count and campaign.state == CampaignState.OPEN:
                    taken = _take_groups(campaign, user, count - held, MAX_LEASED - held, alone, now, wait)
                    if taken.alone:
                        alone.give(taken.alone)
                slots = slots_in_hand(campaign, user, PLACES)
        except IntegrityError:
            continue  # the same person took the other slot of an item in another tab: look again
        except OperationalError as error:
            if not is_deadlock(error):
                raise
            continue  # two people took gold from each other
        if slots or taken.alone:
            break
    return slots, taken


def claim_disputed(
    campaign: Campaign,
    user: User,
    count: int = 4,
    *,
    first: UUID | None = None,
    now: datetime | None = None,
    wait_for_windows: bool = True,
) -> list[Slot]:
    """Lease third slots to an adjudicator until `count` are held, never of an item that this person labelled.

    `first` is the ticket of a dispute that is wanted before all others. Then items with the most labels come first,
    then the oldest disputes. With a dispute come the others of its question that wait, so that they are decided
    together. A dispute is offered once nobody can change its labels any more; `wait_for_windows=False` skips that
    wait, for simulations.
    """
    now = now or clock.now()
    slots: list[Slot] = []
    if campaign.state == CampaignState.CLOSED:
        return slots
    for wait in (False, True):  # as in `claim`
        with transaction.atomic():
            one_by_one(user)
            held = _renew_held(campaign, user, (ADJUDICATION,), now)
            if campaign.state == CampaignState.OPEN:
                waiting = waiting_disputes(campaign, user, now=now, wait_for_windows=wait_for_windows)
                waiting = waiting.filter(_is_member(campaign, user, role=CampaignRole.ADJUDICATOR))
                wish = list(waiting.filter(ticket=first).values_list("pk", flat=True)) if first else []
                room = max(MAX_LEASED - held, 1)
                _take_disputes(campaign, user, waiting, wish, count - held, room, now, wait)
            slots = slots_in_hand(campaign, user, (ADJUDICATION,))
            ids = most_disputed(Slot.objects.filter(pk__in=[slot.pk for slot in slots])).values_list("pk", flat=True)
            place = {pk: i for i, pk in enumerate(ids)}
        if slots:
            break
    return sorted(slots, key=lambda slot: place.get(slot.pk, 0))


def renew(user: User, tickets: Collection[UUID], *, now: datetime | None = None) -> int:
    """Extend the leases that this person holds; return how many."""
    now = now or clock.now()
    slots = Slot.objects.filter(ticket__in=tickets, annotator=user)
    checks = Check.objects.filter(ticket__in=tickets, person=user)
    renewed = 0
    of_either = Q(pk__in=slots.values("item__campaign")) | Q(pk__in=checks.values("campaign"))
    with transaction.atomic():
        one_by_one(user)  # a claim moves checks before slots: each could wait for the other
        campaigns = list(Campaign.objects.filter(of_either).order_by("pk"))
        for campaign in campaigns:
            until, its_slots, its_checks = lease_end(campaign, now), slots, checks
            if len(campaigns) > 1:
                its_slots, its_checks = slots.filter(_in(campaign)), checks.filter(campaign=campaign)
            # both moves, by the same statement, so that the time tells nobody which of their questions are checks
            renewed += move_slots(its_slots, "renew", leased_until=until)
            renewed += move_checks(its_checks, "renew", leased_until=until)
    return renewed


def release(user: User, tickets: Collection[UUID]) -> int:
    """Give questions back unanswered; return how many.

    Questions that this person does not hold, or has answered, stay as they are.
    """
    slots = Slot.objects.filter(ticket__in=tickets, annotator=user)
    return _release(user, slots, Check.objects.filter(ticket__in=tickets, person=user))


def release_all(user: User, campaign: Campaign | None = None) -> int:
    """Give back all that a person holds (in one campaign), because they leave or lose access; return how many."""
    slots, checks = Slot.objects.filter(annotator=user), Check.objects.filter(person=user)
    if campaign is not None:
        slots, checks = slots.filter(_in(campaign)), checks.filter(campaign=campaign)
    return _release(user, slots, checks)


@transaction.atomic
def _release(user: User, slots: QuerySet[Slot], checks: QuerySet[Check]) -> int:
    one_by_one(user)  # a claim between the two would show gold alone
    beside = _beside_own(user, checks)
    released = release_slots(slots)  # slots before checks, as others lock them
    for pk, slot in beside.items():
        Check.objects.filter(pk=pk).update(beside=slot)
    return released + move_checks(checks, "release", leased_until=None)


def _beside_own(user: User, checks: QuerySet[Check]) -> dict[int, Slot | None]:
    """Return another slot for gold that this person holds, by check, where somebody has taken the one beside it.

    Otherwise it would be lost at the moment when it is given back. Their own slots come first, then free ones.
    """
    found: dict[int, Slot | None] = {}
    gone = Q(beside__annotator__isnull=False) & ~Q(beside__annotator=user)
    for check in checks.filter(gone, state=SlotState.LEASED).select_related("beside__item"):
        assert check.beside is not None
        group, campaign = check.beside.item.group, check.campaign_id
        slots = Slot.objects.filter(item__campaign=campaign, item__group=group, number__in=PLACES).select_related(
            "item"
        )
        own = slots.filter(annotator=user).exclude(state=SlotState.WITHDRAWN)
        near = min(
            list(own) or list(slots.filter(state=SlotState.FREE)),
            key=lambda slot: (abs(slot.item.order - check.order), slot.number),
            default=None,
        )
        found[check.pk] = near
    return found


def held_slots(campaign: Campaign, user: User) -> QuerySet[Slot]:
    """Return the slots of every number that this person holds."""
    return _held(campaign.pk, user.pk)


def _held(campaign: int, annotator: int) -> QuerySet[Slot]:
    return Slot.objects.filter(annotator=annotator, state=SlotState.LEASED, item__campaign=campaign)


def slots_in_hand(campaign: Campaign, user: User, numbers: Collection[int]) -> list[Slot]:
    """Return the slots with these numbers that this person holds, in the order of the campaign."""
    held = [slot for slot in _IN_HAND(campaign=campaign.pk, annotator=user.pk) if slot.number in numbers]
    return sorted(held, key=lambda slot: slot.item.order)


def _checks_in_hand(campaign: int, person: int) -> Subquery:
    """Return the sum of the ids of the checks that a person holds, or NULL: as of the moment of the query around it."""
    held = Check.objects.order_by().filter(campaign=campaign, person=person, state=SlotState.LEASED)
    return Subquery(held.values("person").annotate(sum=Sum("pk")).values("sum"))


# not sorted: asked to sort, SQLite walks all items of the campaign in their order
_IN_HAND = Fixed(
    lambda campaign, annotator: (
        _held(campaign, annotator)
        .select_related("item__triple", "template")
        .annotate(checks=_checks_in_hand(campaign, annotator))
        .order_by()
    )
)


def by_template(campaign: Campaign, places: Iterable[Slot | Check]) -> Iterator[tuple[QuestionTemplate, list[int]]]:
    """Yield each template that is shown now, with the ids of the slots or checks that it asks about."""
    by_relation: dict[int, list[int]] = {}
    for place in places:
        by_relation.setdefault(place.asked.triple.relation, []).append(place.pk)
    templates = newest_templates(campaign, by_relation.keys()) if by_relation else {}
    for relation, ids in by_relation.items():
        yield templates[relation], ids


def lease_end(campaign: Campaign, now: datetime) -> datetime:
    return now + timedelta(minutes=campaign.lease_minutes)


def _runs_long(campaign: Campaign, slot: Slot, now: datetime) -> bool:
    """Return whether nine tenths of a lease are left, so that it need not be renewed yet."""
    return slot.leased_until is not None and slot.leased_until - now > timedelta(minutes=campaign.lease_minutes) * 0.9


def _in(campaign: Campaign) -> Exists:
    return Exists(Item.objects.filter(pk=OuterRef("item"), campaign=campaign))


def one_by_one(user: User) -> None:
    """Wait for other claims and withdrawals of this person.

    At the same moment each claim would fill their hand, and each withdrawal count the same labels. Whoever takes a
    role away waits here too, so that it sees what a claim under way has leased.
    """
    list(User.objects.select_for_update(no_key=True).filter(pk=user.pk).values_list("pk"))


def _is_member(campaign: Campaign | int, user: User | int, **role: str) -> Exists:
    """Ask within the transaction whether the person still works here; they may have left since the request began."""
    return Exists(Membership.objects.filter(campaign=campaign, person=user, person__is_active=True, **role))


def _renew_held(campaign: Campaign, user: User, numbers: Iterable[int], now: datetime) -> int:
    """Renew the leases of a person; an expired one that nobody took is still theirs."""
    mine = Slot.objects.filter(_in(campaign), annotator=user, number__in=numbers)
    return move_slots(mine, "renew", leased_until=lease_end(campaign, now))


def _locked(slots: QuerySet[Slot], wait: bool) -> QuerySet[Slot]:
    """Lock rows where the database can; SQLite has one writer at a time (transaction_mode IMMEDIATE)."""
    return slots.select_for_update(skip_locked=not wait, no_key=True, of=("self",))


def _take_groups(
    campaign: Campaign, user: User, wanted: int, room: int, alone: Alone, now: datetime, wait: bool
) -> Taken:
    """Lease whole groups until `wanted` are taken, with what is the person's alone."""
    taken = Taken()
    passed: list[int] = []
    while taken.number < wanted:
        if alone.returns:
            group = _next_with(campaign, user, alone.returns.values(), passed, now)
        elif passed:
            waiting = waiting_items(campaign, user, now=now)
            group = _next_group(campaign.pk, waiting.exclude(group__in=passed), user.pk).first()
        else:
            group = _NEXT_GROUP.first(campaign=campaign.pk, person=user.pk, now=now)
        if group is None:
            break
        before = list(alone.ahead(group))
        taken |= Taken(alone=frozenset(before[: wanted - taken.number]))
        if taken.number >= wanted:
            break
        passed.append(group)
        back = [pk for pk, item in alone.returns.items() if item.group == group and pk not in before]
        taken |= _take_group(campaign, user, group, back, room - taken.number, alone, now, wait)
        if wait and taken.slots:
            break  # a claim that waits must hold nothing that others wait for
    return taken


def _next_group(
    campaign: int, waiting: QuerySet[Item], person: int, places: Collection[int] = ()
) -> QuerySet[User, int | None]:
    """Return the next group to offer: of an item assigned to this person, then of one that somebody else has labelled,
    or else in the random order.

    The first labeller is part of the index, so a claim skips all items that this person has labelled, however many;
    but for those in `places`.
    """
    nobody = waiting.filter(started_by=None)
    if places:
        nobody = nobody | waiting.filter(started_by=person, pk__in=places)
    assigned = Item.assigned_to.through.objects.filter(user=person).values("item")
    first = (
        waiting.filter(pk__in=assigned).order_by("order"),
        waiting.filter(started_by__gt=person).order_by("started_by", "order"),
        waiting.filter(started_by__lt=person).order_by("started_by", "order"),
        nobody.order_by("order"),
    )
    # one query: the database looks for each only where the one before it found none
    group = Coalesce(*(Subquery(items.values("group")[:1]) for items in first))
    return User.objects.filter(_is_member(campaign, person), pk=person).values_list(group, flat=True)


def _next_with(
    campaign: Campaign, user: User, returns: Collection[Item], passed: Collection[int], now: datetime
) -> int | None:
    """Return the next group as `_next_group` does, of those that wait and of the items of `returns`.

    Of these, one that somebody else has labelled after this person counts as begun by the other: so would be one in its
    place that this person has not answered.
    """
    own = [item.pk for item in returns if item.started_by_id == user.pk]
    others = Slot.objects.filter(item__in=own, number__in=PLACES, state=SlotState.ANSWERED).exclude(annotator=user)
    second = dict(others.values_list("item", "annotator"))
    places = {item.pk for item in returns} - second.keys()
    waiting = waiting_items(campaign, user, now=now) | campaign.items.filter(pk__in=places)
    waiting = waiting.exclude(group__in=passed)
    group = _next_group(campaign.pk, waiting, user.pk, places).first()
    begun = {item.pk: item for item in returns if item.pk in second and item.group not in passed}
    if not begun or (group is None and not campaign.members.filter(person=user).exists()):
        return group
    items = [*begun.values(), *([] if group is None else waiting.filter(group=group))]
    given = Item.assigned_to.through.objects.filter(user=user, item__in=items)
    assigned = set(given.values_list("item", flat=True))

    def place(item: Item) -> tuple[int, int, int]:
        by = second.get(item.pk, item.started_by_id)
        if item.pk in assigned:
            return 0, 0, item.order
        if by is None or by == user.pk:
            return 3, 0, item.order
        return (1 if by > user.pk else 2), by, item.order

    return min(items, key=place).group


_NEXT_GROUP = Fixed(
    lambda campaign, person, now: _next_group(campaign, waiting_items(campaign, person, now=now), person)
)


def _take_disputes(
    campaign: Campaign,
    user: User,
    waiting: QuerySet[Slot],
    wish: list[int],
    wanted: int,
    room: int,
    now: datetime,
    wait: bool,
) -> None:
    """Take the wished disputes, then the most disputed until `wanted` are taken; with each the others of its question.

    Not more than `room` are taken.
    """
    taken: set[int] = set()
    passed: list[int] = []
    while (wish or len(taken) < min(wanted, room)) and not (wait and taken):
        left = waiting.exclude(pk__in=passed)
        first = wish or list(most_disputed(left).values_list("pk", flat=True)[: wanted - len(taken)])
        if not first:
            break
        wish = []
        groups = list(Item.objects.filter(slots__in=first).values_list("group", flat=True))
        others = left.filter(item__group__in=groups).exclude(pk__in=first).order_by("pk")
        first = [*first, *others.values_list("pk", flat=True)][: room - len(taken)]
        passed += first
        # locked by id alone: the order counts rows, and a query that aggregates cannot lock
        rows = Slot.objects.filter(claimable(now), pk__in=first).select_related("item__triple").order_by("pk")
        taken |= _lease(campaign, user, list(_locked(rows, wait)), now)
    items = Slot.objects.filter(pk__in=taken).values_list("item", flat=True) if taken else []
    Item.seen_by.through.objects.bulk_create(
        (Item.seen_by.through(item_id=item, user_id=user.pk) for item in items), ignore_conflicts=True
    )


def free_places(campaign: int, person: int, group: int, now: datetime) -> QuerySet[Slot]:
    """Return the slots of a group that this person could take."""
    items = not_seen_by(Item.objects.filter(campaign=campaign, group=group, state=ItemState.OPEN), person)
    return Slot.objects.filter(claimable(now), item__in=items, number__in=PLACES)


def _take_group(
    campaign: Campaign,
    user: User,
    group: int,
    back: Collection[int],
    room: int,
    alone: Alone,
    now: datetime,
    wait: bool,
) -> Taken:
    places: dict[int, Slot] = {}
    for slot in _FREE[wait](campaign=campaign.pk, person=user.pk, group=group, now=now):
        places.setdefault(slot.item_id, slot)
    slots, mine = alone.among(list(places.values()), back, room)
    if slots:
        _lose_gold(campaign, user, slots, now, whole=len(slots) == len(places))
    return Taken(frozenset(_lease(campaign, user, slots, now)), frozenset(mine))


_FREE = {
    wait: Fixed(
        lambda campaign, person, group, now, wait=wait: _locked(
            free_places(campaign, person, group, now).select_related("item__triple").order_by("item__order", "number"),
            wait,
        )
    )
    for wait in (False, True)
}


def _lose_gold(campaign: Campaign, user: User, slots: list[Slot], now: datetime, *, whole: bool) -> None:
    """Take from others the gold beside `slots` of one group, which `user` takes, as an item there would go: what
    they gave back, and what they hold and whose lease is over.

    `whole`: `user` takes all that is free, so that an item after the last of `slots` would go too.
    """
    taken = {slot.item_id: slot for slot in slots}
    golds = campaign.golds.order_by().filter(**question_of(slots[0].item).lookups())
    had = Q(state=SlotState.FREE, template__isnull=False) | Q(state=SlotState.LEASED, leased_until__lt=now)
    theirs = Check.objects.filter(had, gold__in=golds.values("pk")).exclude(person=user).select_related("beside__item")
    for check in theirs:
        slot = None if check.is_lost else _slot_of_gold(check, user, taken, now, whole)
        if slot is not None:
            slot = _lost_with(check, slot, taken, now)
            mine = Check.objects.filter(pk=check.pk)
            if check.state == SlotState.FREE or move_checks(mine, "release", leased_until=None):
                mine.filter(state=SlotState.FREE).update(beside=slot, number=None)


def _lost_with(check: Check, slot: Slot, taken: Mapping[int, Slot], now: datetime) -> Slot:
    """Return this slot, or the nearest one taken whose item the person of this gold has not answered and doesn't hold.

    Beside an item that they kept it would never come again, but an item in its place would.
    """
    own = Slot.objects.filter(item__in=list(taken), annotator=check.person_id, number__in=PLACES)
    kept = set(own.exclude(claimable(now)).values_list("item", flat=True))
    lost = [other for item, other in taken.items() if item not in kept]
    if slot.item_id not in kept or not lost:
        return slot
    return min(lost, key=lambda other: abs(other.item.order - slot.item.order))


def _slot_of_gold(check: Check, user: User, taken: Mapping[int, Slot], now: datetime, whole: bool) -> Slot | None:
    """Return which of the slots that are taken, by item, an item in the place of this gold would go with; or None."""
    beside, order = check.beside, check.order
    if beside is not None:
        if beside.item.group not in {slot.item.group for slot in taken.values()}:
            return None  # another batch asks the same question
        if (slot := taken.get(beside.item_id)) is not None:
            return slot if slot.number >= check.place else None  # of two free slots, the first is taken
        is_over = beside.state == SlotState.LEASED and beside.leased_until is not None and beside.leased_until < now
        if beside.state == SlotState.FREE or is_over:
            return None  # it could have been taken
        if Slot.objects.filter(item=beside.item_id, annotator=user).exists():
            return None  # they had the other place of both
        order = beside.item.order
    nearest = min(taken.values(), key=lambda slot: abs(slot.item.order - order))
    return nearest if whole or order <= max(slot.item.order for slot in taken.values()) else None


def _lease(campaign: Campaign, user: User, slots: list[Slot], now: datetime) -> set[int]:
    """Lease locked slots and return the ids of those that were taken.

    One UPDATE for each question template, which is remembered with the slot.
    """
    until = lease_end(campaign, now)
    taken: set[int] = set()
    for template, ids in by_template(campaign, slots):
        free = Slot.objects.filter(claimable(now), pk__in=ids)
        if move_slots(free, "claim", annotator=user, leased_until=until, template=template) == len(ids):
            taken.update(ids)
        else:  # without row locks another claim may take some of them before the UPDATE
            taken.update(
                Slot.objects.filter(pk__in=ids, annotator=user, state=SlotState.LEASED).values_list("pk", flat=True)
            )
    return taken
