"""Scales: round ticks, reversed and logarithmic axes, numbers as tables write them."""

from __future__ import annotations

import pytest

from core.charts.scales import exact, scale_of, tick_text


@pytest.mark.parametrize(
    ("values", "axis", "ticks"),
    [
        ([0.31, 0.66], {}, ["0.3", "0.4", "0.5", "0.6", "0.7"]),
        ([3, 1078], {}, ["0", "250", "500", "750", "1,000", "1,250"]),
        ([3, 1078], {"tight": True}, ["250", "500", "750", "1,000"]),
        ([0.4, 0.5], {"rangemode": "tozero"}, ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]),
        ([0, 0], {"rangemode": "tozero"}, ["0", "1"]),
        ([0.1], {"range": [-1, 1]}, ["−1.0", "−0.5", "0.0", "0.5", "1.0"]),
        ([0.1, 0.5], {"tickformat": ".0%"}, ["10 %", "20 %", "30 %", "40 %", "50 %"]),
        ([2, 3000], {"type": "log"}, ["1", "10", "100", "1,000", "10,000"]),
        ([1, 10], {"tight": True}, ["2", "4", "6", "8", "10"]),
        ([1.0, 4.5], {"tight": True}, ["1", "2", "3", "4"]),
        ([0, 1], {"tickvals": [0, 1], "ticktext": ["tail", "head"]}, ["tail", "head"]),
    ],
)
def test_ticks_are_round_and_reach_over_the_values(values, axis, ticks):
    assert [told for _, told in scale_of(values, axis, 0, 500, 90).ticks] == ticks


def test_what_is_counted_has_whole_ticks():
    """Ten depths in the room of three or four ticks, as on a phone: no depth of 2.5."""
    depths = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert [told for _, told in scale_of(depths, {"tight": True}, 0, 190, 45).ticks] == ["5", "10"]
    halves = [depth / 2 for depth in depths]
    assert [told for _, told in scale_of(halves, {"tight": True}, 0, 190, 90).ticks] == ["2.5", "5.0"]
    assert [told for _, told in scale_of([0, 3], {"tight": True}, 0, 500, 50).ticks] == ["0", "1", "2", "3"]
    assert [told for _, told in scale_of([0, 1], {}, 0, 100, 50).ticks] == [
        "0.0",
        "0.5",
        "1.0",
    ]  # shares, by chance whole


def test_the_ends_are_where_they_belong():
    across = scale_of([0, 10], {"tight": True}, 40, 240, 50)
    assert [across.at(v) for v in (0, 5, 10)] == [40, 140, 240]
    turned = scale_of([0, 10], {"tight": True, "autorange": "reversed"}, 40, 240, 50)
    assert [turned.at(v) for v in (0, 5, 10)] == [240, 140, 40]
    powers = scale_of([1, 100], {"type": "log"}, 0, 100, 20)
    assert [round(powers.at(v)) for v in (1, 10, 100)] == [0, 50, 100]


@pytest.mark.parametrize("values", [[], [None], [0.5], [0, 0], [float("nan")]])
def test_no_value_and_one_value_have_a_scale(values):
    scale = scale_of(values, {}, 0, 100, 20)
    assert scale.low < scale.high and scale.ticks


@pytest.mark.parametrize(
    ("value", "form", "told"),
    [
        (0.12345, "", "0.1235"), (-0.5, "", "−0.5000"), (1200, "", "1,200"), (0.00002, "", "2e−05"),
        (0.256, ".0%", "25.60 %"), (None, "", "undefined"), (0.0, "", "0"),
    ],
)  # fmt: skip
def test_values_are_written_as_in_tables(value, form, told):
    assert exact(value, form) == told


def test_a_zero_has_no_minus():
    assert tick_text(-0.0, 0.1) == "0.0"
