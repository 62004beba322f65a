"""Who can finish a campaign, and what nobody is left for: now, and after labels are withdrawn."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.campaigns.outlook import (
    AfterWithdrawal,
    after_withdrawal,
    disputes_short_of_people,
    items_short_of_people,
    outlook,
)
from annotation.labelling.queue import claim_disputed
from annotation.labelling.withdraw import return_item, withdraw_labels
from annotation.models import Item, Membership
from annotation.people.accounts import add_person, take_role
from tests.annotation.factories import answer, label_and_release, label_item, slot_for, windows_closed


def first(world) -> Item:
    return world.campaign.items.first()


def test_campaign_with_people_for_every_item_is_not_stuck(world) -> None:
    label_item(world, first(world), ann="Y")
    found = outlook(world.campaign)
    assert (found.annotators, found.adjudicators, found.stuck, found.stuck_disputes) == (4, 1, 0, 0)


def test_item_whose_labels_were_withdrawn_is_stuck_when_nobody_else_is_left(world) -> None:
    one, two = world.campaign.items.all()[:2]
    label_item(world, one, ann="Y", ben="Y")
    label_item(world, two, ann="Y")
    for person in (world.cleo, world.ada):
        Membership.objects.filter(person=person).delete()
    assert outlook(world.campaign).stuck == 0
    withdraw_labels(world.campaign, world.ann)
    # one has ben's label and nobody for the other; two has had ann, so that ben alone is left for two labels
    assert set(items_short_of_people(world.campaign, [world.ann.pk, world.ben.pk])) == {one, two}
    assert outlook(world.campaign).stuck == 2
    add_person("dora", "annotator", world.campaign)
    assert outlook(world.campaign).stuck == 0


def test_question_in_the_hands_of_a_member_is_not_stuck(world) -> None:
    item = first(world)
    Membership.objects.exclude(person__in=[world.ann, world.ben]).delete()
    label_item(world, item, ann="Y")
    slot_for(world.campaign, world.ben, item)
    assert outlook(world.campaign).stuck == 0


def test_who_saw_labels_of_an_item_is_not_left_for_it(world) -> None:
    item = first(world)
    label_item(world, item, ann="Y", ben="N")
    item.seen_by.add(world.ada)
    return_item(item, by=world.ada)
    assert outlook(world.campaign).stuck == 1  # ann and ben had it, ada saw their labels: cleo alone is left
    item.seen_by.clear()
    assert outlook(world.campaign).stuck == 0
    item.seen_by.add(world.ann)  # who labelled it as well: counted once
    assert outlook(world.campaign).stuck == 0


@pytest.mark.parametrize("gone", ["switched off", "no role", "manager now"])
def test_people_who_cannot_label_are_not_counted(world, gone) -> None:
    if gone == "switched off":
        world.cleo.is_active = False
        world.cleo.save()
    elif gone == "no role":
        take_role(world.cleo, "annotator", world.campaign)
    else:
        world.cleo.groups.add(world.manager.groups.get())
    assert outlook(world.campaign).annotators == 3


def test_every_open_item_is_stuck_with_one_person(world) -> None:
    Membership.objects.exclude(person=world.ann).delete()
    assert outlook(world.campaign).stuck == 6


def test_dispute_that_every_adjudicator_labelled_is_stuck(world) -> None:
    item = first(world)
    label_item(world, item, ada="Y", ben="N")
    assert outlook(world.campaign).stuck_disputes == 1
    assert list(disputes_short_of_people(world.campaign, [world.ada.pk])) == [item]
    add_person("eva", "adjudicator", world.campaign)
    assert outlook(world.campaign).stuck_disputes == 0


def test_dispute_in_the_hands_of_its_adjudicator_is_not_stuck(world) -> None:
    label_item(world, first(world), ann="Y", ben="N")
    later = timezone.now() + timedelta(hours=1)
    assert len(claim_disputed(world.campaign, world.ada, now=later)) == 1
    assert outlook(world.campaign).stuck_disputes == 0


@pytest.mark.parametrize("labelled", [0, 3])
def test_queries_do_not_grow(world, labelled, django_assert_num_queries) -> None:
    for item in world.campaign.items.all()[:labelled]:
        label_item(world, item, ann="Y", ben="N")
    with django_assert_num_queries(3):
        outlook(world.campaign)
    with django_assert_num_queries(9):
        after_withdrawal(world.campaign, world.ann)


# -- after a withdrawal ----------------------------------------------------------------------------------------


def test_withdrawn_items_are_counted_for_everybody_who_never_had_them(world) -> None:
    one, two, three = world.campaign.items.all()[:3]
    label_and_release(world, one, ann="Y", ben="Y")
    label_and_release(world, two, ann="Y", ben="N")
    label_and_release(world, three, ann="Y")
    two.seen_by.add(world.ada)
    # ben had one and two, ada saw two, cleo had none; no dispute opens again
    assert after_withdrawal(world.campaign, world.ann) == AfterWithdrawal(
        [("cleo", 3), ("ada", 2), ("ben", 1)], short=0, judges=0, short_disputes=0
    )


def test_prediction_is_what_the_outlook_says_after_the_withdrawal(world) -> None:
    one, two, three, four = world.campaign.items.all()[:4]
    label_and_release(world, one, ann="Y", ben="Y")
    label_and_release(world, two, ann="Y", cleo="Y")
    label_and_release(world, three, ann="Y", ben="N")
    label_and_release(world, four, ben="Y", cleo="N")
    take_role(world.ada, "adjudicator", world.campaign)
    take_role(world.cleo, "annotator", world.campaign)
    before = outlook(world.campaign).stuck
    told = after_withdrawal(world.campaign, world.ann)
    withdraw_labels(world.campaign, world.ann)
    # with ann and ben only, the three items of ann want somebody else: two has nobody but ben for one label
    assert (told.able, told.short) == ([("ben", 1)], 2)
    assert outlook(world.campaign).stuck - before == told.short


def test_dispute_of_a_withdrawn_adjudicator_wants_another(world) -> None:
    item = first(world)
    label_item(world, item, ann="Y", ben="N")
    windows_closed(item)
    answer(world.ada, claim_disputed(world.campaign, world.ada)[0], "N")
    assert after_withdrawal(world.campaign, world.ada)[2:] == (0, 1)
    add_person("eve", "adjudicator", world.campaign)
    assert after_withdrawal(world.campaign, world.ada)[2:] == (1, 0)
    withdraw_labels(world.campaign, world.ada)
    assert outlook(world.campaign).stuck_disputes == 0
