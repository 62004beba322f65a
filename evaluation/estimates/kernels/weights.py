"""Weight sets of triples of a random sample by 1 / the probability of drawing them.

In each stratum n of N triples are a simple random sample without replacement. A set of triples with c members in a
stratum is in the sample with probability (n)_c / (N)_c, falling factorials, and the product of these over strata
(Horvitz and Thompson 1952). What is certain (seeds above all) has probability 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import comb, sqrt

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.rank_table import Flags, Floats, Ints

CERTAIN = -1  # the stratum of a triple that is left to no chance
Z = 1.959963984540054  # normal quantile of 0.975


@dataclass(frozen=True)
class Sample:
    """A random sample for judging; all arrays [triples].

    stratum int: 0, 1, ... of triples that might have been drawn, CERTAIN elsewhere. drawn bool. positive bool: of the
    drawn ones, and of the certain ones.
    """

    stratum: Ints
    drawn: Flags
    positive: Flags

    def __post_init__(self) -> None:
        if not self.stratum.shape == self.drawn.shape == self.positive.shape:
            raise ValueError("stratum, drawn and positive must have one value per triple")
        if np.any(self.drawn & (self.stratum == CERTAIN)):
            raise ValueError("a drawn triple has no stratum")
        if np.any(self.positive & (self.stratum != CERTAIN) & ~self.drawn):
            raise ValueError("a positive triple was neither drawn nor certain")
        if np.any((self.taken == 0) & (self.population > 0)):
            raise ValueError("nothing was drawn in a stratum: no weight makes up for that")

    @cached_property
    def population(self) -> NDArray[np.int64]:
        """Return N of each stratum."""
        return np.bincount(self.stratum[self.stratum != CERTAIN])

    @cached_property
    def taken(self) -> NDArray[np.int64]:
        """Return n of each stratum."""
        return np.bincount(self.stratum[self.drawn], minlength=self.population.size)


def total_interval(population: int, taken: int, hits: int) -> tuple[float, float]:
    """Return the 95 % interval of the hits in a population, when `hits` of `taken` drawn ones are.

    Wilson's (1927), which has a width where all or none are hits; with the correction for a finite population, and
    never beyond what was seen.
    """
    if taken == population:
        return float(hits), float(hits)
    n, share = taken * (population - 1) / (population - taken), hits / taken
    centre = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * sqrt(share * (1 - share) / n + (Z / (2 * n)) ** 2)
    most = population - (taken - hits)
    return max(population * (centre - half), float(hits)), min(population * (centre + half), float(most))


class Weights:
    """Inverse probabilities of sets under n of N drawn in each stratum; k counts what was drawn, not what there is."""

    def __init__(self, population: Ints, taken: Ints) -> None:
        self.population = [int(size) for size in population]
        self.taken = [int(size) for size in taken]
        # the last entry is that of certain triples, so that CERTAIN finds it
        self.one: Floats = np.append(np.asarray(population) / np.asarray(taken), 1.0)
        self._exactly: dict[tuple[int, ...], Floats] = {}

    def none(self, counts: Ints, member: Ints) -> Floats:
        """Return the weight of "this one, and no positive of that kind", [...]; negative where an odd number was drawn.

        counts [strata, ...] positives drawn of that kind, member [...] the stratum of this one. The sum over their
        subsets S of (-1)^|S| / P(S and this one) is (-1)^k (N - n + k - 1)_k / (n)_k, by Chu and Vandermonde.
        """
        weight = self.one[member]
        for h, k in enumerate(counts):
            most = int(k.max(initial=0))
            with_own = member == h
            weight = weight * np.where(with_own, self._alone(h, 1, most)[k], self._alone(h, 0, most)[k])
        return weight

    def _alone(self, stratum: int, others: int, most: int) -> Floats:
        """Return factors for k = 0 ... most positives drawn beside `others` of the set, [most + 1]; 0: impossible k."""
        n, gap = self.taken[stratum] - others, self.population[stratum] - self.taken[stratum]
        steps = [-(gap + i) / (n - i) if n > i else 0.0 for i in range(most)]
        return np.concatenate(([1.0], np.cumprod(steps)))

    def above(self, other: int, member: Ints) -> Floats:
        """Return 1 / P(this one and one of stratum `other`), [...]; `member` [...] is the stratum of this one."""
        population, taken = self.population[other], self.taken[other]
        both = (population - 1) / (taken - 1) if taken > 1 else 0.0  # where one was drawn there is no pair
        return self.one[member] * np.where(member == other, both, population / taken)

    def exactly(self, higher: tuple[int, ...], tied: tuple[int, ...], member: int) -> Floats:
        """Return weights [v] of "this one, exactly v half ranks above it": two for a higher positive, one for a tie.

        higher, tied: positives drawn, by stratum. In expectation over samples these are the indicator of the v that is
        true. A sample of everything gives 1 at 2 * sum(higher) + sum(tied) and 0 elsewhere.
        """
        key = (*higher, *tied, member)
        if key not in self._exactly:
            weights = np.ones(1)
            for h, (k, t) in enumerate(zip(higher, tied, strict=True)):
                weights = np.convolve(weights, self._exactly_in(h, k, t, int(member == h)))
            self._exactly[key] = weights
        return self._exactly[key]

    def _exactly_in(self, stratum: int, k: int, t: int, own: int) -> Floats:
        weights = np.zeros(2 * k + t + 1)
        n, size = self.taken[stratum], self.population[stratum]
        for s, u in product(range(k + 1), range(t + 1)):
            members = s + u + own
            together = np.prod([(size - i) / (n - i) for i in range(members)])
            none = self._alone(stratum, members, k + t - s - u)[-1]
            weights[2 * s + u] += comb(k, s) * comb(t, u) * together * none
        return weights
