"""Batches, of whole questions and of single triples."""

import numpy as np
import pytest

from pooling.orders import ORDERS
from pooling.orders.base import JudgingState, OrderPool
from pooling.orders.batch import pick_batch

# ten triples of four questions: 0 0 0 0, 1 1 1, 2 2, 3; the order by depth alternates between the first three
POOL = OrderPool(
    ranks=np.array([[1, 4, 5, 6, 2, 7, 8, 3, 9, 10]]),
    depth=np.array([1, 4, 5, 6, 2, 7, 8, 3, 9, 10]),
    group=np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 3]),
)


def pick(size: int, state: JudgingState, name: str = "depth"):
    order = ORDERS[name]
    chosen, comes = pick_batch(order, POOL, state, size, 0, order.settings, whole=True)
    return chosen.triple.tolist(), np.flatnonzero(comes).tolist()


@pytest.mark.parametrize(
    ("size", "chosen", "comes"),
    [
        (1, [0], [0, 1, 2, 3]),
        (4, [0], [0, 1, 2, 3]),
        (5, [0, 4], [0, 1, 2, 3, 4, 5, 6]),
        (7, [0, 4], [0, 1, 2, 3, 4, 5, 6]),
        (8, [0, 4, 7], [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        (10, [0, 4, 7, 1, 2, 3, 5, 6, 8, 9], list(range(10))),
        (99, [0, 4, 7, 1, 2, 3, 5, 6, 8, 9], list(range(10))),
    ],
)
def test_as_few_questions_as_fill_the_batch(size, chosen, comes) -> None:
    assert pick(size, JudgingState.start(10)) == (chosen, comes)


def test_what_is_released_of_a_question_comes_no_second_time() -> None:
    state = JudgingState.start(10)
    state.released[[0, 1, 4]] = True
    assert pick(3, state) == ([7, 2], [2, 3, 7, 8])


def test_sample_that_names_only_what_is_released_brings_nothing() -> None:
    state = JudgingState.start(10)
    state.released[:9] = True
    order = ORDERS["random"]
    first = int(order.pick(POOL, state, 1, 0, order.settings).triple[0])
    assert first != 9  # seed 0: the one that is left is not the first of the permutation
    assert pick(1, state, "random") == ([first], [])


def test_chance_of_a_sample_is_that_of_the_picks_that_are_kept() -> None:
    order = ORDERS["random"]
    chosen, _ = pick_batch(order, POOL, JudgingState.start(10), 4, 0, order.settings, whole=True)
    assert chosen.probability.tolist() == [len(chosen.triple) / 10] * len(chosen.triple)
    assert len(chosen.triple) < 4


def test_batch_of_single_triples_is_what_the_order_chooses() -> None:
    state = JudgingState.start(10)
    state.released[[0, 1, 4]] = True
    order = ORDERS["depth"]
    chosen, comes = pick_batch(order, POOL, state, 3, 0, order.settings, whole=False)
    assert (chosen.triple.tolist(), np.flatnonzero(comes).tolist()) == ([7, 2, 3], [2, 3, 7])


def test_what_a_sample_names_again_comes_no_second_time() -> None:
    state = JudgingState.start(10)
    state.released[:9] = True
    order = ORDERS["random"]
    chosen, comes = pick_batch(order, POOL, state, 10, 0, order.settings, whole=False)
    assert (sorted(chosen.triple.tolist()), np.flatnonzero(comes).tolist()) == (list(range(10)), [9])
