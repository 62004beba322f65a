"""Judge by depth: rank 1 of every run, then rank 2, and so on, as TREC pools are judged."""

import numpy as np

from pooling.orders.base import JudgingState, Order, OrderPool, Pick, Settings, best


def rest(pool: OrderPool, released: np.ndarray, size: int, seed: int) -> np.ndarray:
    """Return the next `size` triples not `released` (bool [n]), by depth, at random within a depth; int64 [k]."""
    return best(-pool.depth, pool.place(seed), ~released, size)


def pick(pool: OrderPool, state: JudgingState, size: int, seed: int, settings: Settings) -> Pick:
    return Pick.of(rest(pool, state.released, size, seed))


DEPTH = Order(
    "depth",
    "By depth",
    "Takes the first candidate of every run, then the second, and so on, in random order within a depth. It is fair "
    "to every run, and its labels mean the same for all runs.",
    "",
    "TREC pooling; Voorhees and Harman 2005",
    False,
    pick,
)
