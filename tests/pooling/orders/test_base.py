from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.orders.base import OrderPool, Pick, best
from tests.pooling.orders.literal import pools


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=12), st.integers(0, 14), st.integers(0, 5))
def test_best_equals_a_sort(rows, size, seed):
    score, choice = np.array([r[0] for r in rows], float), np.array([r[1] for r in rows], bool)
    score[score == 0] = -np.inf
    place = np.random.default_rng(seed).permutation(len(rows))
    expected = sorted((i for i in range(len(rows)) if choice[i]), key=lambda i: (-score[i], place[i]))[:size]
    assert best(score, place, choice, size).tolist() == expected


@given(pools(), st.integers(0, 3))
def test_lists_are_by_rank_and_equal_ranks_by_place(pool, seed):
    place = pool.place(seed)
    for run in range(pool.runs):
        held = [i for i in range(pool.size) if pool.ranks[run, i] > 0]
        expected = sorted(held, key=lambda i: (pool.ranks[run, i], place[i]))
        assert pool.lists(seed)[run].tolist() == expected


def pool_of(n: int) -> OrderPool:
    return OrderPool(np.ones((1, n), np.int32), np.ones(n, np.int32), np.arange(n))


def test_place_is_another_for_another_seed_and_the_same_again():
    assert sorted(pool_of(30).place(1).tolist()) == list(range(30))
    assert pool_of(30).place(1).tolist() == pool_of(30).place(1).tolist()
    assert pool_of(30).place(1).tolist() != pool_of(30).place(2).tolist()


def test_triples_behind_a_pool_do_not_shuffle_it_anew():
    old, grown = pool_of(20).place(3), pool_of(35).place(3)
    assert np.argsort(grown[:20]).tolist() == np.argsort(old).tolist()


def test_a_pool_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match=r"ranks must be \(runs, 2\) and group \(2,\), got \(1, 3\), \(2,\)"):
        OrderPool(np.ones((1, 3), np.int32), np.ones(2, np.int32), np.arange(2))
    with pytest.raises(ValueError, match="depth must be at least 1"):
        OrderPool(np.ones((1, 2), np.int32), np.array([1, 0], np.int32), np.arange(2))


def test_a_pick_that_is_no_sample_has_no_probability():
    pick = Pick.of(np.array([3, 1]))
    assert np.isnan(pick.probability).tolist() == [True, True]
    assert pick.arm.tolist() == [-1, -1]
