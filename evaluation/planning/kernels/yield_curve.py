"""Fit the share of positives by pool depth, and estimate the positives among unjudged triples.

Source: Zobel 1998, "How reliable are the results of large-scale information retrieval experiments?", who fits a power
law to the relevant documents found at each depth.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.rank_table import Floats, Ints

LEAST_JUDGED, LEAST_POSITIVE, LEAST_DEPTHS = 30, 5, 3  # fewer say too little of a curve


class YieldCurve(NamedTuple):
    """Expected share of positives at depth d: scale * d^power, at most 1."""

    scale: float
    power: float

    def expected(self, depth: Ints) -> Floats:
        """Return the expected share at depths from 1, in the shape of `depth`."""
        expected: Floats = np.minimum(1.0, self.scale * np.asarray(depth, dtype=np.float64) ** self.power)
        return expected


def enough(positive: Ints, judged: Ints) -> bool:
    """Return whether judged triples [depths], `positive` of them, are enough to fit a curve."""
    return bool(
        judged.sum() >= LEAST_JUDGED and positive.sum() >= LEAST_POSITIVE and np.count_nonzero(judged) >= LEAST_DEPTHS
    )


def fit_yield(positive: Ints, judged: Ints) -> YieldCurve:
    """Fit the power law of the yield at depths 1 … k to `positive` of `judged` triples at each, both [k].

    Least squares of log yield on log depth. Half a positive and half a negative are added at each judged depth, so
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
    left: Floats = (unjudged * curve.expected(np.arange(1, unjudged.shape[-1] + 1))).sum(axis=-1)
    return left
