"""What holds for every order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.orders import ORDERS
from pooling.orders.base import JudgingState
from tests.pooling.orders.literal import NOTHING, one_at_a_time, standings, worlds

every_order = pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS.keys())


def test_the_registry_holds_the_orders_by_name():
    known = ["depth", "random", "move-to-front", "hedge", "bandit-mm", "bandit-thompson", "stratified", "mtc"]
    assert list(ORDERS)[: len(known)] == known
    assert [name for name in known if ORDERS[name].is_sample] == ["random", "stratified"]
    assert all(name == order.name for name, order in ORDERS.items())


@every_order
@given(worlds(), st.integers(1, 5), st.integers(0, 3))
def test_no_triple_twice_and_the_whole_pool_at_the_end(order, world, size, seed):
    pool, truth = world
    triples, _ = one_at_a_time(order, pool, truth, seed, size)
    assert sorted(triples) == list(range(pool.size))


@every_order
@given(standings(), st.integers(1, 14), st.integers(0, 3))
def test_the_same_progress_gives_the_same_pick(order, standing, size, seed):
    pool, state = standing
    before = [array.copy() for array in vars(state).values()]
    first, second = (order.pick(pool, state, size, seed, order.settings) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)
    for old, new in zip(before, vars(state).values(), strict=True):
        np.testing.assert_array_equal(old, new)
    open_ = ~(state.drawn if order.is_sample else state.released)
    assert len(first.triple) == min(size, int(open_.sum()))
    assert open_[first.triple].all()
    assert len(set(first.triple.tolist())) == len(first.triple)


@every_order
@given(standings(), st.integers(0, 3))
def test_a_followed_run_holds_the_triple(order, standing, seed):
    pool, state = standing
    pick = order.pick(pool, state, pool.size, seed, order.settings)
    for triple, run in zip(pick.triple.tolist(), pick.arm.tolist(), strict=True):
        assert run == -1 or pool.ranks[run, triple] > 0


@every_order
def test_nothing_to_pick_from(order):
    pick = order.pick(NOTHING, JudgingState.start(0), 5, 0, order.settings)
    assert [len(column) for column in pick] == [0, 0, 0]
