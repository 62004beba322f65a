"""Judge by Hedge (Aslam, Pavlu and Savell 2003): runs vote, with weights from how often they were right."""

import math

import numpy as np

from pooling.orders.base import GREEDY, YES, JudgingState, Order, OrderPool, Pick, Settings, best

BETA = 0.1
DIGITS = 9  # of log scores: equal ones must compare equal, whatever the order of summation


def beta_of(settings: Settings) -> float:
    beta = settings.get("beta", BETA)
    if not isinstance(beta, int | float) or not 0 < beta < 1:
        raise ValueError(f"beta must be a number above 0 and below 1; got {beta}")
    return float(beta)


def credits(ranks: np.ndarray) -> np.ndarray:
    """Return ½ ln((deepest rank of all + 1) / rank), float64 [runs, n]; 0 where a run does not hold the triple."""
    deepest = int(ranks.max(initial=0)) + 1
    return np.where(ranks > 0, 0.5 * np.log(deepest / np.maximum(ranks, 1)), 0.0)


def log_weights(credit: np.ndarray, state: JudgingState, beta: float) -> np.ndarray:
    """Return ln of β^loss of each run, float64 [runs].

    The loss falls by the run's credit for each positive, and rises by it for each negative.
    """
    labelled = np.flatnonzero(state.label >= 0)
    sign = np.where(state.label[labelled] == YES, -1.0, 1.0)
    return math.log(beta) * (credit[:, labelled] * sign).sum(axis=1)


def pick(pool: OrderPool, state: JudgingState, size: int, seed: int, settings: Settings) -> Pick:
    """Pick the triples with the most weighted votes.

    Scores are compared by their logarithms: weights span hundreds of orders of magnitude.
    """
    credit = pool.remember("credits", lambda: credits(pool.ranks))
    with np.errstate(divide="ignore"):
        log_credit = pool.remember("log credits", lambda: np.log(credit))
    votes = log_credit + log_weights(credit, state, beta_of(settings))[:, None]
    top = votes.max(axis=0, initial=-np.inf)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        score = np.round(shift + np.log(np.exp(votes - shift).sum(axis=0)), DIGITS)
    return Pick.of(best(score, pool.place(seed), ~state.released, size))


HEDGE = Order(
    "hedge",
    "Hedge",
    "Takes triples on which the runs agree. The weight of a run grows with its right candidates and shrinks with its "
    "wrong ones.",
    GREEDY,
    "Aslam, Pavlu and Savell 2003",
    False,
    pick,
    {"beta": BETA},
    f"Setting: beta, between 0 and 1, is what a wrong candidate leaves of a run's weight ({BETA:g} unless you set it).",
)
