"""Compute intervals by resampling questions: the same resamples for every measure and every correlation.

A drawn question brings all its units in both label sets, so that the answers of one question stay together.
All means of a block of resamples are one matrix product.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.measures.question_sums import QuestionSums
from evaluation.measures.rank_table import Floats, Ints
from evaluation.statistics.correlation import CORRELATIONS, Correlation, merit

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
    >>> from evaluation import bootstrap_correlations, question_sums, values
    >>> from evaluation.notebooks.example import prepared, state
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
    return _intervals(tuple(one), stacked, [CORRELATIONS[name] for name in correlations], rng, resamples, level)


def _intervals(
    names: Sequence[str],
    stacked: StackedSums,
    chosen: Sequence[Correlation],
    rng: np.random.Generator,
    resamples: int,
    level: float,
) -> dict[str, dict[str, Interval]]:
    """Return the intervals between the first and the second half of the stacked measures."""
    size = stacked.questions.size

    def compare(times: Floats) -> list[Floats]:  # per correlation [draws, measures]
        merits = stacked.merits(times)  # [draws, 2 * measures, systems]
        return [entry.compute(merits[:, : len(names)], merits[:, len(names) :]) for entry in chosen]

    values = compare(np.ones((1, size)))
    blocks = [compare(times_drawn(min(CHUNK, resamples - begin), size, rng)) for begin in range(0, resamples, CHUNK)]
    found: dict[str, dict[str, Interval]] = {name: {} for name in names}
    for i, entry in enumerate(chosen):
        drawn = np.concatenate([block[i] for block in blocks]) if blocks else np.zeros((0, len(names)))
        for m, name in enumerate(names):
            low, high, defined = _percentiles(drawn[:, m], level)
            found[name][entry.name] = Interval(float(values[i][0, m]), low, high, resamples, defined, size)
    return found


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


def times_drawn(resamples: int, questions: int, rng: np.random.Generator) -> Floats:
    """Return how often each question is in each resample, [resamples, questions]."""
    if questions == 0:
        return np.zeros((resamples, 0))
    drawn = rng.integers(questions, size=(resamples, questions))
    drawn += np.arange(resamples)[:, None] * questions
    counted = np.bincount(drawn.ravel(), minlength=resamples * questions)
    return counted.reshape(resamples, questions).astype(np.float64)


def _percentiles(drawn: Floats, level: float) -> tuple[float, float, int]:
    """Return the ends of the percentile interval of the finite values, and how many these are."""
    finite = drawn[np.isfinite(drawn)]
    if finite.size == 0:
        return float("nan"), float("nan"), 0
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(finite, [tail, 1.0 - tail])
    return float(low), float(high), finite.size
