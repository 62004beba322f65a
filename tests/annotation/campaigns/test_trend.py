"""How a campaign goes: labels a day, when it is done, who is active, what it has taken."""

from datetime import UTC, date, datetime, timedelta

import pytest

from annotation.campaigns.overview import overview
from annotation.campaigns.trend import is_stalled, trend
from annotation.models import Label
from annotation.people.simulated import NAME
from tests.annotation.factories import label_and_release

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


def labelled(world, *days: tuple[int, str]) -> None:
    """Label the items in turn, each by one person a number of days before NOW, with an hour of active time each."""
    for item, (days_ago, name) in zip(world.campaign.items.all(), days, strict=False):
        label_and_release(world, item, **{name: "Y"})
        at = NOW - timedelta(days=days_ago)
        Label.objects.filter(item=item, annotator=getattr(world, name)).update(created_at=at, active_ms=3_600_000)


def course(world):
    return trend(world.campaign, overview(world.campaign), NOW)


def test_days_begin_with_the_first_label_and_the_pace_leaves_today_out(world) -> None:
    labelled(world, (2, "ann"), (2, "ben"), (0, "ann"))
    found = course(world)
    assert found.days == [(date(2026, 3, 8), 2), (date(2026, 3, 9), 0), (date(2026, 3, 10), 1)]
    assert found.by_people == [2, 0]
    # 9 of 12 labels are left at one a day; with one day of 2 and one of 0 the pace may as well be nothing
    assert found.finish is not None and (found.finish.days, found.finish.per_day) == (9, 1)
    assert (found.done_on, found.latest) == (date(2026, 3, 19), None)
    assert found.soonest is not None and found.soonest < found.done_on


def test_people_who_answered_in_the_last_week_are_active(world) -> None:
    labelled(world, (8, "ann"), (6, "ben"), (1, "ben"), (0, "cleo"))
    found = course(world)
    assert (found.active, found.last) == (2, NOW)


def test_hours_to_come_are_those_of_a_label_so_far(world) -> None:
    labelled(world, (1, "ann"), (0, "ben"))
    Label.objects.filter(annotator=world.ben).update(active_ms=7_200_000)
    found = course(world)
    assert (found.hours, found.hours_to_come) == (3, 15)  # 1.5 hours a label, 10 are left


def test_simulated_people_are_in_the_chart_alone(world) -> None:
    labelled(world, (1, "ann"), (1, "ben"), (0, "ben"), (0, "cleo"))
    world.ben.username = NAME + "1"
    world.ben.set_unusable_password()
    world.ben.save()
    found = course(world)
    assert found.days == [(date(2026, 3, 9), 2), (date(2026, 3, 10), 2)]
    assert (found.by_people, found.active, found.hours) == ([1], 2, 2)
    assert (found.labels_today, found.simulated) == (1, 2)
    assert found.hours_to_come == 8  # an hour a label


def test_without_labels_nothing_is_known(world) -> None:
    found = course(world)
    assert found.days == [(date(2026, 3, 10), 0)]
    assert (found.finish, found.done_on, found.hours_to_come, found.last) == (None, None, None, None)


@pytest.mark.parametrize(
    ("days_ago", "left", "state", "stalled"),
    [(4, 3, "open", True), (2, 3, "open", False), (4, 0, "open", False), (4, 3, "paused", False)],
)
def test_open_campaign_without_a_label_for_days_has_stalled(world, days_ago, left, state, stalled) -> None:
    world.campaign.state = state
    assert is_stalled(world.campaign, left, NOW - timedelta(days=days_ago), NOW) is stalled


def test_campaign_that_nobody_began_stalls_from_its_opening_on(world) -> None:
    world.campaign.created_at = NOW - timedelta(days=4)
    assert is_stalled(world.campaign, 12, None, NOW)


@pytest.mark.parametrize("labels", [1, 3])
def test_queries_do_not_grow(world, labels, django_assert_num_queries) -> None:
    labelled(world, *[(i, "ann") for i in range(labels)])
    counts = overview(world.campaign)
    with django_assert_num_queries(5):
        trend(world.campaign, counts, NOW)
