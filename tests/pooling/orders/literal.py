"""The orders written literally, one triple after the other, and small pools to try them on."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from pooling.orders.base import NO, YES, JudgingState, OrderPool

Literal = Callable[[OrderPool, list[int], list[int], np.ndarray, int], int]

NOTHING = OrderPool(np.zeros((2, 0), np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64))


@st.composite
def pools(draw: st.DrawFn, most: int = 12) -> OrderPool:
    """Up to four runs and a dozen triples with many equal ranks; some triples are held by no run."""
    runs, n = draw(st.integers(0, 4)), draw(st.integers(1, most))
    ranks = draw(st.lists(st.integers(0, 8), min_size=runs * n, max_size=runs * n))
    ranks = np.array(ranks, dtype=np.int32).reshape(runs, n)
    held = np.where(ranks > 0, ranks, 9).min(axis=0, initial=9)
    group = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return OrderPool(ranks, held.astype(np.int32), np.array(group, dtype=np.int64))


def truths(n: int) -> st.SearchStrategy[np.ndarray]:
    """A label for each of n triples: undecided, no or yes."""
    return st.lists(st.integers(-1, 1), min_size=n, max_size=n).map(lambda labels: np.array(labels, np.int8))


@st.composite
def worlds(draw: st.DrawFn) -> tuple[OrderPool, np.ndarray]:
    pool = draw(pools())
    return pool, draw(truths(pool.size))


@st.composite
def standings(draw: st.DrawFn) -> tuple[OrderPool, JudgingState]:
    """A pool of which some triples are with people; of these some were drawn, followed a run, have a label."""
    pool = draw(pools())
    n = pool.size

    def flags() -> np.ndarray:
        return np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)

    released = flags()
    label = np.where(released, draw(truths(n)), -1).astype(np.int8)
    arm = np.full(n, -1, dtype=np.int64)
    for i in np.flatnonzero(released).tolist():
        holders = np.flatnonzero(pool.ranks[:, i])
        if holders.size and draw(st.booleans()):
            arm[i] = draw(st.sampled_from(holders.tolist()))
    return pool, JudgingState(released, released & flags(), label, arm)


def one_at_a_time(order, pool: OrderPool, truth: np.ndarray, seed: int, size: int = 1) -> tuple[list[int], list[int]]:
    """Triples and arms in the order of judging; every batch is labelled before the next is asked for."""
    state, triples, arms = JudgingState.start(pool.size), [], []
    while not state.released.all():
        found = order.pick(pool, state, size, seed, order.settings)
        triples += found.triple.tolist()
        arms += found.arm.tolist()
        state.released[found.triple] = state.drawn[found.triple] = True
        state.label[found.triple] = truth[found.triple]
        state.arm[found.triple] = found.arm
    return triples, arms


def shallow_first(pool: OrderPool, left: list[int], seed: int) -> int:
    place = pool.place(seed)
    return min(left, key=lambda i: (pool.depth[i], place[i]))


def best_of_run(pool: OrderPool, run: int, left: list[int], seed: int) -> int | None:
    place = pool.place(seed)
    held = [i for i in left if pool.ranks[run, i] > 0]
    return min(held, key=lambda i: (pool.ranks[run, i], place[i])) if held else None


def counts(pool: OrderPool, run: int, triples: list[int], truth: np.ndarray) -> tuple[int, int]:
    """Positives and negatives among the judged triples that a run holds."""
    held = [i for i in triples if pool.ranks[run, i] > 0]
    return sum(truth[i] == YES for i in held), sum(truth[i] == NO for i in held)


def credit(pool: OrderPool, run: int, i: int) -> float:
    deepest = max((int(rank) for rank in pool.ranks.ravel()), default=0) + 1
    rank = int(pool.ranks[run, i])
    return 0.5 * math.log(deepest / rank) if rank else 0.0
