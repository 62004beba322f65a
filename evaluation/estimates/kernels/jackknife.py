"""Estimate how far estimates spread over stratified samples, by a jackknife that leaves out groups.

In each stratum of which a part was drawn the sample is cut at random into up to 20 groups; without group g the estimate
is theta_g. The variance is the sum over strata of (1 - n / N) (G - 1) / G sum (theta_g - mean)^2 (Wolter 2007, ch. 4).
The interval is that of Student's t with as many degrees of freedom as there are groups, less one in each stratum.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from core.callbacks import Tell
from evaluation.estimates.kernels.weights import Sample
from evaluation.measures.rank_table import Floats

GROUPS = 20


class Estimate(NamedTuple):
    """A value and its 95 % interval, arrays of one shape; nan where the sample does not tell."""

    value: Floats
    low: Floats
    high: Floats


def jackknife(
    estimate: Callable[[Sample], dict[str, Floats]],
    sample: Sample,
    rng: np.random.Generator,
    groups: int = GROUPS,
    progress: Tell | None = None,
) -> dict[str, Estimate]:
    """Return value ± t · sd of each result of `estimate`; the ends are nan where one triple of a stratum was drawn."""
    whole = estimate(sample)
    variance = {name: np.zeros(value.shape) for name, value in whole.items()}
    parts = [h for h, (n, size) in enumerate(zip(sample.taken, sample.population, strict=True)) if n < size]
    steps, done = sum(min(groups, int(sample.taken[h])) for h in parts), 0
    freedom = steps - len(parts)
    for h in parts:
        n = int(sample.taken[h])
        if n == 1:
            variance = {name: np.full(value.shape, np.nan) for name, value in whole.items()}
            continue
        left_out = []
        drawn = rng.permutation(np.flatnonzero(sample.drawn & (sample.stratum == h)))
        for group in np.array_split(drawn, min(groups, n)):
            dropped = np.zeros(sample.drawn.shape, dtype=bool)
            dropped[group] = True
            left_out.append(estimate(sample.without(dropped)))
            done += 1
            if progress:
                progress(done, steps)
        shrink = (1.0 - n / sample.population[h]) * (len(left_out) - 1) / len(left_out)
        for name in whole:
            theta = np.stack([one[name] for one in left_out])
            variance[name] = variance[name] + shrink * ((theta - theta.mean(axis=0)) ** 2).sum(axis=0)
    reach = stdtrit(freedom, 0.975) if freedom > 0 else 0.0
    half = {name: reach * np.sqrt(of) for name, of in variance.items()}
    return {name: Estimate(value, value - half[name], value + half[name]) for name, value in whole.items()}
