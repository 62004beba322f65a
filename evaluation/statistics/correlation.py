"""Correlate two orders of the same systems: Kendall's tau-b, tau_AP, Spearman's rho, rank-biased overlap.

All take merits [..., systems] (see `merit`), so that a thousand resamples are one call. A system that is
undefined in either order is left out. Sources: Kendall 1945 (tau-b, as scipy.stats.kendalltau); Yilmaz, Aslam
and Robertson 2008 and Urbano and Marrero 2017 (tau_AP and its ties).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaluation.measures.rank_table import Floats
from evaluation.statistics.rank_biased_overlap import rank_biased_overlap


def merit(mean: Floats, higher_is_better: bool) -> Floats:
    """Turn means [..., systems] so that higher is better, and round them so that equal means compare equal.

    The order of summation alone moved tau by up to 0.044 in another tool; 1e-12 is far above that noise.
    Mean ranks are larger than 1, where floats are coarser: they are rounded to 1e-12 of the largest mean.
    """
    oriented = np.asarray(mean, dtype=np.float64) if higher_is_better else -np.asarray(mean, dtype=np.float64)
    size = np.max(np.abs(oriented), axis=-1, keepdims=True, initial=1.0, where=np.isfinite(oriented))
    rounded: Floats = np.round(oriented / size, 12) * size
    return rounded


def kendall_tau(one: Floats, other: Floats) -> Floats:
    """Return Kendall's tau-b between merits [..., systems] and [..., systems] (broadcast): [...].

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
    return _ratio((here * there).sum(axis=-1), untied)


def tau_of_means(one: Floats, other: Floats, higher_is_better: bool = True) -> float:
    """Return tau-b between the orders that one measure gives by the means [systems] on two label sets."""
    return float(kendall_tau(merit(one, higher_is_better), merit(other, higher_is_better)))


def tau_ap(one: Floats, other: Floats) -> Floats:
    """Return the AP correlation with ties, in its symmetric form, between merits [..., systems] (broadcast): [...].

    In one direction, by the order of `one`: each system i that is not in the first tie of `one` contributes
    the mean, over the systems j strictly above i in `one` (so above its whole tie), of
    sign(one_i - one_j) * sign(other_i - other_j); the value is the mean over these systems i. A swap near the
    top so costs more than one near the end. The result is the mean of both directions, the tau_AP,b of Urbano
    and Marrero 2017; without ties each direction is 2 / (n - 1) * sum of C(i) / (i - 1) - 1 of Yilmaz et al.

    Systems that are nan in either are left out; nan where fewer than two remain or one side ties them all.
    """
    here, there = _signs(one, other)
    agree = here * there
    directions = []
    for signs in (here, there):
        above = signs < 0  # [..., i, j]: j stands above i
        count = above.sum(axis=-1)
        share = np.where(above, agree, 0.0).sum(axis=-1) / np.maximum(count, 1)  # 0 for the first tie
        directions.append(_ratio(share.sum(axis=-1), (count > 0).sum(axis=-1)))
    both: Floats = (directions[0] + directions[1]) / 2.0
    return both


def spearman(one: Floats, other: Floats) -> Floats:
    """Return Spearman's rho, tied systems sharing their average rank, as scipy.stats.spearmanr: [...].

    Systems that are nan in either are left out; nan where fewer than two remain or one side ties them all.
    """
    # a rank less the mean rank is half of (systems below - systems above): whole numbers, nothing to round
    here, there = (signs.sum(axis=-1) for signs in _signs(one, other))
    return _ratio((here * there).sum(axis=-1), np.sqrt((here**2).sum(axis=-1) * (there**2).sum(axis=-1)))


def _signs(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return sign(x_i - x_j) of both orders, 2 x [..., i, j]; 0 where a system of the pair is undefined in either."""
    one, other = np.broadcast_arrays(one, other)
    here, there = (np.sign(side[..., :, None] - side[..., None, :]) for side in (one, other))
    defined = np.isfinite(here) & np.isfinite(there)
    return np.where(defined, here, 0.0), np.where(defined, there, 0.0)


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Return part / whole, nan where whole is 0."""
    ratio: Floats = np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=np.asarray(whole) > 0)
    return ratio


@dataclass(frozen=True)
class Correlation:
    """Describe one way to compare two orders of systems: an entry of the registry."""

    name: str
    label: str
    low: float
    description: str
    source: str
    compute: Callable[[Floats, Floats], Floats]  # merits [..., systems] twice -> [...]
    high: float = 1.0


CORRELATIONS: dict[str, Correlation] = {
    entry.name: entry
    for entry in (
        Correlation(
            "tau_b",
            "Kendall's tau-b",
            -1.0,
            "Pairs of systems in the same order less pairs in the opposite order; ties count for neither.",
            "Kendall 1945; scipy.stats.kendalltau",
            kendall_tau,
        ),
        Correlation(
            "tau_ap",
            "tau_AP",
            -1.0,
            "Like Kendall's tau, but a swap among the best systems costs more than one among the worst.",
            "Yilmaz, Aslam and Robertson 2008; ties and symmetry: Urbano and Marrero 2017 (tau_AP,b)",
            tau_ap,
        ),
        Correlation(
            "rbo",
            "RBO (p = 0.9)",
            0.0,
            "Share of systems common to the first d of both orders, for every d, the first weighing most. "
            "It is no correlation: 0 is out of reach where both sides order the same systems.",
            "Webber, Moffat and Zobel 2010 (extrapolated)",
            rank_biased_overlap,
        ),
        Correlation(
            "spearman",
            "Spearman's rho",
            -1.0,
            "Correlation of the ranks; a system that moves far counts more than several that move a little.",
            "Spearman 1904; scipy.stats.spearmanr",
            spearman,
        ),
    )
}
