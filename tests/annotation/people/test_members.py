import pytest

from annotation.labelling.withdraw import withdraw_labels
from annotation.models import Label
from annotation.people.accounts import missing_people, take_role
from annotation.people.members import members_of
from tests.annotation.factories import claim, decide, label_and_release, label_item


def seen(world) -> dict[str, tuple[list[str], int]]:
    return {one.person.username: ([str(role) for role in one.roles], one.labels) for one in members_of(world.campaign)}


def test_members_with_the_labels_that_count(world) -> None:
    first, second = world.campaign.items.all()[:2]
    label_item(world, first, ann="Y", ben="Y")
    label_item(world, second, ann="N")
    assert seen(world) == {
        "ada": (["adjudicator"], 0),
        "ann": (["annotator"], 2),
        "ben": (["annotator"], 1),
        "cleo": (["annotator"], 0),
    }
    withdraw_labels(world.campaign, world.ann, by=world.manager)
    assert seen(world)["ann"] == (["annotator"], 0)


def test_decisions_of_an_adjudicator_are_counted_apart_from_labels(world) -> None:
    label_and_release(world, world.campaign.items.first(), ann="Y", ben="N")
    decide(world, ada="Y")
    found = {one.person.username: (one.labels, one.decisions) for one in members_of(world.campaign)}
    assert found == {"ada": (0, 1), "ann": (1, 0), "ben": (1, 0), "cleo": (0, 0)}


def test_last_active_is_the_time_of_the_last_answer(world) -> None:
    label_item(world, world.campaign.items.first(), ann="Y")
    found = {one.person.username: one.last_active for one in members_of(world.campaign)}
    assert found["ann"] == Label.objects.get().created_at
    assert found["ben"] is None


def test_who_labelled_and_lost_the_role_is_still_listed(world) -> None:
    label_item(world, world.campaign.items.first(), ben="Y")
    assert take_role(world.ben, "annotator", world.campaign, by=world.manager)
    assert list(seen(world).items())[-1] == ("ben", ([], 1))


def test_a_role_taken_away_gives_back_what_was_held_and_keeps_labels(world) -> None:
    label_item(world, world.campaign.items.first(), ben="Y")
    assert len(claim(world.campaign, world.ben, 3)) >= 3
    take_role(world.ben, "annotator", world.campaign)
    assert world.ben.slots.filter(state="leased").count() == 0
    assert world.ben.slots.filter(state="answered").count() == 1
    assert not take_role(world.ben, "annotator", world.campaign)


@pytest.mark.parametrize(
    ("roles", "told"),
    [
        ([], 2),
        (["annotator"], 2),
        (["annotator", "adjudicator"], 1),
        (["annotator", "annotator"], 1),
        (["annotator", "annotator", "adjudicator"], 0),
    ],
)
def test_too_few_people_are_told(roles: list[str], told: int) -> None:
    assert len(missing_people(roles)) == told
