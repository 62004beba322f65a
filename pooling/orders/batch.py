"""Choose the next batch, alone or with the rest of its questions; judge a pool again whose labels are known."""

from collections.abc import Callable

import numpy as np

from pooling.orders.base import JudgingState, Order, OrderPool, Pick, Settings


def pick_batch(
    order: Order, pool: OrderPool, state: JudgingState, size: int, seed: int, settings: Settings, *, whole: bool
) -> tuple[Pick, np.ndarray]:
    """Choose a batch of `size` triples, or of all that are left.

    With `whole` it consists of whole questions, so it may be a little larger.
    Then it takes as few picks as reach the size together with all that is left of their questions. Returns the
    pick, and bool [n]: what people get. A pick of a sample may name only what is released: then nobody gets anything,
    and the caller notes it and asks again.
    """
    pick = order.pick(pool, state, size, seed, settings)
    if not whole:
        comes = np.zeros(pool.size, dtype=bool)
        comes[pick.triple] = True
        return pick, comes & ~state.released
    _, group = np.unique(pool.group, return_inverse=True)
    left = np.bincount(group[~state.released], minlength=group.max(initial=-1) + 1)
    brings = np.zeros(len(pick.triple), dtype=np.int64)
    new = np.flatnonzero(~state.released[pick.triple])
    questions, first = np.unique(group[pick.triple[new]], return_index=True)
    brings[new[first]] = left[questions]
    enough = int(np.searchsorted(np.cumsum(brings), size)) + 1
    if enough < len(pick.triple):
        pick = order.pick(pool, state, enough, seed, settings)
    chosen = pick.triple[~state.released[pick.triple]]
    return pick, np.isin(pool.group, pool.group[chosen]) & ~state.released


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
