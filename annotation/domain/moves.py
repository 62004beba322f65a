"""The allowed moves of slots and items, a table each. A move is a conditional UPDATE, its rows counted."""

from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from annotation.enums import ItemState, SlotState
from annotation.models import Item, Slot

# move: from which states, to which state
SLOT_MOVES: dict[str, tuple[tuple[SlotState, ...], SlotState]] = {
    "claim": ((SlotState.FREE, SlotState.LEASED), SlotState.LEASED),  # leased: only when its lease is over
    "renew": ((SlotState.LEASED,), SlotState.LEASED),
    "release": ((SlotState.LEASED,), SlotState.FREE),
    "answer": ((SlotState.LEASED,), SlotState.ANSWERED),
    "answer late": ((SlotState.FREE,), SlotState.ANSWERED),
}

ITEM_MOVES: dict[ItemState, tuple[ItemState, ...]] = {
    ItemState.OPEN: (ItemState.SETTLED, ItemState.DISPUTED),
    ItemState.DISPUTED: (ItemState.SETTLED, ItemState.UNDECIDED),
    # an own label may be changed after the item was settled: see domain/label.py
    ItemState.SETTLED: (ItemState.DISPUTED, ItemState.UNDECIDED),
    ItemState.UNDECIDED: (ItemState.SETTLED,),
}


def claimable(now: datetime) -> Q:
    """Free, or leased by somebody whose time is over."""
    return Q(state=SlotState.FREE) | Q(state=SlotState.LEASED, leased_until__lt=now)


def move_slots(slots: QuerySet[Slot], move: str, **changes: Any) -> int:
    """Make the move on those of `slots` that may make it; how many did."""
    before, after = SLOT_MOVES[move]
    return slots.filter(state__in=before).update(state=after, **changes)


def move_item(item: Item, after: ItemState, **changes: Any) -> None:
    """Move an item that this transaction has locked."""
    if after == item.state:
        return
    before = ItemState(item.state)
    if after not in ITEM_MOVES[before]:
        raise RuntimeError(f"item {item.pk}: {before} to {after} is no move")
    if Item.objects.filter(pk=item.pk, state=before).update(state=after, **changes) != 1:
        raise RuntimeError(f"item {item.pk} was moved by somebody else while it was locked")
    item.state = after
