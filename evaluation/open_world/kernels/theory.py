"""Compute the expected value of a metric for a model of known strength when some right answers are missing.

A question has n right answers; each is missing from the test set with probability beta, and the model recognises each
with probability strength. What it recognises is above everything else, in random order. The other test answers of
the question are filtered out. Source: Yang, Lin, Zhang 2022, "Rethinking Knowledge Graph Evaluation Under the
Open-World Assumption". simulation.py draws the same process at random.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from evaluation.measures.rank_table import Floats
from evaluation.measures.slow_decay import POWER

METRICS = {
    "mrr": "MRR", "hits@1": "Hits@1", "hits@3": "Hits@3", "hits@10": "Hits@10", "log_mrr": "log-MRR", "p_mrr": "p-MRR",
}  # fmt: skip
ENTITIES = 14_505  # of the paper's simulation
ROUNDING = 1e-12
RankFunction = Callable[[Floats], Floats]


class Strengths(NamedTuple):
    """Chance to recognise a missing answer, and a test answer."""

    missing: Floats
    test: Floats


# -- metrics ----------------------------------------------------------------------------------------------------


def gain_of(f: str | RankFunction) -> RankFunction:
    """Return the function of the gain of an answer at a rank, 1 / f(rank), float64 [...] to [...]; 0 at rank inf.

    f: "mrr" (rank), "hits@K" (1 up to K, then infinite), "log_mrr" (log2(rank + 1)), "p_mrr" (rank^0.5), or a function
    of ranks from 1 that returns positive numbers. ValueError for another name.
    """
    if callable(f):
        return lambda rank: 1.0 / np.asarray(f(rank), dtype=np.float64)
    if f == "mrr":
        return lambda rank: 1.0 / rank
    if f == "log_mrr":
        return lambda rank: 1.0 / np.log2(rank + 1.0)
    if f == "p_mrr":
        return lambda rank: rank**-POWER
    if found := re.fullmatch(r"hits@([1-9][0-9]{0,5})", f):
        k = int(found[1])
        return lambda rank: (rank <= k).astype(np.float64)
    raise ValueError(f"there is no metric {f[:40]!r}: give mrr, hits@K (as in hits@10), log_mrr or p_mrr")


def filtered_ranks(positions: ArrayLike) -> Floats:
    """Return the ranks of answers at different positions, other answers filtered out, [n] ascending."""
    ordered = np.sort(np.asarray(positions, dtype=np.float64))
    return ordered - np.arange(ordered.size)


# -- expectation ------------------------------------------------------------------------------------------------


def expected_metric(
    n: int, beta: ArrayLike, strength: ArrayLike, f: str | RankFunction, *, rho: float = 0.0, entities: int = 0
) -> Floats:
    """Return Ê, the expected metric of a question, in the broadcast shape of beta and strength.

    As the paper counts, test answers that the model does not recognise add nothing. With `entities` (of the graph) they
    add what an answer adds at a random place among all that is not recognised: for log-MRR and p-MRR that is not
    little. rho: the correlation of "missing" and "recognised". ValueError for numbers that are no probabilities, a
    negative n, entities that are fewer than the answers, and for a rho that cannot be (`allowed_rho`).
    """
    share, level = _checked(n, beta, strength)
    return _expected(n, share, correlated_strengths(share, level, rho), gain_of(f), entities)


def expected_simulated(
    n: int, beta: ArrayLike, strength: ArrayLike, f: str | RankFunction, rho: float = 0.0, entities: int = ENTITIES
) -> Floats:
    """Return the limit of the simulated mean: `expected_metric` with `entities`, of questions with a test answer.

    nan where there is none: n is 0 or beta 1.
    """
    share, level = _checked(n, beta, strength)
    found, gain = correlated_strengths(share, level, rho), gain_of(f)
    none = share**n  # all answers are missing
    every = _expected(n, share, found, gain, entities)
    of_none = _expected(n, np.ones_like(share), found, gain, entities)
    kept = np.where(none < 1.0, 1.0 - none, np.nan)
    return (every - none * of_none) / kept


def derivative(n: int, beta: ArrayLike, strength: ArrayLike, f: str | RankFunction) -> Floats:
    """Return the slope dÊ/dstrength without correlation, in the broadcast shape of beta and strength.

    The mean of 1 / f(k + 1) for k of Binomial(n, strength * beta): the paper's Corollary 4.1 with its k cancelled.
    """
    share, level = _checked(n, beta, strength)
    return _mean_over(n, share * level, gain_of(f)(np.arange(1.0, n + 2)))


def _expected(n: int, beta: Floats, found: Strengths, gain: RankFunction, entities: int) -> Floats:
    gains = gain(np.arange(1.0, n + 2))
    # k missing answers are recognised, and the test answer has each of the ranks 1 … k + 1 alike
    upper = np.cumsum(gains) / np.arange(1.0, n + 2)
    expected = found.test * _mean_over(n, found.missing * beta, upper)
    if not entities:
        return expected
    if entities <= n:
        raise ValueError(f"{entities:,} entities are too few for {n:,} answers: give more than the answers")
    return expected + (1.0 - found.test) * _below(n, beta, found.missing, gain, entities)


def _below(n: int, beta: Floats, missing: Floats, gain: RankFunction, entities: int) -> Floats:
    """Return the mean gain of an unrecognised test answer, [...]: any place below the k recognised missing ones.

    The number of missing answers among these places is taken as its mean; its spread is nothing beside the entities.
    """
    total = np.concatenate(([0.0], np.cumsum(gain(np.arange(1.0, entities + 2)))))  # of the first ranks
    recognised = np.arange(n + 1)
    both = missing * beta
    unseen = np.divide((1.0 - missing) * beta, 1.0 - both, out=np.zeros_like(both), where=both < 1.0)
    places = entities - n + 1 + unseen[..., None] * (n - recognised)  # [..., n + 1]
    last = np.interp(recognised + places, np.arange(total.size), total)
    return _mean_over(n, both, (last - total[recognised]) / places)


def _mean_over(n: int, chance: Floats, values: Floats) -> Floats:
    """Return the mean of values [n + 1] or [..., n + 1] at k of Binomial(n, chance), [...]."""
    from scipy.stats import binom  # here, since it takes a second and 44 MiB, and few need it

    weights = np.asarray(binom.pmf(np.arange(n + 1), n, chance[..., None]))
    return np.einsum("...k,...k->...", weights, np.broadcast_to(values, weights.shape))


# -- the logarithm that MRR follows -----------------------------------------------------------------------------


def mrr_approximation(n: int, beta: ArrayLike, strength: ArrayLike, rho: float = 0.0) -> Floats:
    """Return the paper's logarithm of the strength that approximates Ê(MRR), in the broadcast shape.

    nan where beta or the strength (on missing answers) is 0: the logarithm has no value there.
    """
    share, level = _checked(n, beta, strength)
    found = correlated_strengths(share, level, rho)
    both = _positive(found.missing * share)
    ratio = found.test / _positive(found.missing)
    return ratio * (np.log(both) + np.log(n + 2) + np.euler_gamma) / (_positive(share) * (n + 1))


def mrr_approximation_bound(n: int, beta: ArrayLike, strength: ArrayLike, rho: float = 0.0) -> Floats:
    """Return the bound of the error of `mrr_approximation`; inf where that has no value."""
    share, level = _checked(n, beta, strength)
    found = correlated_strengths(share, level, rho)
    both = _positive(found.missing * share)
    none = (1.0 - both) ** (n + 1)
    scale = found.test / (both * (n + 1))
    bound = scale * np.maximum(0.5 / (n + 1), none / (1.0 - none) * np.log(1.0 / both))
    return np.where(np.isnan(bound), np.inf, bound)


# -- which of two models looks better ---------------------------------------------------------------------------


def inconsistency_probability(
    n: int,
    beta: ArrayLike,
    strength: ArrayLike,
    delta: ArrayLike,
    questions: ArrayLike,
    variance: ArrayLike,
    variance_stronger: ArrayLike | None = None,
) -> Floats:
    """Return the chance that a model has at least the MRR of one that is stronger by delta, broadcast.

    variance: of the MRR of one question, and that of the stronger model (the same where it is not given). nan where
    beta or strength is 0. ValueError for a delta below 0 or past strength 1, and for questions below 1.
    """
    share, level, more = _checked_pair(n, beta, strength, delta)
    difference = np.log1p(more / _positive(level)) / (_positive(share) * (n + 1))
    stronger = variance if variance_stronger is None else variance_stronger
    return chance_to_mistake(difference, questions, np.asarray(variance) + np.asarray(stronger))


def chance_to_mistake(difference: ArrayLike, questions: ArrayLike, variances: ArrayLike) -> Floats:
    """Return the chance that the worse of two independent models looks at least as good, for their difference.

    difference: of their expected metric. variances: the sum of both variances of one question; where it is 0 the
    chance is 0, or 1/2 where there is no difference.
    """
    difference, questions, variances = (np.asarray(x, dtype=np.float64) for x in (difference, questions, variances))
    if np.any(questions < 1) or np.any(variances < 0):
        raise ValueError("questions must be at least 1 and variances at least 0")
    shape = np.broadcast_shapes(difference.shape, questions.shape, variances.shape)
    scaled = np.broadcast_to(np.sqrt(questions) * difference, shape)
    certain = np.where(scaled == 0, 0.0, np.copysign(np.inf, scaled))
    certain = np.where(np.isnan(scaled), np.nan, certain)
    return ndtr(-np.divide(scaled, np.sqrt(variances), out=certain, where=variances > 0))


def required_questions(
    n: int, beta: ArrayLike, strength: ArrayLike, delta: ArrayLike, probability: ArrayLike, variance: ArrayLike
) -> Floats:
    """Return how many questions put two models delta apart in the wrong order with at most this probability.

    c / delta^2 with c = 2 (beta * strength * (n + 1) * quantile(probability))^2 * variance, for a delta that is small
    beside the strength; by MRR. inf at delta 0, nan where beta or strength is 0. ValueError for a probability of 0 or
    over 0.5.
    """
    share, level, more = _checked_pair(n, beta, strength, delta)
    wanted = np.asarray(probability, dtype=np.float64)
    if np.any((wanted <= 0) | (wanted > 0.5)):
        raise ValueError("the probability of inconsistency must be over 0 and at most 0.5")
    scale = _positive(share) * _positive(level) * (n + 1)
    constant = 2.0 * (scale * ndtri(wanted)) ** 2 * np.asarray(variance)
    shape = np.broadcast_shapes(constant.shape, more.shape)
    out = np.array(np.broadcast_to(np.where(np.isnan(constant), np.nan, np.inf), shape))
    return np.divide(constant, more**2, out=out, where=more > 0)


# -- correlation ------------------------------------------------------------------------------------------------


def allowed_rho(beta: ArrayLike, strength: ArrayLike) -> tuple[Floats, Floats]:
    """Return the least and greatest possible correlation of "missing" and "recognised", in the broadcast shape.

    Both are 0 where beta or strength is 0 or 1: what is certain has no correlation.
    """
    share, level = _checked(0, beta, strength)
    inside = (share > 0) & (share < 1) & (level > 0) & (level < 1)
    share, level = np.where(inside, share, 0.5), np.where(inside, level, 0.5)
    missing, found = np.sqrt(share / (1.0 - share)), np.sqrt(level / (1.0 - level))
    low = -np.minimum(missing * found, 1.0 / (missing * found))
    high = np.minimum(missing / found, found / missing)
    return np.where(inside, low, 0.0), np.where(inside, high, 0.0)


def correlated_strengths(beta: ArrayLike, strength: ArrayLike, rho: float) -> Strengths:
    """Return the chances to recognise a missing answer and a test answer, in the broadcast shape.

    ValueError, with the range that is allowed, for a rho that puts one of them outside [0, 1].
    """
    share, level = _checked(0, beta, strength)
    if rho == 0:
        return Strengths(level, level)
    low, high = allowed_rho(share, level)
    if not (np.all(rho >= low - ROUNDING) and np.all(rho <= high + ROUNDING)):
        raise ValueError(f"a correlation of {rho:g} cannot be: here it is from {np.max(low):.4f} to {np.min(high):.4f}")
    inside = (share > 0) & (share < 1)
    odds = np.where(inside, share, 0.5) / (1.0 - np.where(inside, share, 0.5))
    spread = np.sqrt(level * (1.0 - level))
    missing, test = level + rho * spread / np.sqrt(odds), level - rho * spread * np.sqrt(odds)
    return Strengths(np.clip(missing, 0.0, 1.0), np.clip(test, 0.0, 1.0))


# -- arguments --------------------------------------------------------------------------------------------------


def _checked(n: int, beta: ArrayLike, strength: ArrayLike) -> tuple[Floats, Floats]:
    share, level = np.broadcast_arrays(np.asarray(beta, dtype=np.float64), np.asarray(strength, dtype=np.float64))
    if n < 0:
        raise ValueError(f"{n} answers: give 0 or more")
    for name, given in (("beta", share), ("strength", level)):
        if not np.all((given >= 0) & (given <= 1)):
            raise ValueError(f"{name} must be from 0 to 1")
    return share, level


def _checked_pair(n: int, beta: ArrayLike, strength: ArrayLike, delta: ArrayLike) -> tuple[Floats, Floats, Floats]:
    share, level = _checked(n, beta, strength)
    more = np.asarray(delta, dtype=np.float64)
    if np.any(more < 0) or np.any(level + more > 1 + ROUNDING):
        raise ValueError("the stronger model must have a strength from that of the weaker one to 1")
    return share, level, more


def _positive(values: Floats) -> Floats:
    """Return the values with nan in place of 0."""
    return np.where(values > 0, values, np.nan)
