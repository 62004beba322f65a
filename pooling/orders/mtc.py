"""Judge what moves the comparison of systems most, like MTC (Carterette, Allan and Sitaraman 2006)."""

from typing import NamedTuple

import numpy as np

from pooling.orders.base import GREEDY, YES, JudgingState, Order, OrderPool, Pick, Settings, best
from pooling.orders.stratified import BOUNDS, stratum_of

DECIDED = 1.6448536269514722  # normal quantile of 0.95
DIGITS = 12  # of weights: equal ones must compare equal, whatever the order of summation


class Pairs(NamedTuple):
    """Compare every two runs a < b, int [pairs] each.

    Holds the expected difference of a and b, its variance, and whether it decides.
    """

    a: np.ndarray
    b: np.ndarray
    difference: np.ndarray
    variance: np.ndarray
    decided: np.ndarray


def expected_label(pool: OrderPool, state: JudgingState) -> np.ndarray:
    """Return the expected label of each triple, float64 [n].

    1 or 0 where there is a label, else (yes + 1) / (labelled + 2) of the triple's band of depth.
    """
    band = stratum_of(pool.depth, BOUNDS)
    labelled, yes = state.label >= 0, state.label == YES
    count = [np.bincount(band[of], minlength=len(BOUNDS) + 1) for of in (yes, labelled)]
    rate = (count[0] + 1) / (count[1] + 2)
    return np.where(labelled, yes, rate[band])


def gaps(pool: OrderPool) -> np.ndarray:
    """Return the reciprocal rank in run a less that in run b, 0 where not held; float64 [pairs, n], a < b."""

    def make() -> np.ndarray:
        use = np.where(pool.ranks > 0, 1.0 / np.maximum(pool.ranks, 1), 0.0)
        a, b = np.triu_indices(pool.runs, k=1)
        return use[a] - use[b]

    return pool.remember("gaps", make)


def compare(pool: OrderPool, state: JudgingState) -> Pairs:
    """Compare every two runs by their summed reciprocal ranks, as labels are expected to be.

    A pair is decided when its sign is sure to 95 % under the normal distribution; one that no label can change is too.
    """
    gap, expected = gaps(pool), expected_label(pool, state)
    difference = gap @ expected
    variance = np.square(gap) @ (expected * (1 - expected))
    a, b = np.triu_indices(pool.runs, k=1)
    decided = np.abs(difference) >= DECIDED * np.sqrt(variance)
    return Pairs(a, b, difference, variance, decided)


def pick(pool: OrderPool, state: JudgingState, size: int, seed: int, settings: Settings) -> Pick:
    """Pick by the summed gaps of undecided pairs, or of all pairs if every one is decided."""
    decided = compare(pool, state).decided
    gap = pool.remember("absolute gaps", lambda: np.abs(gaps(pool)))
    weight = gap[~decided if not decided.all() else slice(None)].sum(axis=0)
    return Pick.of(best(np.round(weight, DIGITS), pool.place(seed), ~state.released, size))


MTC = Order(
    "mtc",
    "What moves the comparison (MTC)",
    "Takes the triples whose ranks differ most between systems, for pairs of systems whose order is still undecided.",
    f"Made to order the systems, not to find positives. {GREEDY}",
    "after Carterette, Allan and Sitaraman 2006",
    False,
    pick,
)
