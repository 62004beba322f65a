"""Judge by move-to-front (Cormack, Palmer and Clarke 1998): stay with a run while it finds positives."""

import numpy as np

from pooling.orders.base import GREEDY, YES, JudgingState, Order, OrderPool, Pick, Settings
from pooling.orders.follow import first_run, follow, run_places


def pick(pool: OrderPool, state: JudgingState, size: int, seed: int, settings: Settings) -> Pick:
    """Follow the run with the highest priority: its depth less the triples it led to that were not found positive.

    Triples that wait for a label or stay undecided count as no: otherwise a batch would follow one run only. A yes
    changes no priority, so that the run which found it goes on.
    """
    failed = (state.arm >= 0) & (state.label != YES)
    highest = int(pool.ranks.max(initial=0))
    priority = highest - np.bincount(state.arm[failed], minlength=pool.runs).astype(np.float64)
    place = run_places(pool, seed)

    def chosen(triple: int, run: int) -> None:
        priority[run] -= 1

    return follow(pool, state, size, seed, lambda able, n: first_run(priority, place, able), chosen)


MOVE_TO_FRONT = Order(
    "move-to-front",
    "Move-to-front",
    "Goes down the list of one run while its candidates are right, and changes to the next best run after a wrong one.",
    GREEDY,
    "Cormack, Palmer and Clarke 1998",
    False,
    pick,
)
