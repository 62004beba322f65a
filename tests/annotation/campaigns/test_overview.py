from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.campaigns.overview import disputes_short_of_people, items_short_of_people, outlook, overview, pace
from annotation.labelling.withdraw import return_item, withdraw_labels
from annotation.models import Item, Label, Membership
from annotation.people.accounts import add_person, take_role
from tests.annotation.factories import answer, label_item, slot_for, windows_closed


def first(world) -> Item:
    return world.campaign.items.first()


def test_figures_count_what_is_left_without_withdrawn_slots(world) -> None:
    one, two, three = world.campaign.items.all()[:3]
    label_item(world, one, ann="Y", ben="Y")
    label_item(world, two, ann="Y", ben="N")
    label_item(world, three, ann="Y")
    withdraw_labels(world.campaign, world.ann)
    found = overview(world.campaign)
    assert (found.items, found.settled, found.disputed, found.undecided) == (6, 0, 0, 0)
    assert (found.places, found.labels, found.left, found.percent) == (12, 2, 10, 16)


def test_work_left_rests_on_the_median_so_that_one_absurd_time_changes_nothing(world) -> None:
    for item, ms in zip(world.campaign.items.all()[:5], (4000, 6000, 5000, 86_400_000, 0), strict=True):
        answer(world.ann, slot_for(world.campaign, world.ann, item), active_ms=ms)
    assert pace(world.campaign) == 5500
    assert overview(world.campaign).seconds_left == 7 * 5.5


def test_work_left_is_unknown_before_the_first_label(world) -> None:
    found = overview(world.campaign)
    assert (found.pace_ms, found.seconds_left, found.pace_seconds) == (None, None, None)


def test_time_of_adjudicators_is_no_part_of_the_pace(world) -> None:
    label_item(world, first(world), ann="Y", ben="N")
    windows_closed(first(world))
    for label, ms in zip(Label.objects.order_by("pk"), (2000, 4000), strict=True):
        Label.objects.filter(pk=label.pk).update(active_ms=ms)
    from annotation.labelling.queue import claim_disputed

    answer(world.ada, claim_disputed(world.campaign, world.ada)[0], active_ms=90_000)
    assert pace(world.campaign) == 3000


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
    from annotation.labelling.queue import claim_disputed

    label_item(world, first(world), ann="Y", ben="N")
    later = timezone.now() + timedelta(hours=1)
    assert len(claim_disputed(world.campaign, world.ada, now=later)) == 1
    assert outlook(world.campaign).stuck_disputes == 0


@pytest.mark.parametrize("labelled", [0, 3])
def test_queries_do_not_grow(world, labelled, django_assert_num_queries) -> None:
    for item in world.campaign.items.all()[:labelled]:
        label_item(world, item, ann="Y", ben="N")
    with django_assert_num_queries(5):
        overview(world.campaign)
    with django_assert_num_queries(3):
        outlook(world.campaign)


def test_triples_that_no_batch_has_brought_are_counted_apart(world) -> None:
    world.campaign.items.first().delete()
    found = overview(world.campaign)
    assert (found.items, found.places, found.unreleased) == (5, 10, 1)
