from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.orders import ORDERS
from pooling.orders.base import Order, OrderPool, Pick
from pooling.orders.batch import replay
from tests.pooling.orders.literal import one_at_a_time, worlds


@pytest.mark.parametrize("name", ["depth", "move-to-front", "hedge", "bandit-thompson", "mtc"])
@given(worlds(), st.integers(1, 4), st.integers(0, 3))
def test_every_batch_is_labelled_before_the_next(name, world, batch, seed):
    pool, truth = world
    expected, _ = one_at_a_time(ORDERS[name], pool, truth, seed, batch)
    assert replay(ORDERS[name], pool, truth, batch=batch, seed=seed).tolist() == expected


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS.keys())
@given(worlds(), st.integers(1, 4), st.integers(0, 3))
def test_with_whole_groups_a_question_comes_at_once(order, world, batch, seed):
    pool, truth = world
    heard: list[int] = []
    judged = replay(order, pool, truth, batch=batch, whole_groups=True, seed=seed, tell=heard.append)
    assert sorted(judged.tolist()) == list(range(pool.size))
    ends = [0, *heard]  # how many are judged after each pick; a sample may pick nothing new
    assert ends == sorted(ends)
    for begin, end in pairwise(ends):
        now, later = set(pool.group[judged[begin:end]]), set(pool.group[judged[end:]])
        assert not now & later
    assert ends[-1] == pool.size


class Reverse:
    """An order that asks for the last triples, and remembers what it was told."""

    def __init__(self) -> None:
        self.seen: list[dict[str, list]] = []
        self.order = Order("reverse", "", "", "", "", True, self.pick, {"k": 1})

    def pick(self, pool, state, size, seed, settings):
        self.seen.append({key: value.tolist() for key, value in vars(state).items()})
        assert settings == {"k": 1}
        chosen = np.flatnonzero(~state.drawn)[::-1][:size]
        return Pick(chosen, np.ones(len(chosen)), np.zeros(len(chosen), np.int64))


def test_progress_tells_what_was_released_drawn_labelled_and_followed():
    pool = OrderPool(np.ones((1, 4), np.int32), np.ones(4, np.int32), np.array([0, 1, 0, 1]))
    reverse = Reverse()
    judged = replay(reverse.order, pool, np.array([1, 0, -1, 1], np.int8), whole_groups=True)
    assert judged.tolist() == [3, 1, 2, 0]
    assert reverse.seen == [
        {"released": [False] * 4, "drawn": [False] * 4, "label": [-1] * 4, "arm": [-1] * 4},
        {
            "released": [False, True, False, True],
            "drawn": [False, False, False, True],
            "label": [-1, 0, -1, 1],
            "arm": [-1, -1, -1, 0],
        },
    ]
