from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pooling.orders.random import RANDOM
from tests.pooling.orders.literal import one_at_a_time, standings, worlds


@given(worlds(), st.integers(1, 4), st.integers(0, 3))
def test_the_seeded_order_whatever_the_labels_and_the_batches(world, size, seed):
    pool, truth = world
    expected = sorted(range(pool.size), key=lambda i: pool.place(seed)[i])
    assert one_at_a_time(RANDOM, pool, truth, seed, size)[0] == expected


@given(standings(), st.integers(1, 14), st.integers(0, 3))
def test_the_next_that_were_not_drawn_with_the_share_that_is_drawn_after_them(standing, size, seed):
    pool, state = standing
    waiting = sorted((i for i in range(pool.size) if not state.drawn[i]), key=lambda i: pool.place(seed)[i])
    pick = RANDOM.pick(pool, state, size, seed, {})
    assert pick.triple.tolist() == waiting[:size]
    share = (sum(state.drawn.tolist()) + len(waiting[:size])) / pool.size
    np.testing.assert_array_equal(pick.probability, np.full(len(pick.triple), share))
