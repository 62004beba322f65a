"""Fold values of systems to families of seeds: mean and standard deviation over the seeds of each."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from evaluation.measures.rank_table import Floats, Ints


class SeedSpread(NamedTuple):
    """Hold `mean` and `sd` [families, …] over the seeds of each family, and how many `seeds` [families] it has.

    Both are nan for a family of one and where a seed is undefined; sd divides by the seeds less 1.
    """

    mean: Floats
    sd: Floats
    seeds: Ints

    def at(self, *index: Any) -> "SeedSpread":
        """Return the spread of a part of the values, by an index behind that of the families."""
        return SeedSpread(self.mean[:, *index], self.sd[:, *index], self.seeds)


def spread_over_seeds(values: Floats, families: Sequence[Sequence[int]]) -> SeedSpread:
    """Fold `values` [systems, …] to families, given as indices of systems: [families, …]."""
    mean = np.full((len(families), *values.shape[1:]), np.nan)
    sd = mean.copy()
    for i, family in enumerate(families):
        if len(family) > 1:
            mean[i], sd[i] = values[list(family)].mean(axis=0), values[list(family)].std(axis=0, ddof=1)
    return SeedSpread(mean, sd, np.array([len(family) for family in families], dtype=np.int64))
