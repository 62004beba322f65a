"""Drawings that are kept: one is drawn once, and what it is drawn from alone decides it."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from core.charts.kept import Drawings

CHART: dict[str, Any] = {"series": [{"name": "rotate", "x": [1, 2.5, None], "y": [0.1, True, float("inf")]}]}


def drawn(kept: Drawings, *sources: Any) -> list[Any]:
    """Ask for each drawing, and return the sources that were drawn."""
    found: list[Any] = []

    def draw(source: Any) -> str:
        found.append(source)
        return f"<svg>{source}</svg>"

    for source in sources:
        assert kept.get(source, lambda own=source: draw(own)) == f"<svg>{source}</svg>"
    return found


def test_equal_charts_of_two_requests_are_drawn_once() -> None:
    first, second = (json.loads(json.dumps({"data": CHART})) for _ in range(2))
    second["data"]["series"][0]["name"] = "".join(["rot", "ate"])  # an equal text of its own
    assert first["data"]["series"][0]["name"] is not second["data"]["series"][0]["name"]
    assert drawn(Drawings(), first, second, first) == [first]


@pytest.mark.parametrize("other", [2.5000001, None, 2, "2.5", [2.5], -2.5])
def test_charts_that_differ_in_one_value_are_two_drawings(other: Any) -> None:
    changed = {"series": [{**CHART["series"][0], "x": [1, other, None]}]}
    assert drawn(Drawings(), CHART, changed) == [CHART, changed]


def test_numbers_that_compare_equal_are_not_taken_for_each_other() -> None:
    assert drawn(Drawings(), [1], [1.0], [True]) == [[1], [1.0], [True]]
    assert len(drawn(Drawings(), [0.0], [-0.0])) == 2


def test_what_was_not_asked_for_longest_goes_first() -> None:
    kept = Drawings(most=3 * len("<svg>a</svg>"))
    assert drawn(kept, "a", "b", "c", "a", "d") == ["a", "b", "c", "d"]  # b goes
    assert drawn(kept, "a", "c", "d", "b") == ["b"]
    assert kept.size <= kept.most
    assert drawn(kept, "e" * 100) == ["e" * 100]  # larger than all that may be kept
    assert kept.size == 0


def test_what_cannot_be_compared_by_value_is_drawn_each_time() -> None:
    odd = [Fraction(1, 2)]
    assert drawn(Drawings(), odd, odd) == [odd, odd]


def test_the_version_of_the_bytes_has_no_references() -> None:
    # with them, a text that occurs twice as one object gives other bytes than two equal ones
    one = "".join(["ro", "tate"])
    two = "".join(["ro", "tate"])
    assert one is not two
    assert drawn(Drawings(), [one, one], [one, two]) == [[one, one]]
