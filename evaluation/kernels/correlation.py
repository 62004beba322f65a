"""How much two orders of the same systems agree: Kendall's tau-b, and its bootstrap interval over questions.

Sources: Kendall 1945 (tau-b, as scipy.stats.kendalltau); spec/metrics.md §4; spec/pooling.md, Traps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.kernels.table import Floats, Ints
from evaluation.kernels.values import Values

CHUNK = 100  # resamples at a time: a few tens of MB of weights for the largest pools


def merit(mean: Floats, higher_is_better: bool) -> Floats:
    """Means [..., systems] turned so that higher is better, and rounded so that equal means compare equal.

    The order of summation alone moved tau by up to 0.044 in another tool; 1e-12 is far above that noise.
    Mean ranks are larger than 1, where floats are coarser: they are rounded to 1e-12 of the largest mean.
    """
    oriented = np.asarray(mean, dtype=np.float64) if higher_is_better else -np.asarray(mean, dtype=np.float64)
    size = np.max(np.abs(oriented), axis=-1, keepdims=True, initial=1.0, where=np.isfinite(oriented))
    rounded: Floats = np.round(oriented / size, 12) * size
    return rounded


def kendall_tau(one: Floats, other: Floats) -> Floats:
    """Kendall's tau-b between merits [..., systems] and [..., systems] (broadcast): [...].

    Systems that are nan in either are left out; nan where fewer than two remain or one side ties them all.
    Pass the results of `merit`: nothing is rounded or turned here.
    """
    one, other = np.broadcast_arrays(one, other)
    left, right = np.triu_indices(one.shape[-1], k=1)
    here = np.sign(one[..., left] - one[..., right])
    there = np.sign(other[..., left] - other[..., right])
    defined = np.isfinite(here) & np.isfinite(there)
    here, there = np.where(defined, here, 0.0), np.where(defined, there, 0.0)
    untied = np.sqrt(np.abs(here).sum(axis=-1) * np.abs(there).sum(axis=-1))
    tau: Floats = np.divide(
        (here * there).sum(axis=-1), untied, out=np.full(untied.shape, np.nan), where=untied > 0
    )
    return tau


def tau_of_means(one: Floats, other: Floats, higher_is_better: bool = True) -> float:
    """Tau-b between the orders that one measure gives by the means [systems] on two label sets."""
    return float(kendall_tau(merit(one, higher_is_better), merit(other, higher_is_better)))


@dataclass(frozen=True)
class TauInterval:
    """`low` … `high` is the percentile interval over the `defined` resamples; nan if there is none."""

    tau: float
    low: float
    high: float
    resamples: int
    defined: int
    questions: int


def bootstrap_tau(
    one: Values, other: Values, rng: np.random.Generator, resamples: int = 1000, level: float = 0.95
) -> TauInterval:
    """Tau between two label sets (or two measures) with a percentile interval over questions.

    The questions evaluated in either are drawn with replacement; a drawn question brings all its units in
    both, so that the answers of one question stay together. Means of a resample are sums over counts, both
    by one product.
    """
    questions = np.union1d(one.unit_question, other.unit_question)
    totals = [_sums_and_counts(values, questions) for values in (one, other)]
    taus = []
    for begin in range(0, resamples, CHUNK):
        size = min(CHUNK, resamples - begin)
        times = _times_drawn(size, questions.size, rng)
        taus.append(
            kendall_tau(*(_merits(times, total, v) for total, v in zip(totals, (one, other), strict=True)))
        )
    drawn = np.concatenate(taus) if taus else np.zeros(0)
    drawn = drawn[np.isfinite(drawn)]
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(drawn, [tail, 1.0 - tail]) if drawn.size else (np.nan, np.nan)
    tau = kendall_tau(merit(one.mean(), one.higher_is_better), merit(other.mean(), other.higher_is_better))
    return TauInterval(float(tau), float(low), float(high), resamples, drawn.size, questions.size)


def _sums_and_counts(values: Values, questions: Ints) -> tuple[Floats, Ints]:
    """[questions, systems] sums and [questions] numbers of units."""
    place = np.searchsorted(questions, values.unit_question)
    sums = [np.bincount(place, row, minlength=questions.size) for row in values.per_unit]
    return np.array(sums, dtype=np.float64).T, np.bincount(place, minlength=questions.size)


def _times_drawn(resamples: int, questions: int, rng: np.random.Generator) -> Floats:
    """How often each question is in each resample, [resamples, questions]."""
    if questions == 0:
        return np.zeros((resamples, 0))
    drawn = rng.integers(questions, size=(resamples, questions))
    drawn += np.arange(resamples)[:, None] * questions
    return (
        np.bincount(drawn.ravel(), minlength=resamples * questions)
        .reshape(resamples, questions)
        .astype(float)
    )


def _merits(times: Floats, total: tuple[Floats, Ints], values: Values) -> Floats:
    sums, counts = total
    units = (times @ counts)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):  # a resample without a unit has no mean: nan
        return merit((times @ sums) / units, values.higher_is_better)
