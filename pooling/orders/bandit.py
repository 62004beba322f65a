"""Judge by bandits (Losada, Parapar and Barreiro 2016, 2017): each run is an arm, shared over all questions."""

import numpy as np

from pooling.orders.base import GREEDY, NO, UNLABELLED, YES, JudgingState, Order, OrderPool, Pick, Settings
from pooling.orders.follow import first_run, follow, run_places


def count_held(pool: OrderPool, triples: np.ndarray) -> np.ndarray:
    """Count how many of some triples (bool [n]) each run holds, float64 [runs]."""
    return np.count_nonzero(pool.ranks[:, triples], axis=1).astype(np.float64)


def pick_mm(pool: OrderPool, state: JudgingState, size: int, seed: int, settings: Settings) -> Pick:
    """Follow the run with the largest mean of Beta(1 + yes, 1 + no) over the labelled triples that it holds.

    Triples that wait for a label or stay undecided count as no: otherwise a batch would follow one run only.
    """
    yes = count_held(pool, state.label == YES)
    no = count_held(pool, (state.label == NO) | (state.released & (state.label == UNLABELLED)))
    place = run_places(pool, seed)

    def choose(able: np.ndarray, n: int) -> int:
        return first_run((1 + yes) / (2 + yes + no), place, able)

    def chosen(triple: int, run: int) -> None:
        no[pool.ranks[:, triple] > 0] += 1

    return follow(pool, state, size, seed, choose, chosen)


def pick_thompson(pool: OrderPool, state: JudgingState, size: int, seed: int, settings: Settings) -> Pick:
    """Follow the run with the largest draw from its Beta(1 + yes, 1 + no), drawn anew for every choice.

    The draws follow from the seed and the number of triples released before, so that they can be repeated.
    """
    yes, no = count_held(pool, state.label == YES), count_held(pool, state.label == NO)
    place, before = run_places(pool, seed), int(np.count_nonzero(state.released))

    def choose(able: np.ndarray, n: int) -> int:
        draws = np.random.default_rng([seed, 2, before + n]).beta(1 + yes, 1 + no)
        return first_run(draws, place, able)

    return follow(pool, state, size, seed, choose, lambda triple, run: None)


BANDIT_MM = Order(
    "bandit-mm",
    "Bandit (MM)",
    "Follows the run whose candidates were right most often so far, over all questions.",
    GREEDY,
    "Losada, Parapar and Barreiro 2016",
    False,
    pick_mm,
)
BANDIT_THOMPSON = Order(
    "bandit-thompson",
    "Bandit (Thompson sampling)",
    "Draws a run at random; runs whose candidates were right more often so far are more likely.",
    GREEDY,
    "Losada, Parapar and Barreiro 2017",
    False,
    pick_thompson,
)
