"""Judge a pool again whose labels are known: what an order would have asked for, and when."""

from collections.abc import Callable

import numpy as np

from pooling.orders.base import JudgingState, Order, OrderPool
from pooling.orders.batch import pick_batch


def replay(
    order: Order,
    pool: OrderPool,
    label: np.ndarray,
    *,
    batch: int = 1,
    whole_groups: bool = False,
    seed: int = 0,
    tell: Callable[[int], None] = lambda count: None,
) -> np.ndarray:
    """Return all triples as people would get them if each batch were labelled before the next is chosen; int64 [n].

    label int8 [n] (UNLABELLED: people would not decide it). `whole_groups`: a batch is whole questions (pick_batch);
    those that come with a choice follow what the order chose. `tell` is called with the number judged.
    """
    state, given = JudgingState.start(pool.size), [np.zeros(0, dtype=np.int64)]
    while not state.released.all():
        pick, comes = pick_batch(order, pool, state, batch, seed, order.settings, whole=whole_groups)
        chosen = pick.triple[~state.released[pick.triple]]
        comes[chosen] = False
        chosen = np.concatenate([chosen, np.flatnonzero(comes)])
        state.drawn[pick.triple], state.arm[pick.triple] = True, pick.arm
        state.released[chosen] = True
        state.label[chosen] = label[chosen]
        given.append(chosen)
        tell(int(np.count_nonzero(state.released)))
    return np.concatenate(given)
