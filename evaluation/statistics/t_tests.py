"""Test pairs of systems: how many a measure can tell apart is its discriminative power.

Paired two-tailed t-tests on per-unit values (Sakai 2006). Micro values are not independent: a positive triple gives
two of them, and the answers of one question share their filter. So show micro with the test clustered by question
too, and n beside every p-value. Many pairs are many tests: corrections are here, the randomised test of all pairs
at once is in tukey_hsd.py.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from evaluation.measures.rank_table import Floats
from evaluation.measures.values import Values

Correction = Literal["holm", "fdr_bh"]  # Holm; Benjamini and Hochberg (false discovery rate)


@dataclass(frozen=True)
class PairPs:
    """Hold one entry per pair of systems, `first` < `second`, in the order of numpy.triu_indices."""

    first: NDArray[np.intp]  # [pairs]
    second: NDArray[np.intp]  # [pairs]
    difference: Floats  # [pairs] mean of first - second over the units
    p: Floats  # [pairs] two-tailed; nan where undefined

    def descending(self) -> Floats:
        """Return the defined p-values in descending order."""
        return np.sort(self.p[np.isfinite(self.p)])[::-1]

    def area(self) -> float:
        """Return the area under the curve over the share of pairs, 0 … 1 (the mean p): less tells more pairs apart."""
        curve = self.descending()
        return float(curve.mean()) if curve.size else float("nan")

    def corrected(self, method: Correction) -> Floats:
        """Correct p-values [pairs] for the number of defined ones; undefined ones stay undefined.

        "holm" (Holm 1979) keeps the chance of any false finding below alpha, "fdr_bh" (Benjamini and
        Hochberg 1995) the expected share of false ones among the findings.
        """
        # our own, since statsmodels collects garbage in every call: half a second in a process of this size
        corrected = np.full(self.p.shape, np.nan)
        m = int(np.isfinite(self.p).sum())
        order = np.argsort(self.p, kind="stable")[:m]  # undefined ones are last
        if method == "holm":  # the i-th smallest times m - i + 1, never below the one before it
            stepped = np.maximum.accumulate((m - np.arange(m)) * self.p[order])
        else:  # the i-th smallest times m / i, never above the one after it
            order = order[::-1]
            stepped = np.minimum.accumulate(m / np.arange(m, 0, -1) * self.p[order])
        corrected[order] = np.minimum(stepped, 1.0)
        return corrected

    def share_below(self, alpha: float = 0.05, method: Correction | None = None) -> float:
        """Return the share of pairs with a defined p, corrected by `method` if given, that is below alpha."""
        p = self.p if method is None else self.corrected(method)
        defined = p[np.isfinite(p)]
        return float((defined < alpha).mean()) if defined.size else float("nan")


@dataclass(frozen=True)
class PairTests(PairPs):
    """Hold t-tests; p is nan if a value is undefined or there are fewer than two units or clusters."""

    t: Floats  # [pairs]
    n: int  # units: answers or questions
    clusters: int | None  # questions, if clustered


def paired_t_tests(values: Values) -> PairTests:
    """Run Student's paired t-test of all pairs, as scipy.stats.ttest_rel; no difference at all is t 0, p 1."""
    return _tests(values.per_unit, None)


def clustered_t_tests(values: Values) -> PairTests:
    """Run paired t-tests with questions as clusters (the cluster-robust, or sandwich, variance of a mean).

    With d_i the difference of unit i, D its mean over n units, and G questions:
    u_g = sum over the units i of question g of (d_i - D);  Var(D) = G / (G - 1) * sum of u_g^2 / n^2;
    t = D / sqrt(Var(D)), with G - 1 degrees of freedom. With one unit per question it is the paired t-test.
    Source: Liang and Zeger 1986, with the usual factor for few clusters.
    """
    return _tests(values.per_unit, values.unit_question)


def _tests(per_unit: Floats, cluster: NDArray[np.int32] | None) -> PairTests:
    systems, n = per_unit.shape
    first, second = np.triu_indices(systems, k=1)
    starts = np.arange(n) if cluster is None else np.flatnonzero(np.diff(cluster, prepend=-1))
    # one system against all later ones: (systems, n) at a time, not (pairs, n)
    of_each = [_mean_and_error(per_unit[system] - per_unit[system + 1 :], starts) for system in range(systems - 1)]
    mean, error = np.concatenate([np.zeros((2, 0)), *of_each], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where((mean == 0) & (error == 0), 0.0, mean / error)
    p = 2.0 * stdtr(max(starts.size - 1, 1), -np.abs(t))
    return PairTests(first, second, mean, p, t, n, None if cluster is None else starts.size)


def _mean_and_error(difference: Floats, starts: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Return the mean [m] of differences [m, n] and its standard error [m]; clusters begin at `starts`."""
    n, clusters = difference.shape[1], starts.size
    undefined = np.full(difference.shape[0], np.nan)
    mean = difference.mean(axis=1) if n else undefined
    if clusters < 2:
        return mean, undefined
    centred = difference - mean[:, None]
    if clusters < n:
        centred = np.add.reduceat(centred, starts, axis=1)
    variance = clusters / (clusters - 1) * np.square(centred).sum(axis=1) / n**2
    return mean, np.sqrt(variance)
