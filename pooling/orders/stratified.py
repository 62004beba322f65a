"""Judge a random sample of strata of depth, shallow ones at a higher rate (Yilmaz, Kanoulas and Aslam 2008)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pooling.orders.base import JudgingState, Order, OrderPool, Pick, Settings, best

BOUNDS, RATES = [2, 5], [1.0, 0.5, 0.25]


class Strata(NamedTuple):
    """Hold the upper depth of every stratum but the last, and the share of each that is judged."""

    bounds: list[float]
    rates: list[float]


def strata_of(settings: Settings) -> Strata:
    """Return the strata of the settings; ValueError if they make no strata."""
    bounds, rates = settings.get("bounds", BOUNDS), settings.get("rates", RATES)
    if not isinstance(bounds, list) or not isinstance(rates, list) or len(rates) != len(bounds) + 1:
        raise ValueError(
            "bounds and rates must be lists, with one rate more than there are bounds: [2, 5] makes the "
            f"strata 1-2, 3-5 and 6 or deeper; got {bounds} and {rates}"
        )
    if any(low >= high for low, high in zip([0, *bounds], bounds, strict=False)):
        raise ValueError(f"bounds must be depths that grow, from 1; got {bounds}")
    if not all(0 < rate <= 1 for rate in rates):
        raise ValueError(f"rates must be above 0 and at most 1; got {rates}")
    return Strata(list(bounds), list(rates))


def stratum_of(depth: np.ndarray, bounds: Sequence[float]) -> np.ndarray:
    """Return the stratum of each depth int [n], the shallowest 0; int64 [n]."""
    return np.searchsorted(np.array(bounds), depth).astype(np.int64)


def turns(pool: OrderPool, strata: Strata, seed: int) -> np.ndarray:
    """Return when each triple is due, float64 [n]: drawn before it in its stratum / (rate · size of the stratum).

    Whatever is done next is then of the stratum that is furthest behind its rate, and all strata reach their rates at
    the same time, at 1. The rest of the pool follows by the same rule.
    """
    stratum = stratum_of(pool.depth, strata.bounds)
    order = np.lexsort((pool.place(seed), stratum))
    sizes = np.bincount(stratum, minlength=len(strata.rates))
    before = np.arange(pool.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    turn = np.empty(pool.size)
    turn[order] = before / np.repeat(np.array(strata.rates) * sizes, sizes)
    return turn


def pick(pool: OrderPool, state: JudgingState, size: int, seed: int, settings: Settings) -> Pick:
    strata = strata_of(settings)
    stratum = stratum_of(pool.depth, strata.bounds)
    turn = pool.remember(("turns", seed, str(strata)), lambda: turns(pool, strata, seed).round(12))
    chosen = best(-turn, stratum * pool.size + pool.place(seed), ~state.drawn, size)
    drawn = state.drawn.copy()
    drawn[chosen] = True
    count = [np.bincount(of, minlength=len(strata.rates)) for of in (stratum[drawn], stratum)]
    share = count[0] / np.maximum(count[1], 1)
    return Pick.of(chosen, probability=share[stratum[chosen]])


STRATIFIED = Order(
    "stratified",
    "Stratified sample",
    "Takes a random sample of each stratum of depth: all triples of depth 1-2, half of 3-5, a quarter of 6 and "
    "deeper. The rest of the pool follows. Measures can be estimated with intervals at any time.",
    "Estimates need weights: unweighted measures favour what is shallow. Release single triples: what comes with its "
    "question is not part of the sample.",
    "Yilmaz, Kanoulas and Aslam 2008",
    True,
    pick,
    {"bounds": BOUNDS, "rates": RATES},
    "Settings: bounds are the last depths of the strata but the deepest (2, 5); rates are the shares that are drawn of "
    "each (1, 0.5, 0.25).",
)
