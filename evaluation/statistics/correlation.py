"""Place systems, and correlate two orders of them: Kendall's tau-b, tau_AP, Spearman's rho, rank-biased overlap.

All take merits [..., systems] (see `merit`), so that a thousand resamples are one call. A system that is
undefined in either order is left out. Sources: Kendall 1945 (tau-b, as scipy.stats.kendalltau); Yilmaz, Aslam
and Robertson 2008 and Urbano and Marrero 2017 (tau_AP and its ties).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaluation.measures.rank_table import Floats

PERSISTENCE = 0.9  # of rank-biased overlap


def merit(mean: Floats, higher_is_better: bool) -> Floats:
    """Turn means [..., systems] so that higher is better, and round them so that equal means compare equal.

    The order of summation alone moved tau by up to 0.044 in another tool; 1e-12 is far above that noise.
    Mean ranks are larger than 1, where floats are coarser: they are rounded to 1e-12 of the largest mean.
    """
    oriented = np.asarray(mean, dtype=np.float64) * (1 if higher_is_better else -1)
    size = np.max(np.abs(oriented), axis=-1, keepdims=True, initial=1.0, where=np.isfinite(oriented))
    return np.round(oriented / size, 12) * size


def places(merits: Floats) -> Floats:
    """Return places [..., systems] from 1 by merits [..., systems]; tied systems share the best, nan has none."""
    better = merits[..., None, :] > merits[..., :, None]
    return np.where(np.isfinite(merits), 1.0 + better.sum(axis=-1), np.nan)


def kendall_tau(one: Floats, other: Floats) -> Floats:
    """Return Kendall's tau-b between merits [..., systems] and [..., systems] (broadcast): [...].

    Systems that are nan in either are left out; nan where fewer than two remain or one side ties them all.
    Pass the results of `merit`: nothing is rounded or turned here.
    """
    one, other = np.broadcast_arrays(one, other)
    left, right = np.triu_indices(one.shape[-1], k=1)
    here, there = _signs(one[..., left] - one[..., right], other[..., left] - other[..., right])
    untied = np.sqrt(np.abs(here).sum(axis=-1) * np.abs(there).sum(axis=-1))
    return _ratio((here * there).sum(axis=-1), untied)


def tau_of_means(one: Floats, other: Floats, higher_is_better: bool = True) -> float:
    """Return tau-b between the orders that one measure gives by the means [systems] on two label sets."""
    return float(kendall_tau(merit(one, higher_is_better), merit(other, higher_is_better)))


def tau_ap(one: Floats, other: Floats) -> Floats:
    """Return tau_AP,b, the AP correlation of two orders with ties, of which neither is the truth.

    Parameters
    ----------
    one, other : ndarray of float [..., systems]
        Values of the systems, higher is better; they are broadcast. Systems that are nan in either are left out.

    Returns
    -------
    ndarray of float [...]
        From -1 to 1; nan where fewer than two systems remain or one side ties them all.

    Notes
    -----
    In one direction, by the order of `one`: of the systems strictly above system i in `one` (so above its whole
    tie), take the share that is strictly above i in `other` too. The value is 2 * mean of these shares - 1, over
    the systems that are not in the first tie of `one`. A swap near the top so costs more than one near the end,
    and a pair that only `other` ties counts as not in order. The result is the mean of both directions; without
    ties each is the 2 / (n - 1) * sum of C(i) / (i - 1) - 1 of Yilmaz et al.

    Source: Urbano and Marrero 2017, The treatment of ties in AP correlation.

    Examples
    --------
    The first example of Urbano and Marrero's package ircor:

    >>> import numpy as np
    >>> from triplepool import tau_ap
    >>> one = np.array([0.9, 0.4, 0.9, 0.9, 0.7, 0.1, 0.2, 0.4, 0.5, 1.0])
    >>> other = np.array([0.8, 0.4, 0.8, 1.0, 0.7, 0.1, 0.4, 0.5, 0.6, 1.0])
    >>> round(float(tau_ap(one, other)), 4)
    0.7321
    """
    here, there = _pair_signs(one, other)
    both = (here < 0) & (there < 0)  # [..., i, j]: j is above i in both
    directions = []
    for signs in (here, there):
        count = (signs < 0).sum(axis=-1)
        share = both.sum(axis=-1) / np.maximum(count, 1)  # 0 for the first tie
        counted = (count > 0).sum(axis=-1)
        directions.append(2.0 * _ratio(share.sum(axis=-1), counted) - 1.0)
    return (directions[0] + directions[1]) / 2.0


def tau_ap_a(truth: Floats, estimate: Floats) -> Floats:
    """Return tau_AP,a: how well an order with ties meets a true order without.

    It is the mean of Yilmaz et al.'s tau_AP over every way to order the ties of `estimate`; tau_AP,b, which
    `correlate` gives, compares two orders of which neither is the truth.

    Parameters
    ----------
    truth, estimate : ndarray of float [..., systems]
        Values of the systems, higher is better. Systems that are nan in either are left out.

    Returns
    -------
    ndarray of float [...]
        From -1 to 1; nan where fewer than two systems remain or `truth` has ties.

    Notes
    -----
    Source: Urbano and Marrero 2017, The treatment of ties in AP correlation.

    Examples
    --------
    >>> import numpy as np
    >>> from triplepool import tau_ap_a
    >>> float(tau_ap_a(np.array([0.9, 0.7, 0.4]), np.array([0.8, 0.8, 0.1])))
    0.5
    """
    # A system in a tie of t systems below a others comes, in these ways, at each rank a + s (s = 1 … t) equally often;
    # above it are then the a systems and s - 1 of its tie, of which the same share is right as of the whole tie.
    here, there = _pair_signs(truth, estimate)
    pair = np.isfinite(truth) & np.isfinite(estimate)  # [..., systems]
    pair = pair[..., :, None] & pair[..., None, :] & ~np.eye(here.shape[-1], dtype=bool)
    above, tied = pair & (there < 0), pair & (there == 0)
    a, others = above.sum(axis=-1), tied.sum(axis=-1)  # others: t - 1
    right = (above & (here < 0)).sum(axis=-1)
    within = (tied & (here < 0)).sum(axis=-1) / np.maximum(others, 1)
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, here.shape[-1] + 1))])
    share = within + (right - a * within) * (harmonic[a + others] - harmonic[np.maximum(a - 1, 0)]) / (others + 1)
    first = within * others / (others + 1)  # of the first tie: rank 1 has nothing above
    systems = pair.any(axis=-1)
    total = np.where(systems, np.where(a > 0, share, first), 0.0).sum(axis=-1)
    value = 2.0 * _ratio(total, systems.sum(axis=-1) - 1) - 1.0
    return np.where((pair & (here == 0)).any(axis=(-2, -1)), np.nan, value)


def spearman(one: Floats, other: Floats) -> Floats:
    """Return Spearman's rho, tied systems sharing their average rank, as scipy.stats.spearmanr: [...].

    Systems that are nan in either are left out; nan where fewer than two remain or one side ties them all.
    """
    # a rank less the mean rank is half of (systems below - systems above): whole numbers, nothing to round
    here, there = (signs.sum(axis=-1) for signs in _pair_signs(one, other))
    return _ratio((here * there).sum(axis=-1), np.sqrt((here**2).sum(axis=-1) * (there**2).sum(axis=-1)))


def rank_biased_overlap(one: Floats, other: Floats, persistence: float = PERSISTENCE) -> Floats:
    """Return RBO between merits [..., systems] and [..., systems] (broadcast): [...], from 0 to 1.

    With n systems in both, p the persistence and A_d the agreement at depth d:
    RBO = (1 - p) * sum over d = 1 … n of p^(d - 1) * A_d  +  p^n * A_n, where A_n is 1 (the extrapolated tail).
    Ties as the authors treat them: tied systems all stand at the first rank of their tie, so the first d may
    be more than d systems, and A_d = 2 * |common to both| / (|first d of one| + |first d of other|). Two equal
    orders have RBO 1, ties or not; a side that ties all systems is compared like any other.

    It is no correlation: with few systems even a reversed order is far above 0. Systems that are nan in either
    are left out; nan where fewer than two remain. ValueError for a persistence that is not between 0 and 1.
    Source: Webber, Moffat and Zobel 2010, "A similarity measure for indefinite rankings" (RBO_EXT).
    """
    if not 0 < persistence < 1:
        raise ValueError(f"the persistence of RBO lies between 0 and 1, not at {persistence}")
    one, other = np.broadcast_arrays(one, other)
    defined = np.isfinite(one) & np.isfinite(other)
    n = defined.sum(axis=-1)  # [...]
    depth = np.arange(1, one.shape[-1] + 1)
    inside = [_within_first(merit, defined, depth) for merit in (one, other)]  # 2 x [..., systems, depths]
    common = (inside[0] & inside[1]).sum(axis=-2)  # [..., depths]
    listed = inside[0].sum(axis=-2) + inside[1].sum(axis=-2)
    agreement = 2.0 * common / np.maximum(listed, 1)
    weight = np.where(depth <= n[..., None], (1.0 - persistence) * persistence ** (depth - 1.0), 0.0)
    return np.where(n >= 2, (agreement * weight).sum(axis=-1) + persistence**n, np.nan)


def _within_first(merit: Floats, defined: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """Tell which systems are among the first d: bool [..., systems, depths]; never where not defined."""
    better = (merit[..., None, :] > merit[..., :, None]) & defined[..., None, :]
    above = better.sum(axis=-1)  # [..., systems]
    return (above[..., None] < depth) & defined[..., None]


def _pair_signs(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return sign(x_i - x_j) of both orders, 2 x [..., i, j]; 0 where a system of the pair is undefined in either."""
    one, other = np.broadcast_arrays(one, other)
    return _signs(one[..., :, None] - one[..., None, :], other[..., :, None] - other[..., None, :])


def _signs(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return the signs of differences in both orders; 0 where either is undefined."""
    defined = np.isfinite(one) & np.isfinite(other)
    return np.where(defined, np.sign(one), 0.0), np.where(defined, np.sign(other), 0.0)


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Return part / whole, nan where whole is 0."""
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=np.asarray(whole) > 0)


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
