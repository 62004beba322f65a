"""Compute how stable the order of the systems is on random subsets of the positive triples or of the questions.

A triple whose label is left out is no answer and is not filtered out either.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.callbacks import Tell
from evaluation.measures.kept_labels import KeptLabels
from evaluation.measures.label_state import States
from evaluation.measures.prepared import Prepared
from evaluation.measures.question_sums import QuestionSums
from evaluation.measures.rank_table import Floats, Order
from evaluation.measures.registry import parse_measure
from evaluation.statistics.bootstrap import StackedSums
from evaluation.statistics.correlation import kendall_tau, merit

SIZES: tuple[float, ...] = (0.01, *(percent / 100 for percent in range(5, 100, 5)))  # 20 of them
HALF_SIZES = tuple(size for size in SIZES if size <= 0.5)
Merits = Callable[[Sequence[Order]], Floats]  # subsets, as indices -> [subsets, measures, systems]


@dataclass(frozen=True)
class Stability:
    """Hold Kendall's tau of random subsets, per measure and size: of the positive triples, or of the questions."""

    sizes: tuple[float, ...]  # shares of all
    triples: NDArray[np.int64]  # [sizes] how many triples (or questions) that is
    positives: int  # all positive triples (or evaluated questions)
    repeats: int
    tau: dict[str, Floats]  # [sizes, repeats]; nan where tau is undefined

    def mean(self, name: str) -> Floats:
        """Return the mean tau [sizes] over the repeats that define it; nan if none does."""
        return np.ma.masked_invalid(self.tau[name]).mean(axis=1).filled(np.nan)

    def sd(self, name: str) -> Floats:
        """Return the sample standard deviation [sizes] over the repeats that define tau; nan with fewer than two."""
        return np.ma.masked_invalid(self.tau[name]).std(axis=1, ddof=1).filled(np.nan)

    def interval(self, name: str, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the range [sizes], [sizes] of that share of the repeats that define tau; nan if none does."""
        ends = [(1 - level) / 2, (1 + level) / 2]
        found = [
            np.quantile(row[np.isfinite(row)], ends) if np.isfinite(row).any() else [np.nan] * 2
            for row in self.tau[name]
        ]
        low, high = np.array(found, dtype=np.float64).T
        return low, high


def stability_curve(
    prepared: Prepared,
    state: States,
    names: Sequence[str],
    rng: np.random.Generator,
    sizes: Sequence[float] = SIZES,
    repeats: int = 50,
    assumed_is_judged: bool = True,
    progress: Tell | None = None,
    threads: int = 2,
) -> Stability:
    """Return tau between the orders on random subsets of the positive triples and on all of them.

    Near the full size the subset overlaps the whole and tau tends to 1: show `half_curve` beside it.

    Parameters
    ----------
    prepared : Prepared
        A rank table, sorted by `prepare`.
    state : ndarray of int8 [triples]
        The `LabelState` of each triple.
    names : sequence of str
        Names of measures.
    rng : numpy.random.Generator
        The source of randomness; the result depends on it alone.
    sizes : sequence of float, optional
        Shares of the positive triples.
    repeats : int, default 50
        Subsets of each size.
    assumed_is_judged : bool, default True
        Whether filtered triples count as judged negatives.
    progress : callable, optional
        Called with (done, total) after each size.
    threads : int, default 2
        They do not change the result.

    Returns
    -------
    Stability
        Taus by measure, size and repeat.

    Raises
    ------
    ValueError
        For a size outside 0 to 1, or an unknown measure.

    Examples
    --------
    >>> import numpy as np
    >>> from triplepool import stability_curve
    >>> from triplepool.example import prepared, state
    >>> curve = stability_curve(prepared, state, ["map"], np.random.default_rng(7), sizes=[0.3, 0.6], repeats=20)
    >>> curve.triples, curve.mean("map").round(2)
    (array([2, 4]), array([0.85, 0.87]))
    """
    merits, n = _merits_of_triples(prepared, state, names, assumed_is_judged, threads)
    return _curve(names, merits, n, rng, sizes, repeats, halves=False, progress=progress)


def half_curve(
    prepared: Prepared,
    state: States,
    names: Sequence[str],
    rng: np.random.Generator,
    sizes: Sequence[float] = HALF_SIZES,
    repeats: int = 50,
    assumed_is_judged: bool = True,
    progress: Tell | None = None,
    threads: int = 2,
) -> Stability:
    """Return tau between the orders on two disjoint random subsets of the positive triples.

    Parameters
    ----------
    prepared : Prepared
        A rank table, sorted by `prepare`.
    state : ndarray of int8 [triples]
        The `LabelState` of each triple.
    names : sequence of str
        Names of measures.
    rng : numpy.random.Generator
        The source of randomness; the result depends on it alone.
    sizes : sequence of float, optional
        Shares of the positive triples, at most half.
    repeats : int, default 50
        Subsets of each size.
    assumed_is_judged : bool, default True
        Whether filtered triples count as judged negatives.
    progress : callable, optional
        Called with (done, total) after each size.
    threads : int, default 2
        They do not change the result.

    Returns
    -------
    Stability
        Taus by measure, size and repeat.

    Raises
    ------
    ValueError
        For a size above half or not above 0, or an unknown measure.

    Examples
    --------
    >>> import numpy as np
    >>> from triplepool import half_curve
    >>> from triplepool.example import prepared, state
    >>> half_curve(prepared, state, ["map"], np.random.default_rng(7), sizes=[0.5], repeats=20).mean("map").round(2)
    array([0.47])
    """
    merits, n = _merits_of_triples(prepared, state, names, assumed_is_judged, threads)
    return _curve(names, merits, n, rng, sizes, repeats, halves=True, progress=progress)


def question_stability(
    sums: Mapping[str, QuestionSums],
    rng: np.random.Generator,
    sizes: Sequence[float] | None = None,
    repeats: int = 50,
    halves: bool = False,
) -> Stability:
    """Return tau between the orders on random subsets of the evaluated questions and on all of them.

    Labels stay as they are, so a question has the same value in every subset. A system that is undefined on some
    question is left out throughout.

    Parameters
    ----------
    sums : mapping of str to QuestionSums
        Measures of the same systems.
    rng : numpy.random.Generator
        The source of randomness; the result depends on it alone.
    sizes : sequence of float, optional
        Shares of the questions, at most half if `halves`.
    repeats : int, default 50
        Subsets of each size.
    halves : bool, default False
        Compare pairs of disjoint subsets instead.

    Returns
    -------
    Stability
        Taus by measure, size and repeat.

    Raises
    ------
    ValueError
        For a size outside its range.

    Examples
    --------
    >>> import numpy as np
    >>> from triplepool import question_stability, question_sums, values
    >>> from triplepool.example import prepared, state
    >>> found = values(prepared, state, ["micro_mrr", "map"])
    >>> sums = {name: question_sums(value) for name, value in found.items()}
    >>> curve = question_stability(sums, np.random.default_rng(7), sizes=[0.5])
    >>> curve.triples, curve.mean("map").round(2)
    (array([2]), array([0.97]))
    """
    stacked = StackedSums(sums.values())
    n = stacked.questions.size

    def merits(subsets: Sequence[Order]) -> Floats:
        times = np.zeros((len(subsets), n))
        for row, subset in zip(times, subsets, strict=True):
            row[subset] = 1.0
        return stacked.merits(times)

    usual = HALF_SIZES if halves else SIZES
    return _curve(tuple(sums), merits, n, rng, usual if sizes is None else sizes, repeats, halves)


def _merits_of_triples(
    prepared: Prepared, state: States, names: Sequence[str], assumed_is_judged: bool, threads: int
) -> tuple[Merits, int]:
    """Return a function for merits when only some of the n positive triples keep their label; and n."""
    measures = [parse_measure(name) for name in names]
    labels = KeptLabels(prepared, state, names, assumed_is_judged)

    def merits_of(subset: Order) -> list[Floats]:
        found = labels.means(subset)
        return [merit(found[measure.name], measure.higher_is_better) for measure in measures]

    def merits(subsets: Sequence[Order]) -> Floats:
        with ThreadPoolExecutor(threads) as pool:  # numpy lets go of the interpreter in its large loops
            return np.array(list(pool.map(merits_of, subsets)))

    return merits, labels.triples.size


def _curve(
    names: Sequence[str],
    merits: Merits,
    n: int,
    rng: np.random.Generator,
    sizes: Sequence[float],
    repeats: int,
    halves: bool,
    progress: Tell | None = None,
) -> Stability:
    most = 0.5 if halves else 1.0
    if any(not 0 < size <= most for size in sizes):
        what = "two disjoint subsets cannot each hold more than half" if halves else "at most 1"
        raise ValueError(f"a size is a share of all, above 0; {what}: {tuple(sizes)}")
    # never nothing unless two disjoint subsets would meet, and the same count for both curves
    least = 0 if halves else min(1, n)
    counts = [max(least, min(max(1, round(size * n)), n // 2 if size <= 0.5 else n)) for size in sizes]
    tau = np.full((len(names), len(sizes), repeats), np.nan)
    full = merits([np.arange(n)]) if names and not halves else None
    for i, count in enumerate(counts):
        shuffled = [rng.permutation(n) for _ in range(repeats)]
        if count and names:
            one = merits([order[:count] for order in shuffled])
            other = merits([order[n - count :] for order in shuffled]) if full is None else full
            tau[:, i] = kendall_tau(one, other).T  # [repeats, measures] -> [measures, repeats]
        if progress is not None:
            progress((i + 1) * repeats, len(sizes) * repeats)
    return Stability(tuple(sizes), np.array(counts), n, repeats, dict(zip(names, tau, strict=True)))
