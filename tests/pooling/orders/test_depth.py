from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pooling.orders.base import OrderPool
from pooling.orders.depth import DEPTH
from tests.pooling.orders.literal import one_at_a_time, shallow_first, worlds


@given(worlds(), st.integers(1, 4), st.integers(0, 3))
def test_shallow_first_and_random_within_a_depth(world, size, seed):
    pool, truth = world
    left, expected = list(range(pool.size)), []
    while left:
        expected.append(shallow_first(pool, left, seed))
        left.remove(expected[-1])
    assert one_at_a_time(DEPTH, pool, truth, seed, size)[0] == expected


def test_the_order_within_a_depth_follows_the_seed():
    pool = OrderPool(np.ones((1, 40), np.int32), np.ones(40, np.int32), np.arange(40))
    truth = np.zeros(40, np.int8)
    first, second = (one_at_a_time(DEPTH, pool, truth, seed, 40)[0] for seed in (1, 2))
    assert first != second
