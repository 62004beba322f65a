"""Batches of whole questions: who has looked a question up answers all of its candidates at once."""

from __future__ import annotations

import numpy as np

from pooling.kernels.orders.base import Order, OrderPool, Pick, Progress, Settings


def pick_whole(
    order: Order, pool: OrderPool, progress: Progress, size: int, seed: int, settings: Settings
) -> tuple[Pick, np.ndarray]:
    """As few picks as make a batch of `size` together with all that is left of their questions, or all that are left.

    Returns the pick, and bool [n]: what comes to people with it. A pick of a sample may name nothing new: then it is
    empty, and the caller asks again.
    """
    pick = order.pick(pool, progress, size, seed, settings)
    _, group = np.unique(pool.group, return_inverse=True)
    left = np.bincount(group[~progress.released], minlength=group.max(initial=-1) + 1)
    brings = np.zeros(len(pick.triple), dtype=np.int64)
    new = np.flatnonzero(~progress.released[pick.triple])
    questions, first = np.unique(group[pick.triple[new]], return_index=True)
    brings[new[first]] = left[questions]
    enough = int(np.searchsorted(np.cumsum(brings), size)) + 1
    if enough < len(pick.triple):
        pick = order.pick(pool, progress, enough, seed, settings)
    chosen = pick.triple[~progress.released[pick.triple]]
    return pick, np.isin(pool.group, pool.group[chosen]) & ~progress.released
