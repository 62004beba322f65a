"""Follow runs: choose a run, take the best of its triples that nobody has judged, choose again."""

from collections.abc import Callable

import numpy as np

from pooling.orders.base import JudgingState, OrderPool, Pick
from pooling.orders.depth import rest


def run_places(pool: OrderPool, seed: int) -> np.ndarray:
    """Return the place of each run in a seeded order, int64 [runs]; it breaks every tie between runs."""
    return np.random.default_rng([seed, 1]).permutation(pool.runs)


def first_run(score: np.ndarray, place: np.ndarray, able: np.ndarray) -> int:
    """Return the run with the largest score float [runs] among those `able` (bool [runs]), ties by place."""
    return int(np.lexsort((place, np.where(able, -score, np.inf)))[0])


def follow(
    pool: OrderPool,
    state: JudgingState,
    size: int,
    seed: int,
    choose: Callable[[np.ndarray, int], int],
    chosen: Callable[[int, int], None],
) -> Pick:
    """Pick `size` triples, each from the run that `choose(able, n)` names, where n are already chosen.

    `able` bool [runs]: runs with a triple left. `chosen(triple, run)` is told of each choice. When no run has any left,
    the others follow by depth.
    """
    taken = state.released.copy()
    lists = [held[~taken[held]] for held in pool.lists(seed)]
    cursor = [0] * pool.runs
    able = np.array([len(left) > 0 for left in lists], dtype=bool)
    triples: list[int] = []
    arms: list[int] = []
    while len(triples) < size and able.any():
        run = choose(able, len(triples))
        triple = int(lists[run][cursor[run]])
        taken[triple] = True
        triples.append(triple)
        arms.append(run)
        chosen(triple, run)
        for other in np.flatnonzero(able).tolist():
            while able[other] and taken[lists[other][cursor[other]]]:
                cursor[other] += 1
                able[other] = cursor[other] < len(lists[other])
    others = rest(pool, taken, size - len(triples), seed)
    every = np.concatenate([np.array(triples, dtype=np.int64), others])
    return Pick.of(every, np.array([*arms, *[-1] * len(others)]))
