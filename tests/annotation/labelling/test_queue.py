from datetime import timedelta
from uuid import UUID

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.labelling import queue
from annotation.labelling.queue import claim_disputed, release, renew
from annotation.models import Campaign, Item, Slot
from annotation.people.accounts import add_person
from tests.annotation.factories import answer, claim, label_item, slot_for, windows_closed


def later(minutes: int = 16):
    return timezone.now() + timedelta(minutes=minutes)


def held_by(user) -> set[UUID]:
    return set(Slot.objects.filter(annotator=user, state="leased").values_list("ticket", flat=True))


def test_claim_leases_the_first_group_whole_in_its_order(world) -> None:
    slots = claim(world.campaign, world.ann, 2)
    first_group = list(world.campaign.items.filter(group=0).order_by("order").values_list("pk", flat=True))
    assert [slot.item_id for slot in slots] == first_group
    assert {(slot.state, slot.annotator_id) for slot in slots} == {("leased", world.ann.pk)}


def test_claim_again_gives_the_same_leases_renewed(world) -> None:
    first = claim(world.campaign, world.ann, 2)
    again = claim(world.campaign, world.ann, 2, now=later(5))
    assert [slot.pk for slot in again] == [slot.pk for slot in first]
    assert again[0].leased_until - first[0].leased_until > timedelta(minutes=4)


def test_two_people_get_both_slots_and_a_third_gets_the_next_group(world) -> None:
    ann, ben, cleo = (claim(world.campaign, user, 1) for user in (world.ann, world.ben, world.cleo))
    assert [slot.item_id for slot in ann] == [slot.item_id for slot in ben]
    assert {slot.pk for slot in ann}.isdisjoint(slot.pk for slot in ben)
    assert {slot.item.group for slot in cleo} == {1}


def test_item_is_never_offered_to_who_has_a_slot_on_it(world) -> None:
    slots = claim(world.campaign, world.ann, 50)
    assert len(slots) == 6
    for slot in slots:
        answer(world.ann, slot)
    assert claim(world.campaign, world.ann, 50) == []


def test_expired_lease_goes_to_somebody_else_and_not_before(world) -> None:
    mine = claim(world.campaign, world.ann, 1)
    claim(world.campaign, world.ben, 1)
    assert {slot.item.group for slot in claim(world.campaign, world.cleo, 1, now=later(14))} == {1}
    release(world.cleo, held_by(world.cleo))
    taken = claim(world.campaign, world.cleo, 1, now=later(16))
    assert [slot.item_id for slot in taken] == [slot.item_id for slot in mine]


def test_expired_lease_that_nobody_took_is_still_its_holders(world) -> None:
    mine = claim(world.campaign, world.ann, 1)
    assert [slot.pk for slot in claim(world.campaign, world.ann, 1, now=later(60))] == [slot.pk for slot in mine]


def test_unfinished_items_come_first(world) -> None:
    last = world.campaign.items.order_by("-order")[0]
    answer(world.ann, slot_for(world.campaign, world.ann, last))
    release(world.ann, held_by(world.ann))
    assert {slot.item.group for slot in claim(world.campaign, world.ben, 1)} == {last.group}


def test_release_gives_back_own_leases_only(world) -> None:
    ann, ben = claim(world.campaign, world.ann, 1), claim(world.campaign, world.ben, 1)
    ids = [slot.ticket for slot in (*ann, *ben)]
    assert release(world.ann, ids) == 3
    assert held_by(world.ann) == set() and held_by(world.ben) == {slot.ticket for slot in ben}


def test_release_leaves_answered_slots(world) -> None:
    slot = claim(world.campaign, world.ann, 1)[0]
    answer(world.ann, slot)
    assert release(world.ann, [slot.ticket]) == 0
    slot.refresh_from_db()
    assert slot.state == "answered"


def test_renew_lengthens_own_leases_only(world) -> None:
    ann, ben = claim(world.campaign, world.ann, 1), claim(world.campaign, world.ben, 1)
    assert renew(world.ann, [ann[0].ticket, ben[0].ticket], now=later(10)) == 1
    ann[0].refresh_from_db()
    assert ann[0].leased_until > later(24)


@pytest.mark.parametrize("act", [renew, release])
def test_what_a_tab_does_with_leases_waits_for_claims_in_another(world, monkeypatch, act) -> None:
    """A renewal that a claim waited for, and that waited for the claim, ended in an error on PostgreSQL."""
    tickets, acts = [slot.ticket for slot in claim(world.campaign, world.ann, 2)], []
    for name in ("one_by_one", "move_slots", "release_slots", "move_checks"):
        real = getattr(queue, name)
        monkeypatch.setattr(queue, name, lambda *args, n=name, f=real, **more: (acts.append(n), f(*args, **more))[1])
    assert act(world.ann, tickets) == len(tickets)
    assert acts[0] == "one_by_one" and acts[-1] == "move_checks"


def test_closed_campaign_gives_out_nothing_new(world) -> None:
    held = claim(world.campaign, world.ann, 1)
    Campaign.objects.update(state="closed")
    world.campaign.refresh_from_db()
    assert held and claim(world.campaign, world.ann, 50) == claim(world.campaign, world.ben, 1) == []


def test_paused_campaign_gives_out_nothing_new_but_what_is_held(world) -> None:
    held = claim(world.campaign, world.ann, 1)
    Campaign.objects.update(state="paused")
    world.campaign.refresh_from_db()
    assert [s.pk for s in claim(world.campaign, world.ann, 50)] == [s.pk for s in held]
    assert claim(world.campaign, world.ben, 1) == []


def test_database_refuses_a_person_twice_on_an_item(world) -> None:
    first, second = Slot.objects.filter(item=world.campaign.items.first())
    Slot.objects.filter(pk=first.pk).update(state="leased", annotator=world.ann)
    with pytest.raises(IntegrityError), transaction.atomic():
        Slot.objects.filter(pk=second.pk).update(state="leased", annotator=world.ann)


def test_dispute_is_offered_when_both_windows_are_closed(world) -> None:
    item = world.campaign.items.first()
    label_item(world, item, ann="Y", ben="N")
    assert claim_disputed(world.campaign, world.ada) == []
    assert [s.item_id for s in claim_disputed(world.campaign, world.ada, now=later(16))] == [item.pk]


def test_dispute_is_never_offered_to_who_labelled_it(world) -> None:
    item = world.campaign.items.first()
    label_item(world, item, ada="Y", ben="N")
    windows_closed(item)
    assert claim_disputed(world.campaign, world.ada) == []


def disputed(world, items: list[Item]) -> list[UUID]:
    """Make disputes of these items, in this order; return their tickets."""
    for item in items:
        label_item(world, item, ann="Y", ben="N")
        windows_closed(item)
    return [Slot.objects.get(item=item, number=3).ticket for item in items]


def test_oldest_dispute_comes_first_with_the_others_of_its_question(world) -> None:
    items = list(world.campaign.items.order_by("-order"))  # two questions of three
    disputed(world, [items[1], items[4], items[0]])
    assert {s.item_id for s in claim_disputed(world.campaign, world.ada, 1)} == {items[1].pk, items[0].pk}
    assert len(claim_disputed(world.campaign, world.ada, 2)) == 2
    assert len(claim_disputed(world.campaign, world.ada, 3)) == 3


def test_wished_dispute_comes_although_older_ones_wait_and_enough_are_held(world) -> None:
    items = list(world.campaign.items.order_by("order"))
    tickets = disputed(world, [items[0], items[3]])
    assert [s.ticket for s in claim_disputed(world.campaign, world.ada, 1, first=tickets[1])] == [tickets[1]]
    assert len(claim_disputed(world.campaign, world.ada, 1, first=tickets[0])) == 2
    assert len(claim_disputed(world.campaign, world.ada, 1, first=tickets[0])) == 2


def test_wished_dispute_that_another_holds_is_not_given(world) -> None:
    items = list(world.campaign.items.order_by("order"))
    (held, free) = disputed(world, [items[0], items[3]])
    eva = add_person("eva", "adjudicator", world.campaign)[0]
    claim_disputed(world.campaign, eva, 1, first=held)
    assert [s.ticket for s in claim_disputed(world.campaign, world.ada, 1, first=held)] == [free]


def test_queries_of_a_claim_do_not_grow(world, django_assert_num_queries) -> None:
    claim(world.campaign, world.cleo, 1)
    release(world.cleo, held_by(world.cleo))
    with django_assert_num_queries(11):  # two of them a savepoint
        claim(world.campaign, world.ann, 1)
    for slot in claim(world.campaign, world.ann, 1):
        answer(world.ann, slot)
    with django_assert_num_queries(11):
        claim(world.campaign, world.ben, 1)
