"""The yield by depth: a line through logarithms, solved in the slow way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.planning.kernel import YieldCurve, enough, fit_yield, positives_left


def slow_fit(positive: list[int], judged: list[int]) -> tuple[float, float]:
    """Normal equations of weighted least squares, a depth at a time."""
    left, right = np.zeros((2, 2)), np.zeros(2)
    for depth, (p, n) in enumerate(zip(positive, judged, strict=True), 1):
        if n:
            share = (p + 0.5) / (n + 1)
            weight = (n + 1) * share / (1 - share)
            row = np.array([1.0, np.log(depth)])
            left += weight * np.outer(row, row)
            right += weight * row * np.log(share)
    log_scale, power = np.linalg.solve(left, right)
    return float(np.exp(log_scale)), float(power)


counts = st.lists(
    st.integers(0, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=3, max_size=12
).filter(lambda rows: sum(n > 0 for _, n in rows) >= 2)


@given(counts)
def test_fit_equals_the_normal_equations(rows):
    positive, judged = (np.array(column) for column in zip(*rows, strict=True))
    found = fit_yield(positive, judged)
    assert (found.scale, found.power) == pytest.approx(slow_fit(positive.tolist(), judged.tolist()), rel=1e-6)


def test_a_power_law_is_found_again():
    judged = np.full(10, 10**9)
    share = 0.3 * np.arange(1.0, 11.0) ** -0.7
    found = fit_yield(np.rint(judged * share).astype(np.int64), judged)
    assert (found.scale, found.power) == pytest.approx((0.3, -0.7), abs=1e-6)


@given(counts, st.lists(st.integers(0, 100), min_size=3, max_size=12))
def test_never_more_positives_are_left_than_triples(rows, unjudged):
    positive, judged = (np.array(column) for column in zip(*rows, strict=True))
    left = positives_left(fit_yield(positive, judged), np.array(unjudged))
    assert 0 <= left <= sum(unjudged) + 1e-9


def test_positives_left_are_summed_by_depth():
    curve = YieldCurve(0.5, -1.0)
    assert curve.expected(np.array([1, 2, 4])).tolist() == [0.5, 0.25, 0.125]
    left = positives_left(curve, np.array([[10, 0, 0, 8], [0, 4, 0, 0]]))
    assert left.tolist() == [6.0, 1.0]
    assert YieldCurve(2.0, -1.0).expected(np.array([1, 4])).tolist() == [1.0, 0.5]


def test_what_is_enough():
    judged, positive = np.array([10, 10, 10]), np.array([3, 1, 1])
    assert enough(positive, judged)
    assert not enough(positive - np.array([1, 0, 0]), judged)
    assert not enough(positive, judged - np.array([1, 0, 0]))
    assert not enough(np.array([3, 2, 0]), np.array([20, 20, 0]))
    with pytest.raises(ValueError, match="two depths"):
        fit_yield(np.array([1, 0]), np.array([5, 0]))
