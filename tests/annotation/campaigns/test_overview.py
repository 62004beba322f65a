import pytest

from annotation.campaigns.overview import Timed, overview, pace, timed_labels
from annotation.labelling.withdraw import withdraw_labels
from annotation.models import Item, Label
from pooling.pools.effort import ASSUMED_SECONDS, Pace, measured_pace
from tests.annotation.factories import answer, label_item, slot_for, windows_closed
from tests.page import numbers, read


@pytest.fixture
def any_pace(monkeypatch) -> None:
    """One label is enough for a pace."""
    monkeypatch.setattr("annotation.campaigns.overview.FEW", 1)


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
    assert (found.places, found.labels, found.left, found.percent) == (12, 2, 10, 17)


def test_work_left_rests_on_the_median_so_that_one_absurd_time_changes_nothing(world, any_pace) -> None:
    for item, ms in zip(world.campaign.items.all()[:5], (4000, 6000, 5000, 86_400_000, 0), strict=True):
        answer(world.ann, slot_for(world.campaign, world.ann, item), active_ms=ms)
    assert pace(world.campaign) == 5500
    assert measured_pace() == Pace(5.5, 4)  # of all campaigns of the site
    assert overview(world.campaign).seconds_left == 7 * 5.5


def test_pace_is_assumed_until_people_have_given_enough_labels_that_stay(world, manager, monkeypatch) -> None:
    monkeypatch.setattr("annotation.campaigns.overview.FEW", 3)
    for number, item in enumerate(world.campaign.items.all()[:3]):
        found = overview(world.campaign)
        assert (found.pace_ms, found.seconds_left) == (None, (12 - number) * ASSUMED_SECONDS)
        assert measured_pace() is None
        assert read(manager.get("/pools/p1/campaign")).one("pace")["data-known"] == "no"
        answer(world.ann, slot_for(world.campaign, world.ann, item), active_ms=2600)
    assert overview(world.campaign).seconds_left == 9 * 2.6
    assert read(manager.get("/pools/p1/campaign")).one("pace")["data-known"] == "yes"
    withdraw_labels(world.campaign, world.ann)
    assert overview(world.campaign).pace_ms is None


def test_labels_without_a_measured_time_are_counted_by_the_reason(world, manager) -> None:
    items = list(world.campaign.items.all()[:4])
    for item, ms in zip(items, (2600, 0, 3000, 0), strict=True):
        answer(world.ann, slot_for(world.campaign, world.ann, item), active_ms=ms)
    Label.objects.filter(item__in=items[2:]).update(is_bulk=True)
    found = timed_labels(world.campaign)
    assert (found, found.measured) == (Timed(labels=4, in_bulk=2, without_time=1), 1)
    assert numbers(read(manager.get("/pools/p1/campaign")).one("timed").text) == ["1", "4", "2", "1"]
    withdraw_labels(world.campaign, world.ann)
    assert timed_labels(world.campaign) == Timed(0, 0, 0)
    assert not read(manager.get("/pools/p1/campaign")).has("timed")


def test_time_of_adjudicators_is_no_part_of_the_pace(world, any_pace) -> None:
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
