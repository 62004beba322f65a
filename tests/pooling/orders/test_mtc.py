from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from pooling.orders.base import YES, JudgingState, OrderPool
from pooling.orders.mtc import DECIDED, MTC, compare
from tests.pooling.orders.literal import standings


def use(pool: OrderPool, run: int, i: int) -> float:
    return 1 / int(pool.ranks[run, i]) if pool.ranks[run, i] else 0.0


def chance(pool: OrderPool, state: JudgingState, i: int) -> float:
    """Share of positives in the band of depth (1-2, 3-5, deeper), one yes and one no added."""

    def band(depth: int) -> int:
        return 0 if depth <= 2 else 1 if depth <= 5 else 2

    near = [j for j in range(pool.size) if band(pool.depth[j]) == band(pool.depth[i])]
    labels = [state.label[j] for j in near if state.label[j] >= 0]
    return (labels.count(YES) + 1) / (len(labels) + 2)


def literal_pair(pool: OrderPool, state: JudgingState, a: int, b: int) -> tuple[float, float]:
    """Expected difference of summed reciprocal ranks, and its variance."""
    difference = variance = 0.0
    for i in range(pool.size):
        gap = use(pool, a, i) - use(pool, b, i)
        if state.label[i] >= 0:
            difference += gap * (state.label[i] == YES)
        else:
            p = chance(pool, state, i)
            difference += p * gap
            variance += p * (1 - p) * gap**2
    return difference, variance


def literal(pool: OrderPool, state: JudgingState, size: int, seed: int) -> list[int]:
    pairs = list(combinations(range(pool.runs), 2))
    open_ = [p for p in pairs if is_open(*literal_pair(pool, state, *p))] or pairs
    weight = {i: round(sum(abs(use(pool, a, i) - use(pool, b, i)) for a, b in open_), 12) for i in range(pool.size)}
    left = [i for i in range(pool.size) if not state.released[i]]
    return sorted(left, key=lambda i: (-weight[i], pool.place(seed)[i]))[:size]


def is_open(difference: float, variance: float) -> bool:
    """Whether the sign of a normal variable is less than 95 % sure."""
    return variance > 0 and norm.cdf(abs(difference) / math.sqrt(variance)) < 0.95


@given(standings(), st.integers(1, 14), st.integers(0, 3))
def test_equals_the_literal_rule(standing, size, seed):
    pool, state = standing
    assert MTC.pick(pool, state, size, seed, {}).triple.tolist() == literal(pool, state, size, seed)


@given(standings())
def test_pairs_equal_the_literal_sums(standing):
    pool, state = standing
    pairs = compare(pool, state)
    assert list(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)) == list(combinations(range(pool.runs), 2))
    expected = [literal_pair(pool, state, a, b) for a, b in combinations(range(pool.runs), 2)]
    found = np.stack([pairs.difference, pairs.variance], axis=1)
    np.testing.assert_allclose(found, np.array(expected).reshape(-1, 2), atol=1e-12)
    assert pairs.decided.tolist() == [not is_open(*pair) for pair in expected]


def test_decided_is_the_quantile_of_the_normal_distribution():
    assert norm.ppf(0.95) == DECIDED


def test_two_equal_runs_and_a_pool_that_is_judged_are_decided():
    ranks = np.array([[1, 2, 3], [1, 2, 3], [3, 2, 1]], np.int32)
    pool = OrderPool(ranks, np.array([1, 2, 1], np.int32), np.arange(3))
    assert compare(pool, JudgingState.start(3)).decided.tolist() == [True, False, False]
    judged = np.ones(3, bool)
    done = JudgingState(judged, judged, np.array([1, 0, 0], np.int8), np.full(3, -1))
    assert compare(pool, done).decided.tolist() == [True, True, True]


def test_when_all_pairs_are_decided_all_count():
    ranks = np.array([[1, 1, 1, 1, 2], [0, 0, 0, 0, 0]], np.int32)
    pool = OrderPool(ranks, np.array([1, 1, 1, 1, 2], np.int32), np.arange(5))
    judged = np.arange(5) < 3
    state = JudgingState(judged, judged, np.where(judged, 1, -1).astype(np.int8), np.full(5, -1))
    assert compare(pool, state).decided.tolist() == [True]
    seed = next(s for s in range(20) if pool.place(s)[4] < pool.place(s)[3])
    assert MTC.pick(pool, state, 2, seed, {}).triple.tolist() == [3, 4]


def test_equal_weights_that_float_sums_tell_apart_are_equal():
    # 1.8 in one order of summation, a little less in the other
    pool = OrderPool(np.array([[1, 10], [2, 2], [10, 1]], np.int32), np.ones(2, np.int32), np.arange(2))
    seed = next(s for s in range(20) if pool.place(s)[0] == 0)
    assert MTC.pick(pool, JudgingState.start(2), 2, seed, {}).triple.tolist() == [0, 1]
