import pytest

from annotation.campaigns.overview import overview, pace
from annotation.labelling.withdraw import withdraw_labels
from annotation.models import Item, Label
from pooling.pools.effort import Pace, measured_pace
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
    assert measured_pace() == Pace(5.5, 4)  # of all campaigns of the site
    assert overview(world.campaign).seconds_left == 7 * 5.5


def test_work_left_is_unknown_before_the_first_label(world) -> None:
    found = overview(world.campaign)
    assert (found.pace_ms, found.seconds_left, found.pace_seconds) == (None, None, None)
    assert measured_pace() is None


def test_time_of_adjudicators_is_no_part_of_the_pace(world) -> None:
    label_item(world, first(world), ann="Y", ben="N")
    windows_closed(first(world))
    for label, ms in zip(Label.objects.order_by("pk"), (2000, 4000), strict=True):
        Label.objects.filter(pk=label.pk).update(active_ms=ms)
    from annotation.labelling.queue import claim_disputed

    answer(world.ada, claim_disputed(world.campaign, world.ada)[0], active_ms=90_000)
    assert pace(world.campaign) == 3000


@pytest.mark.parametrize("labelled", [0, 3])
def test_queries_do_not_grow(world, labelled, django_assert_num_queries) -> None:
    for item in world.campaign.items.all()[:labelled]:
        label_item(world, item, ann="Y", ben="N")
    with django_assert_num_queries(5):
        overview(world.campaign)


def test_triples_that_no_batch_has_brought_are_counted_apart(world) -> None:
    world.campaign.items.first().delete()
    found = overview(world.campaign)
    assert (found.items, found.places, found.unreleased) == (5, 10, 1)
