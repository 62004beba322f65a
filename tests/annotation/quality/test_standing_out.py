"""Whom to look at first: only people whose whole interval is on the bad side."""

from __future__ import annotations

import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User

from annotation.people.simulated import NAME
from annotation.quality.annotators import Annotator, Work
from annotation.quality.kernel import Share
from annotation.quality.standing_out import standing_out, worst_first


def row(name: str, overturned: int = 0, decided: int = 0, correct: int = 0, gold: int = 0) -> Annotator:
    given = [1000] * (decided or gold)
    work = Work(given, overturned=overturned, decided=decided, gold_correct=correct, gold_answered=gold)
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


def hasty_among(*rows: tuple[str, int, int]) -> str | None:
    found = standing_out([Annotator(User(username=n), "", Work([1000] * of, num_quick=quick)) for n, quick, of in rows])
    return found.hasty.person.username if found.hasty else None


def test_hasty_one_surely_read_too_few_of_the_questions():
    assert hasty_among(("ann", 28, 100), ("ben", 29, 100)) == "ben"  # at least 20.1 % and 21.0 %
    assert hasty_among(("ann", 27, 100)) is None  # at least 19.3 %
    assert hasty_among(("ann", 2, 3)) == "ann" and hasty_among(("ann", 1, 3)) is None  # at least 20.8 %; 6.1 %


def test_simulated_person_is_not_hasty():
    person = User(username=f"{NAME}1", password=make_password(None))
    assert standing_out([Annotator(person, "", Work([1000] * 50, num_quick=50))]).hasty is None


def test_nobody_answered():
    assert standing_out([]) == (None, None, Share(0, 0), 0, None, None)


def test_people_without_a_label_are_last():
    labels = Annotator(User(username="z"), "", Work(label_ms=[1000]))
    assert names(worst_first([row("a"), labels])) == ["z", "a"]


def test_best_is_who_is_most_surely_overturned_least_with_enough_disputes():
    rows = [row("few", 0, 19), row("some", 3, 20), row("many", 8, 60), row("bad", 30, 44)]
    found = standing_out(rows)
    assert (found.best, found.is_sure) == (rows[2], True)
    found = standing_out([row("ann", 11, 33), row("ben", 22, 33)])  # 19.8 % to 50.4 %
    assert found.best is not None and found.best.person.username == "ann" and not found.is_sure
    assert standing_out([row("ann", 15, 30), row("ben", 15, 30)]).best is None


def test_without_enough_disputes_gold_items_tell_who_is_best():
    rows = [row("few", correct=9, gold=9), row("ann", correct=12, gold=13), row("ben", correct=13, gold=17)]
    assert (standing_out(rows).best, standing_out(rows).is_sure) == (rows[1], False)
    assert standing_out(rows[:1]).best is None


def test_who_is_to_be_looked_at_is_not_best():
    found = standing_out([row("ann", 5, 44, 3, 15), row("ben", 20, 44, 15, 15)])
    assert found.gold is not None and found.gold.person.username == "ann"
    assert found.best is not None and found.best.person.username == "ben"
