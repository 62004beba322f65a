"""Whom to look at first: only people whose whole interval is on the bad side."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from annotation.quality.annotators import Annotator, Work
from annotation.quality.kernel import Share
from annotation.quality.standing_out import standing_out, worst_first


def row(name: str, overturned: int = 0, decided: int = 0, correct: int = 0, gold: int = 0) -> Annotator:
    work = Work(overturned=overturned, decided=decided, gold_correct=correct, gold_answered=gold)
    return Annotator(User(username=name), "", work)


def names(rows: list[Annotator]) -> list[str]:
    return [one.person.username for one in rows]


def test_worst_first_is_by_the_lower_end_and_not_by_the_share():
    rows = [row("few", 1, 1), row("usual", 20, 40), row("many", 30, 44), row("none"), row("clean", 0, 40)]
    assert names(worst_first(rows)) == ["many", "usual", "few", "clean", "none"]  # 1 of 1 is 20.7 % to 100 %


def test_without_decided_disputes_gold_items_order_people_then_names():
    rows = [row("b", correct=20, gold=20), row("z", correct=2, gold=20), row("d"), row("c")]
    assert names(worst_first(rows)) == ["z", "b", "c", "d"]


@pytest.mark.parametrize(("overturned", "first"), [(28, None), (29, "ann")])  # of 44: 48.9 % and 51.1 % at least
def test_person_stands_out_when_the_whole_interval_is_above_half(overturned, first):
    found = standing_out([row("ann", overturned, 44), row("ben", 44 - overturned, 44)])
    assert (found.first and found.first.person.username) == first
    assert (found.overturned is None) == (first is None) and found.decided == 88


def test_gold_names_a_person_who_is_surely_below_all_together():
    rows = [row("ann", 20, 40, 15, 15), row("ben", 20, 40, 5, 15), row("cleo", 0, 0, 30, 30)]
    found = standing_out(rows)
    assert (found.overturned, found.gold_of_all) == (None, Share(50, 60))
    assert found.first is rows[1]
    assert standing_out([row("ann", gold=15, correct=15), row("ben", gold=15, correct=14)]).gold is None


def test_overturned_goes_before_gold():
    rows = [row("ann", 40, 44, 15, 15), row("ben", 4, 44, 1, 15)]
    found = standing_out(rows)
    assert (found.first, found.gold) == (rows[0], rows[1])


def test_nobody_answered():
    assert standing_out([]) == (None, None, Share(0, 0), 0)
