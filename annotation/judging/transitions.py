"""Make the allowed moves of campaigns, slots, checks and items: conditional UPDATEs with counted rows."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from annotation.enums import CampaignState, ItemState, SlotState
from annotation.models import Campaign, Check, Item, Slot
from core.fixed import FixedUpdate

# move: from which states, to which state
SLOT_MOVES: dict[str, tuple[tuple[SlotState, ...], SlotState]] = {
    "claim": ((SlotState.FREE, SlotState.LEASED), SlotState.LEASED),  # leased ones only if the lease is over
    "renew": ((SlotState.LEASED,), SlotState.LEASED),
    "release": ((SlotState.LEASED,), SlotState.FREE),
    "answer": ((SlotState.LEASED,), SlotState.ANSWERED),
    "answer late": ((SlotState.FREE,), SlotState.ANSWERED),
    "withdraw": ((SlotState.ANSWERED,), SlotState.WITHDRAWN),
}
# a check belongs to one person from the beginning: nobody takes it. Gold is given back when others take what is beside
# it, and replaced by another check where an item would come again by its other slot; that one is brought back where an
# item would come again by the first
CHECK_MOVES: dict[str, tuple[tuple[SlotState, ...], SlotState]] = {
    "claim": ((SlotState.FREE,), SlotState.LEASED),
    "renew": ((SlotState.LEASED,), SlotState.LEASED),
    "release": ((SlotState.LEASED,), SlotState.FREE),
    "replace": ((SlotState.FREE,), SlotState.WITHDRAWN),
    "bring back": ((SlotState.WITHDRAWN,), SlotState.FREE),
    "answer": ((SlotState.FREE, SlotState.LEASED), SlotState.ANSWERED),
}

ITEM_MOVES: dict[ItemState, tuple[ItemState, ...]] = {
    ItemState.OPEN: (ItemState.SETTLED, ItemState.DISPUTED, ItemState.UNDECIDED),
    ItemState.DISPUTED: (ItemState.SETTLED, ItemState.UNDECIDED, ItemState.OPEN),
    # an own label may be changed after the item was settled: see labelling/submit.py; labels may be withdrawn
    # and judgements reopened: see labelling/withdraw.py
    ItemState.SETTLED: (ItemState.DISPUTED, ItemState.UNDECIDED, ItemState.OPEN),
    ItemState.UNDECIDED: (ItemState.SETTLED, ItemState.DISPUTED, ItemState.OPEN),
}

CAMPAIGN_MOVES: dict[CampaignState, tuple[CampaignState, ...]] = {
    CampaignState.PREPARING: (),  # open_campaign opens it, with its first triples
    CampaignState.OPEN: (CampaignState.PAUSED, CampaignState.CLOSED),
    CampaignState.PAUSED: (CampaignState.OPEN, CampaignState.CLOSED),
    CampaignState.CLOSED: (CampaignState.OPEN,),
}


def claimable(now: datetime) -> Q:
    """Match slots that are free or whose lease is over."""
    return Q(state=SlotState.FREE) | Q(state=SlotState.LEASED, leased_until__lt=now)


def move_slots(slots: QuerySet[Slot], move: str, **changes: Any) -> int:
    """Make the move on those of `slots` that allow it; return how many did.

    Rows are locked in the order of their ids, so that two moves of the same slots wait for each other without a
    deadlock. `slots` must filter by columns of slots only: the database would not check a joined table again for a row
    that it had to wait for.
    """
    before, after = SLOT_MOVES[move]
    if len([alias for alias, uses in slots.query.alias_refcount.items() if uses]) > 1:
        raise RuntimeError("a move is conditional on slots alone: ask of other tables by Exists")
    return _move(slots, before, after, changes)


def release_slots(slots: QuerySet[Slot]) -> int:
    """Give back leased slots unanswered; return how many there were."""
    return move_slots(slots, "release", annotator=None, leased_until=None)


def move_checks(checks: QuerySet[Check], move: str, **changes: Any) -> int:
    """Make the move on those of `checks` that allow it, as `move_slots` does: in the same time; return how many did."""
    before, after = CHECK_MOVES[move]
    return _move(checks, before, after, changes)


def answer_slot(slot: int, annotator: int) -> bool:
    """Make the move of a slot that this person holds, in a transaction; return whether they still held it."""
    return _ANSWER_SLOT(slot=slot, annotator=annotator) == 1


def answer_check(check: int) -> bool:
    """Make the move of a check, as `answer_slot` does."""
    return _ANSWER_CHECK(check=check) == 1


_ANSWER_SLOT = FixedUpdate(
    lambda slot, annotator: _of_move(
        Slot.objects.filter(pk=slot, annotator=annotator), *SLOT_MOVES["answer"], {"leased_until": None}
    )
)
_ANSWER_CHECK = FixedUpdate(
    lambda check: _of_move(Check.objects.filter(pk=check), *CHECK_MOVES["answer"], {"leased_until": None})
)


def _move(rows: QuerySet[Any], before: Collection[str], after: str, changes: dict[str, Any]) -> int:
    moved, changes = _of_move(rows, before, after, changes)
    with transaction.atomic(savepoint=False):
        return moved.update(**changes)


def _of_move(
    rows: QuerySet[Any], before: Collection[str], after: str, changes: dict[str, Any]
) -> tuple[QuerySet[Any], dict[str, Any]]:
    """Return what locks and changes the rows in one of the states `before`; the same statement for slots and checks."""
    may = rows.filter(state__in=before).order_by("pk").select_for_update(no_key=True)
    return rows.model._default_manager.filter(pk__in=may.values("pk")), {"state": after, **changes}


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


def move_campaign(campaign: Campaign, after: CampaignState) -> bool:
    """Pause, close or open; return whether this call changed the state."""
    before = [state for state, moves in CAMPAIGN_MOVES.items() if after in moves]
    moved = Campaign.objects.filter(pk=campaign.pk, state__in=before).update(state=after) == 1
    campaign.refresh_from_db(fields=["state"])
    return moved
