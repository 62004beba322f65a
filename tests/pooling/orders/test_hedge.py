from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.orders.base import NO, YES, JudgingState, OrderPool
from pooling.orders.hedge import HEDGE
from tests.pooling.orders.literal import NOTHING, credit, one_at_a_time, standings, worlds


def score(pool: OrderPool, i: int, judged: list[int], truth: np.ndarray, beta: float) -> float:
    """Rounded log of the weighted vote; -inf where no run votes."""
    total = 0.0
    for run in range(pool.runs):
        weight = 1.0
        for other in judged:
            if truth[other] == YES:
                weight *= beta ** -credit(pool, run, other)
            elif truth[other] == NO:
                weight *= beta ** credit(pool, run, other)
        total += weight * credit(pool, run, i)
    return round(math.log(total), 9) if total else -math.inf


@given(worlds(), st.integers(0, 3))
def test_one_at_a_time_equals_the_textbook(world, seed):
    pool, truth = world
    left, judged = list(range(pool.size)), []
    while left:
        judged.append(min(left, key=lambda i: (-score(pool, i, judged, truth, 0.1), pool.place(seed)[i])))
        left.remove(judged[-1])
    assert one_at_a_time(HEDGE, pool, truth, seed) == (judged, [-1] * pool.size)


@given(standings(), st.integers(1, 14), st.integers(0, 3), st.sampled_from([0.1, 0.6]))
def test_a_batch_is_the_best_under_the_labels_there_are(standing, size, seed, beta):
    pool, state = standing
    judged = np.flatnonzero(state.released).tolist()
    left = [i for i in range(pool.size) if not state.released[i]]
    left.sort(key=lambda i: (-score(pool, i, judged, state.label, beta), pool.place(seed)[i]))
    assert HEDGE.pick(pool, state, size, seed, {"beta": beta}).triple.tolist() == left[:size]


def test_thousands_of_labels_neither_overflow_nor_make_runs_equal():
    n = 4000
    ranks = np.zeros((3, n + 3), np.int32)
    ranks[:, :n] = np.array([[3], [1], [2]])  # the better a run placed the many negatives, the more it lost
    ranks[[0, 1, 2], [n, n + 1, n + 2]] = 1  # one triple for each run, which nobody has judged
    pool = OrderPool(ranks, np.ones(n + 3, np.int32), np.arange(n + 3))
    judged = np.arange(n + 3) < n
    state = JudgingState(judged, judged, np.where(judged, 0, -1).astype(np.int8), np.full(n + 3, -1))
    assert HEDGE.pick(pool, state, 3, 0, {}).triple.tolist() == [n, n + 2, n + 1]


@pytest.mark.parametrize("beta", [0, 1, 2.5, -1, [0.1], "0.1"])
def test_a_beta_that_is_no_weight_is_refused(beta):
    with pytest.raises(ValueError, match="beta must be a number above 0 and below 1"):
        HEDGE.pick(NOTHING, JudgingState.start(0), 1, 0, {"beta": beta})
