"""Give an interval to a total of a stratified sample, and to the values of imputed labels."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from evaluation.estimates.kernels.weights import CERTAIN, Sample
from evaluation.measures.rank_table import Floats


class Estimate(NamedTuple):
    """A value and its 95 % interval, arrays of one shape; the ends are nan where there is no interval."""

    value: Floats
    low: Floats
    high: Floats


def without(value: Floats) -> Estimate:
    """Return a value that has no interval."""
    return Estimate(value, np.full(value.shape, np.nan), np.full(value.shape, np.nan))


def of_total(value: Floats, sample: Sample, size: Floats) -> Estimate:
    """Return the interval of an estimated total of size [triples] over positives; nan where n = 1 of N > 1.

    The variance is the sum over strata of N^2 (1 - n / N) s^2 / n (Cochran 1977, ch. 5), the interval value ± t · sd
    with as many degrees of freedom as drawn triples, less one in each stratum. What is certain adds none.
    """
    variance, freedom = 0.0, 0
    seen = np.where(sample.positive & (sample.stratum != CERTAIN), size, 0.0)
    for h, (n, population) in enumerate(zip(sample.taken.tolist(), sample.population.tolist(), strict=True)):
        if n == population:
            continue
        if n == 1:
            return without(value)
        spread = seen[sample.drawn & (sample.stratum == h)].var(ddof=1)
        variance += population**2 * (1.0 - n / population) * spread / n
        freedom += n - 1
    half = stdtrit(freedom, 0.975) * np.sqrt(variance) if freedom else 0.0
    return Estimate(value, value - half, value + half)


def of_imputed(values: Sequence[Mapping[str, Floats]], wider: Mapping[str, float]) -> dict[str, Estimate]:
    """Return mean ± t · standard deviation over imputations, that of some names times a factor.

    Equal values have an interval without width.
    """
    found = {}
    for name in values[0]:
        every = np.stack([one[name] for one in values])
        if len(values) == 1:
            found[name] = Estimate(every[0], every[0], every[0])
            continue
        half = stdtrit(len(values) - 1, 0.975) * every.std(axis=0, ddof=1) * wider.get(name, 1.0)
        found[name] = Estimate(every.mean(axis=0), every.mean(axis=0) - half, every.mean(axis=0) + half)
    return found
