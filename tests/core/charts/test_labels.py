"""Labels: names that don't lie over each other, and long ones that are cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.charts.labels import Taken, apart, shorten, spread, width_of


@given(st.lists(st.floats(-50, 350), max_size=20))
def test_spread_labels_are_apart_and_inside_in_the_wanted_order(wanted):
    found = spread(wanted, 0, 300)
    assert apart(found)
    assert all(-1e-6 <= place <= 300 + 1e-6 for place in found)
    assert [x for _, x in sorted(zip(wanted, found, strict=True))] == sorted(found)


def test_labels_that_are_apart_stay_where_they_are():
    assert spread([10, 50, 200], 0, 300) == [10, 50, 200]


def test_more_labels_than_there_is_room_share_it():
    assert spread([5.0] * 5, 0, 40) == [0, 10, 20, 30, 40]


def test_a_path_loses_its_beginning_and_another_name_its_end():
    assert shorten("/people/person/place_of_birth", 90).startswith("…")
    assert shorten("a system of a long name", 90).endswith("…")
    assert all(width_of(shorten(name, 90)) <= 90 for name in ("/a/b" * 20, "W" * 40))
    assert shorten("rotate", 90) == "rotate"


def test_names_beside_points_do_not_cross():
    taken = Taken(300, 200)
    for i in range(4):
        assert taken.place(100 + 25 * i, 100 + 4 * i, 40)
    boxes = taken.boxes
    pairs = [(a, b) for a in boxes for b in boxes if a is not b]
    assert not [1 for a, b in pairs if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]]
    assert taken.place(5, 5, 400) is None


def test_a_name_without_room_beside_its_point_is_a_little_away_from_it():
    taken = Taken(300, 200)
    taken.add(120, 70, 60, 60)  # around the point (150, 100)
    assert taken.place(150, 100, 40) is None
    left, base = taken.place_away(150, 100, 40) or (0.0, 0.0)
    outside = left >= 180 or left + 40 <= 120 or base - 10 >= 130 or base + 3 <= 70
    assert outside and 0 <= left <= 260 and 10 <= base <= 197
    assert Taken(30, 30).place_away(15, 15, 40) is None
