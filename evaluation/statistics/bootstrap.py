"""Compute intervals of correlations and places by resampling questions, the same resamples for every measure.

A drawn question brings all its units in both label sets, so that the answers of one question stay together.
All means of a block of resamples are one matrix product.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.measures.question_sums import QuestionSums
from evaluation.measures.rank_table import Floats, Ints
from evaluation.statistics.correlation import CORRELATIONS, Correlation, merit, places

Families = Sequence[Sequence[int]]  # of seeds: indices of systems, the chosen one first
CHUNK = 100  # resamples at a time: a few tens of MB of weights for the largest pools


@dataclass(frozen=True)
class Interval:
    """Hold the percentile interval `low` … `high` over the `defined` resamples; nan if there is none."""

    value: float
    low: float
    high: float
    resamples: int
    defined: int
    questions: int


def bootstrap_correlations(
    one: Mapping[str, QuestionSums],
    other: Mapping[str, QuestionSums],
    rng: np.random.Generator,
    resamples: int = 1000,
    level: float = 0.95,
    correlations: Iterable[str] = tuple(CORRELATIONS),
    families: Families | None = None,
) -> dict[str, dict[str, Interval]]:
    """Correlate the orders of the systems under two label sets, with bootstrap intervals.

    The questions evaluated in any of the sums are drawn with replacement, the same resamples for every measure and
    correlation; a drawn question brings all its units. A system that is undefined on some question is left out, in the
    resamples as in the value.

    Parameters
    ----------
    one, other : mapping of str to QuestionSums
        Sums of the same systems under the same keys; to compare two measures under one label set, give both sides the
        same key.
    rng : numpy.random.Generator
        The source of randomness; the result depends on it alone.
    resamples : int, default 1000
        How many resamples are drawn.
    level : float, default 0.95
        Of the percentile intervals.
    correlations : iterable of str, optional
        Of "tau_b", "tau_ap", "rbo", "spearman"; all if left out.
    families : sequence of sequence of int, optional
        Systems that differ only in the seed, as indices. The first of each stands for it in the value; a resample draws
        one of each with equal chances, the same on both sides, so that intervals hold the variance of training too. The
        questions drawn are those without it. A family with an undefined system is left out.

    Returns
    -------
    dict of str to dict of str to Interval
        {measure: {correlation: interval}}.

    Raises
    ------
    ValueError
        If the keys differ.

    Examples
    --------
    >>> import numpy as np
    >>> from triplepool import bootstrap_correlations, question_sums, values
    >>> from triplepool.example import prepared, state
    >>> found = values(prepared, state, ["micro_mrr", "map"])
    >>> sums = {name: question_sums(value) for name, value in found.items()}
    >>> one, other = {"both": sums["micro_mrr"]}, {"both": sums["map"]}
    >>> tau = bootstrap_correlations(one, other, np.random.default_rng(7), resamples=100)["both"]["tau_b"]
    >>> round(tau.value, 2), round(tau.low, 2), round(tau.high, 2), tau.questions
    (1.0, 1.0, 1.0, 4)
    """
    if one.keys() != other.keys():
        raise ValueError(f"two sides with different measures: {sorted(one)} and {sorted(other)}")
    if not one:
        return {}
    stacked = StackedSums([*one.values(), *(other[name] for name in one)])
    return _intervals(
        tuple(one), stacked, [CORRELATIONS[name] for name in correlations], rng, resamples, level, families
    )


def _intervals(
    names: Sequence[str],
    stacked: StackedSums,
    chosen: Sequence[Correlation],
    rng: np.random.Generator,
    resamples: int,
    level: float,
    families: Families | None,
) -> dict[str, dict[str, Interval]]:
    """Return the intervals between the first and the second half of the stacked measures."""
    size = stacked.questions.size

    def compare(merits: Floats) -> list[Floats]:  # [draws, 2 * measures, systems] -> per correlation [draws, measures]
        return [entry.compute(merits[:, : len(names)], merits[:, len(names) :]) for entry in chosen]

    whole = stacked.merits(np.ones((1, size)))
    values = compare(whole if families is None else one_of_each(whole, families))
    blocks = [compare(merits) for merits in stacked.resampled(resamples, rng, families)]
    found: dict[str, dict[str, Interval]] = {name: {} for name in names}
    for i, entry in enumerate(chosen):
        drawn = np.concatenate([block[i] for block in blocks]) if blocks else np.zeros((0, len(names)))
        for m, name in enumerate(names):
            low, high, defined = percentiles(drawn[:, m], level)
            found[name][entry.name] = Interval(float(values[i][0, m]), low, high, resamples, defined, size)
    return found


def percentiles(drawn: Floats, level: float) -> tuple[float, float, int]:
    """Return the ends of the percentile interval of the finite values, nan without one, and how many these are."""
    finite = drawn[np.isfinite(drawn)]
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(finite, [tail, 1.0 - tail]) if finite.size else (np.nan, np.nan)
    return float(low), float(high), finite.size


@dataclass(frozen=True)
class PlaceIntervals:
    """Hold the percentile interval `low` … `high` [systems] of each system's place; nan where it has none.

    `undecided`: the pairs, of `pairs`, of which neither system is ahead in 97.5 % (at level 0.95) of the resamples;
    `open_pairs` has them as (system more often ahead, the other one, share of the resamples in which it is ahead).
    """

    low: Floats
    high: Floats
    open_pairs: list[tuple[int, int, float]]
    pairs: int
    questions: int
    resamples: int

    @property
    def undecided(self) -> int:
        return len(self.open_pairs)


def bootstrap_places(
    sums: Mapping[str, QuestionSums],
    rng: np.random.Generator,
    resamples: int = 1000,
    level: float = 0.95,
    families: Families | None = None,
) -> dict[str, PlaceIntervals]:
    """Return between which places systems move when the questions are drawn again.

    Questions are drawn with replacement, the same resamples for every measure; a drawn question brings all its units.

    Parameters
    ----------
    sums : mapping of str to QuestionSums
        Measures of the same systems.
    rng : numpy.random.Generator
        The source of randomness; the result depends on it alone.
    resamples : int, default 1000
        How many resamples are drawn.
    level : float, default 0.95
        Of the percentile intervals.
    families : sequence of sequence of int, optional
        Systems that differ only in the seed, as in `bootstrap_correlations`: places are then those of families.

    Returns
    -------
    dict of str to PlaceIntervals
        One entry per measure.

    Raises
    ------
    ValueError
        Without a resample.

    Examples
    --------
    >>> import numpy as np
    >>> from triplepool import bootstrap_places, question_sums, values
    >>> from triplepool.example import prepared, state
    >>> found = values(prepared, state, ["micro_mrr", "map"])
    >>> sums = {name: question_sums(value) for name, value in found.items()}
    >>> places = bootstrap_places(sums, np.random.default_rng(7), resamples=100)["map"]
    >>> places.low, places.high, places.undecided, places.pairs
    (array([1., 1., 3.]), array([1., 2., 3.]), 1, 3)
    """
    if resamples < 1:
        raise ValueError("places need at least one resample")
    if not sums:
        return {}
    stacked = StackedSums(sums.values())
    merits = np.concatenate(list(stacked.resampled(resamples, rng, families)))  # [draws, measures, systems]
    left, right = np.triu_indices(merits.shape[2], k=1)
    one, other = merits[..., left], merits[..., right]
    ahead, behind = (one > other).sum(axis=0), (one < other).sum(axis=0)  # [measures, pairs]
    tail = (1.0 - level) / 2.0
    undecided = np.maximum(ahead, behind) < (1.0 - tail) * resamples

    def open_pairs(m: int) -> list[tuple[int, int, float]]:
        found = []
        for i in np.flatnonzero(undecided[m]).tolist():
            wins = [(int(ahead[m, i]), int(left[i]), int(right[i])), (int(behind[m, i]), int(right[i]), int(left[i]))]
            won, first, second = max(wins, key=lambda one: one[0])
            found.append((first, second, won / resamples))
        return found

    ends = np.quantile(places(merits), [tail, 1.0 - tail], axis=0, method="inverted_cdf")  # [2, measures, systems]
    return {
        name: PlaceIntervals(ends[0, m], ends[1, m], open_pairs(m), left.size, stacked.questions.size, resamples)
        for m, name in enumerate(sums)
    }


# -- resamples ------------------------------------------------------------------------------------------------


class StackedSums:
    """Put several measures of the same systems side by side over the union of their questions."""

    def __init__(self, sums: Iterable[QuestionSums]) -> None:
        self._sums = tuple(sums)
        asked = [one.question for one in self._sums]
        self.questions: Ints = np.unique(np.concatenate(asked)) if asked else np.zeros(0, dtype=np.int64)
        columns = []
        for one in self._sums:
            placed = np.zeros((self.questions.size, one.sums.shape[0] + 1))  # sums of the systems, then units
            at = np.searchsorted(self.questions, one.question)
            placed[at, :-1], placed[at, -1] = one.sums.T, one.counts
            columns.append(placed)
        self._columns = np.concatenate(columns, axis=1) if columns else np.zeros((0, 0))

    def merits(self, times: Floats) -> Floats:
        """Return merits [draws, measures, systems] if question j counts times[:, j] times, [draws, questions]."""
        # [draws, measures * (systems + 1)] -> [draws, measures, systems + 1]
        totals = (times @ self._columns).reshape(times.shape[0], len(self._sums), -1)
        with np.errstate(invalid="ignore", divide="ignore"):  # a draw without a unit has no mean: nan
            means = totals[..., :-1] / totals[..., -1:]
        for i, one in enumerate(self._sums):
            mean = one.finish(means[:, i]) if one.finish else means[:, i]
            means[:, i] = merit(mean, one.higher_is_better)
        return means

    def resampled(self, resamples: int, rng: np.random.Generator, families: Families | None = None) -> Iterator[Floats]:
        """Yield the merits [draws, measures, systems] of resamples of the questions, CHUNK draws at a time.

        With `families` of seeds the systems are families, and each draw takes one seed of each, the same for every
        measure. Seeds have a generator of their own, so that the questions are those drawn without families.
        """
        of_seeds = rng.spawn(1)[0] if families is not None else rng
        for begin in range(0, resamples, CHUNK):
            draws = min(CHUNK, resamples - begin)
            merits = self.merits(times_drawn(draws, self.questions.size, rng))
            if families is not None:
                sizes = [len(family) for family in families]
                merits = one_of_each(merits, families, of_seeds.integers(sizes, size=(draws, len(sizes))))
            yield merits


def one_of_each(merits: Floats, families: Families, drawn: Ints | None = None) -> Floats:
    """Return the merits [draws, measures, families] of one seed of each family, of merits [draws, measures, systems].

    `drawn` [draws, families]: which of its systems; without it the first. A family is nan where one of them is.
    """
    found = np.empty((*merits.shape[:2], len(families)))
    for i, family in enumerate(families):
        own = merits[:, :, list(family)]  # [draws, measures, seeds]
        which = np.zeros(len(own), dtype=np.intp) if drawn is None else drawn[:, i]
        found[:, :, i] = np.where(np.isnan(own).any(axis=2), np.nan, own[np.arange(len(own)), :, which])
    return found


def times_drawn(resamples: int, questions: int, rng: np.random.Generator) -> Floats:
    """Return how often each question is in each resample, [resamples, questions]."""
    if questions == 0:
        return np.zeros((resamples, 0))
    drawn = rng.integers(questions, size=(resamples, questions))
    drawn += np.arange(resamples)[:, None] * questions
    counted = np.bincount(drawn.ravel(), minlength=resamples * questions)
    return counted.reshape(resamples, questions).astype(np.float64)
