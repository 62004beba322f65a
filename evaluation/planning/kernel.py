"""Arithmetic of planning: how sure the order of the systems is, and how many positives are left by pool depth."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.question_sums import QuestionSums
from evaluation.measures.rank_table import Floats, Ints
from evaluation.statistics.bootstrap import StackedSums, percentiles
from evaluation.statistics.correlation import kendall_tau

LEAST_JUDGED, LEAST_POSITIVE, LEAST_DEPTHS = 30, 5, 3  # fewer say too little of a curve


@dataclass(frozen=True)
class OrderConfidence:
    """Tau between the order of the systems and that of each resample: mean and percentile interval.

    All three are nan where no resample defines tau, as with fewer than two systems. `pairs` int[p, 2]: systems that
    both have a value, who is ahead first (of a tie, the first of the table); `same` [p]: the share of the resamples
    that have them in this order, 0 for a tie.
    """

    mean: float
    low: float
    high: float
    defined: int  # resamples with a tau
    resamples: int
    questions: int
    pairs: NDArray[np.int64]
    same: Floats

    def undecided(self, level: float = 0.95) -> NDArray[np.int64]:
        """Return the places in `pairs` that keep their order in less than this share; the least sure first."""
        found = np.flatnonzero(self.same < level)
        return found[np.argsort(self.same[found], kind="stable")]


def bootstrap_order(
    sums: Mapping[str, QuestionSums], rng: np.random.Generator, resamples: int = 1000, level: float = 0.95
) -> dict[str, OrderConfidence]:
    """Draw the evaluated questions with replacement (`StackedSums`), and compare each order with that of all questions.

    A system that is undefined on some question is left out. ValueError without a resample.
    """
    if resamples < 1:
        raise ValueError("an interval needs at least one resample")
    if not sums:
        return {}
    stacked = StackedSums(sums.values())
    n = stacked.questions.size
    now = stacked.merits(np.ones((1, n)))[0]  # [measures, systems]
    drawn = np.concatenate(list(stacked.resampled(resamples, rng)))
    tau = kendall_tau(drawn, now)  # [draws, measures]
    return {name: _confidence(now[m], drawn[:, m], tau[:, m], level, n) for m, name in enumerate(sums)}


def _confidence(now: Floats, drawn: Floats, tau: Floats, level: float, questions: int) -> OrderConfidence:
    """Return the confidence by one measure: merits now [systems] and drawn [draws, systems], tau [draws]."""
    left, right = np.triu_indices(now.size, k=1)
    both = np.isfinite(now[left]) & np.isfinite(now[right])
    left, right = left[both], right[both]
    behind = now[left] < now[right]
    ahead, other = np.where(behind, right, left), np.where(behind, left, right)
    same = (drawn[:, ahead] > drawn[:, other]).mean(axis=0) * (now[ahead] > now[other])
    low, high, defined = percentiles(tau, level)
    mean = float(tau[np.isfinite(tau)].mean()) if defined else float("nan")
    pairs = np.stack([ahead, other], axis=1).astype(np.int64)
    return OrderConfidence(mean, low, high, defined, tau.size, questions, pairs, same)


class Needed(NamedTuple):
    """Questions until the gap is small enough: by the last point, and the least and most by any point."""

    value: float
    low: float
    high: float


def questions_needed(gap: Floats, questions: Floats, target: float) -> Needed | None:
    """Return the questions at which the gap of tau's interval (1 - lower end) shrinks to `target`.

    `gap`, `questions` [points]: what was seen so far, the last point last. A gap shrinks as 1 / sqrt(questions), as
    the standard error of a mean does: from each point follow questions * (gap / target)^2, never less than the point
    has. inf for a target of 0 that is not reached. None where the last gap is undefined; points before it without a
    gap are left out.
    """
    if not gap.size or not np.isfinite(gap[-1]):
        return None
    seen = np.isfinite(gap)
    gap, questions = gap[seen], questions[seen]
    ratio = np.divide(gap, target, out=np.where(gap > 0, np.inf, 0.0), where=target > 0)
    needed = questions * np.maximum(ratio, 1.0) ** 2
    return Needed(float(needed[-1]), float(needed.min()), float(needed.max()))


class YieldCurve(NamedTuple):
    """Expected share of positives at depth d: scale * d^power, at most 1."""

    scale: float
    power: float

    def expected(self, depth: Ints) -> Floats:
        """Return the expected share at depths from 1, in the shape of `depth`."""
        return np.minimum(1.0, self.scale * np.asarray(depth, dtype=np.float64) ** self.power)


def enough(positive: Ints, judged: Ints) -> bool:
    """Return whether judged triples [depths], `positive` of them, are enough to fit a curve."""
    return bool(
        judged.sum() >= LEAST_JUDGED and positive.sum() >= LEAST_POSITIVE and np.count_nonzero(judged) >= LEAST_DEPTHS
    )


def fit_yield(positive: Ints, judged: Ints) -> YieldCurve:
    """Fit the power law of the yield at depths 1 … k to `positive` of `judged` triples at each, both [k].

    As Zobel (1998, "How reliable are the results of large-scale information retrieval experiments?") does: least
    squares of log yield on log depth. Half a positive and half a negative are added at each judged depth, so
    that a depth without a positive has a logarithm; a depth weighs by the inverse of the variance of its log yield,
    judged * yield / (1 - yield). ValueError with fewer than two judged depths.
    """
    seen = judged > 0
    if np.count_nonzero(seen) < 2:
        raise ValueError("a yield curve needs judged triples at two depths or more")
    n = judged[seen] + 1.0
    share = (positive[seen] + 0.5) / n
    weight = n * share / (1.0 - share)
    x, y = np.log(np.flatnonzero(seen) + 1.0), np.log(share)
    x_mean, y_mean = np.average(x, weights=weight), np.average(y, weights=weight)
    power = np.sum(weight * (x - x_mean) * (y - y_mean)) / np.sum(weight * (x - x_mean) ** 2)
    return YieldCurve(float(np.exp(y_mean - power * x_mean)), float(power))


def positives_left(curve: YieldCurve, unjudged: NDArray[np.integer]) -> Floats:
    """Return the expected positives among unjudged triples at depths 1 … k, [..., k] to [...]; at most all."""
    return np.sum(unjudged * curve.expected(np.arange(1, unjudged.shape[-1] + 1)), axis=-1)
