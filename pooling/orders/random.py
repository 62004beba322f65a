"""Judge uniformly over the pool, so that what was judged so far is a simple random sample of it."""

import numpy as np

from pooling.orders.base import JudgingState, Order, OrderPool, Pick, Settings, best


def pick(pool: OrderPool, state: JudgingState, size: int, seed: int, settings: Settings) -> Pick:
    place = pool.place(seed)
    chosen = best(-place, place, ~state.drawn, size)
    share = (np.count_nonzero(state.drawn) + len(chosen)) / max(pool.size, 1)
    return Pick.of(chosen, probability=share)


RANDOM = Order(
    "random",
    "Random",
    "Takes the whole pool in one seeded random order. The judged triples are a random sample, so measures can be "
    "estimated with intervals.",
    "Finds positives no faster than chance: choose it for estimates, not to save work, and release single triples: "
    "what comes with its question is not part of the sample.",
    "simple random sampling; infAP assumes it (Yilmaz and Aslam 2006)",
    True,
    pick,
)
