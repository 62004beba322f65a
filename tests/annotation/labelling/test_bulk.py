"""Labels given in bulk: recorded as such, only for no, and outside of the two-second rule."""

import pytest

from annotation.models import Label
from annotation.quality.annotators import annotators
from tests.annotation.factories import answer, claim, items_of, slot_for, windows_closed


@pytest.mark.parametrize(("given", "is_bulk"), [("N", True), ("Y", False), ("?", False)])
def test_only_no_is_recorded_as_bulk(world, given: str, is_bulk: bool) -> None:
    slot = claim(world.campaign, world.ann)[0]
    assert answer(world.ann, slot, given, is_bulk=True).label.is_bulk is is_bulk


def test_bulk_labels_are_left_out_of_the_two_second_rule(world, as_user) -> None:
    item, other = items_of(world)[:2]
    for one, is_bulk in ((item, True), (other, False)):
        answer(world.ann, slot_for(world.campaign, world.ann, one), "N", active_ms=3, is_bulk=is_bulk)
    answer(world.ben, slot_for(world.campaign, world.ben, item), "Y", active_ms=3)
    work = {entry.person: entry.work for entry in annotators(world.campaign)}
    assert (work[world.ann].labels, work[world.ann].quick, work[world.ben].quick) == (2, (1, 1), (1, 1))
    windows_closed(item)
    (dispute,) = (
        as_user(world.ada)
        .post("/api/v1/campaigns/p1/claim-disputed", {"count": 1}, content_type="application/json")
        .json()["items"]
    )
    assert {given["answer"]: given["quick"] for given in dispute["answers"]} == {"N": False, "Y": True}
    assert Label.objects.filter(is_bulk=True).count() == 1
