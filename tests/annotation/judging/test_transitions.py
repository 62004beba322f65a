"""The tables of moves, every pair of states: a move from elsewhere changes nothing and says so."""

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.enums import CampaignState, ItemState, SlotState
from annotation.judging.transitions import (
    CAMPAIGN_MOVES,
    CHECK_MOVES,
    ITEM_MOVES,
    SLOT_MOVES,
    move_campaign,
    move_checks,
    move_item,
    move_slots,
)
from annotation.models import Campaign, Check, Item, Slot
from tests.annotation.factories import make_check, make_gold

FREE, LEASED, ANSWERED, WITHDRAWN = SlotState.FREE, SlotState.LEASED, SlotState.ANSWERED, SlotState.WITHDRAWN
SLOTS = {
    "claim": {FREE: LEASED, LEASED: LEASED},
    "renew": {LEASED: LEASED},
    "release": {LEASED: FREE},
    "answer": {LEASED: ANSWERED},
    "answer late": {FREE: ANSWERED},
    "withdraw": {ANSWERED: WITHDRAWN},
}
CHECKS = {
    "claim": {FREE: LEASED}, "renew": {LEASED: LEASED}, "release": {LEASED: FREE}, "replace": {FREE: WITHDRAWN},
    "bring back": {WITHDRAWN: FREE}, "answer": {FREE: ANSWERED, LEASED: ANSWERED},
}  # fmt: skip


@pytest.fixture
def slot(world) -> Slot:
    return Slot.objects.first()


def test_tables_are_the_ones_that_are_tested() -> None:
    assert SLOTS.keys() == SLOT_MOVES.keys() and CHECKS.keys() == CHECK_MOVES.keys()
    assert ITEM_MOVES.keys() == set(ItemState) and CAMPAIGN_MOVES.keys() == set(CampaignState)


@pytest.mark.parametrize("move", SLOTS)
@pytest.mark.parametrize("before", list(SlotState))
def test_slot_moves_from_the_states_of_its_table_only(world, slot, move, before) -> None:
    Slot.objects.filter(pk=slot.pk).update(state=before, annotator=None if before == FREE else world.ann)
    after = SLOTS[move].get(before)
    changes = {"annotator": None if after == FREE else world.ann} if after else {}
    assert move_slots(Slot.objects.filter(pk=slot.pk), move, **changes) == (after is not None)
    slot.refresh_from_db()
    assert slot.state == (after or before)


@pytest.mark.parametrize("move", CHECKS)
@pytest.mark.parametrize("before", list(SlotState))
def test_check_moves_from_the_states_of_its_table_only(world, move, before) -> None:
    check = make_check(world, world.ann, gold=make_gold(world, 5))
    Check.objects.update(state=before)
    after = CHECKS[move].get(before)
    assert move_checks(Check.objects.filter(pk=check.pk), move) == (after is not None)
    check.refresh_from_db()
    assert check.state == (after or before)


def test_only_slots_that_may_move_are_moved_and_counted(world) -> None:
    Slot.objects.filter(number=1).update(state=LEASED, annotator=world.ann)
    assert move_slots(Slot.objects.all(), "release", annotator=None) == 6
    assert set(Slot.objects.values_list("state", flat=True)) == {FREE}


@pytest.mark.parametrize("table", ["item__campaign", "annotator__username", "labels__answer"])
def test_move_that_asks_of_a_joined_table_is_refused(world, slot, table) -> None:
    """The database would not ask that again of a row that it had to wait for: see judging/transitions.py."""
    value = {"item__campaign": world.campaign, "annotator__username": "ann", "labels__answer": "Y"}[table]
    with pytest.raises(RuntimeError, match="slots alone"):
        move_slots(Slot.objects.filter(**{table: value}), "claim", annotator=world.ann)
    slot.refresh_from_db()
    assert slot.state == FREE


@pytest.mark.parametrize("before", list(ItemState))
@pytest.mark.parametrize("after", list(ItemState))
def test_item_moves_by_its_table_only(world, before, after) -> None:
    item = Item.objects.first()
    Item.objects.filter(pk=item.pk).update(state=before)
    item.refresh_from_db()
    if after != before and after not in ITEM_MOVES[before]:
        with pytest.raises(RuntimeError, match="is no move"):
            move_item(item, after)
        after = before
    else:
        move_item(item, after)
    item.refresh_from_db()
    assert item.state == after


def test_item_that_was_moved_by_somebody_else_is_not_moved(world) -> None:
    item = Item.objects.first()
    Item.objects.filter(pk=item.pk).update(state=ItemState.SETTLED)
    with pytest.raises(RuntimeError, match="moved by somebody else"):
        move_item(item, ItemState.DISPUTED)
    item.refresh_from_db()
    assert item.state == ItemState.SETTLED


@pytest.mark.parametrize("before", list(CampaignState))
@pytest.mark.parametrize("after", list(CampaignState))
def test_campaign_moves_by_its_table_only(world, before, after) -> None:
    Campaign.objects.update(state=before)
    allowed = after in CAMPAIGN_MOVES[before]
    assert move_campaign(world.campaign, after) is allowed
    assert world.campaign.state == (after if allowed else before)


@pytest.mark.parametrize(
    "nonsense", [{"state": "free"}, {"state": "leased", "annotator": None}, {"state": "lost"}, {"number": 4}]
)
def test_database_refuses_a_slot_that_cannot_be(world, slot, nonsense) -> None:
    Slot.objects.filter(pk=slot.pk).update(state="leased", annotator=world.ann, leased_until=timezone.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        Slot.objects.filter(pk=slot.pk).update(**nonsense)


def test_database_refuses_a_third_live_slot_of_a_number(world, slot) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Slot.objects.create(item=slot.item, number=slot.number)
    Slot.objects.filter(pk=slot.pk).update(state="withdrawn", annotator=world.ann)
    assert Slot.objects.create(item=slot.item, number=slot.number).pk
