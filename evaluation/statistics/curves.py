"""How conclusions grow with labels: by pool depth, in the order of decision, and on random subsets.

Source: spec/metrics.md §4 ([IR] §4-5). A triple whose label is left out is no answer and is not filtered out
either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.callbacks import Tell
from evaluation.measures.label_state import LabelState, States, positive, without_labels
from evaluation.measures.prepared import Prepared
from evaluation.measures.question_sums import QuestionSums
from evaluation.measures.rank_table import Floats, Ints, Order
from evaluation.measures.registry import parse_measure
from evaluation.measures.values import means
from evaluation.statistics.bootstrap import StackedSums
from evaluation.statistics.correlation import kendall_tau, merit

POINTS = 40
SIZES: tuple[float, ...] = (0.01, *(percent / 100 for percent in range(5, 100, 5)))  # 20 of them
HALF_SIZES = tuple(size for size in SIZES if size <= 0.5)
Merits = Callable[[Sequence[Order]], Floats]  # subsets, as indices -> [subsets, measures, systems]


@dataclass(frozen=True)
class Growth:
    """One entry per label state; the first has what is known before any label that grows, the last every label."""

    positives: NDArray[np.int64]  # positive triples
    questions: NDArray[np.int64]  # evaluated questions
    means: dict[str, Floats]  # [states, systems]
    tau_to_seeds: dict[str, Floats]  # [states] against the first
    tau_to_full: dict[str, Floats]  # [states] against the last


@dataclass(frozen=True)
class DepthCurve(Growth):
    """One entry per depth d = 0 … deepest; d = 0 has the labels of the seeds only, deeper triples unjudged.

    That is not the label set of the seeds, under which other triples are not pooled: a measure that looks at unjudged
    triples tells them apart.
    """

    depths: NDArray[np.int64]


@dataclass(frozen=True)
class AccumulationCurve(Growth):
    """One entry per point; 0 labels: no judgement yet, seeds and what was filtered without people only."""

    labels: NDArray[np.int64]  # decided labels that count


def depth_curve(
    prepared: Prepared,
    state: States,
    depth: Ints,
    names: Sequence[str],
    deepest: int | None = None,
    assumed_is_judged: bool = True,
) -> DepthCurve:
    """Means and taus when only labels of triples with pool depth <= d count, for every d.

    `depth` [triples]: 0 for seed triples, otherwise the smallest rank at which a system of the pool found
    the triple (for triples outside the pool any value: they have no label). Deeper triples count as unjudged.
    """
    pooled = state != LabelState.NOT_POOLED
    if deepest is None:
        deepest = int(depth[pooled].max(initial=0))
    depths = np.arange(deepest + 1)
    states = [without_labels(state, depth > d) for d in depths]
    return DepthCurve(*_grown(prepared, states, names, assumed_is_judged), depths)


def accumulation_curve(
    prepared: Prepared,
    state: States,
    decided: Ints,
    names: Sequence[str],
    points: int = POINTS,
    assumed_is_judged: bool = True,
) -> AccumulationCurve:
    """Means and taus when only the labels that were decided first count, at `points` even steps from none to all.

    `decided` [triples]: 0 for what is known before any label (seeds, filtered triples), otherwise when the
    triple got its judgement: any number above 0 that grows with time, such as 1 … n. Equal numbers were
    decided together and count together. Later triples count as unjudged, also those that a label took out
    of the filter. Fewer labels than points give one point per label. ValueError for fewer than two points.
    """
    if points < 2:
        raise ValueError(f"an accumulation curve goes from no label to all: at least 2 points, not {points}")
    times = np.sort(decided[(decided > 0) & (state != LabelState.NOT_POOLED)])
    labels = np.unique(np.rint(np.linspace(0, times.size, points)).astype(np.int64))
    last = np.concatenate(([0], times))[labels]  # when the last label of a point was decided
    states = [without_labels(state, decided > time) for time in last]
    counted = np.searchsorted(times, last, side="right")
    return AccumulationCurve(*_grown(prepared, states, names, assumed_is_judged), counted)


def _grown(
    prepared: Prepared, states: Sequence[States], names: Sequence[str], assumed_is_judged: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], dict[str, Floats], dict[str, Floats], dict[str, Floats]]:
    """The fields of `Growth`, in their order."""
    answers = np.logical_or.reduce([positive(at) for at in states])
    short = prepared.only(answers)  # a measure of answers alone needs no other rows
    by_name = {}
    for only, table in ((True, short), (False, prepared)):
        asked = [name for name in names if parse_measure(name).answers_only == only]
        found = [means(table, at, asked, assumed_is_judged) for at in states]
        by_name.update({name: np.array([at[name] for at in found]) for name in asked})
    merits = {name: merit(by_name[name], parse_measure(name).higher_is_better) for name in names}
    rows = short.table
    return (
        np.array([np.count_nonzero(positive(at)) for at in states]),
        np.array([np.unique(rows.question[positive(at)[rows.triple]]).size for at in states]),
        {name: by_name[name] for name in names},
        {name: kendall_tau(merits[name], merits[name][0]) for name in names},
        {name: kendall_tau(merits[name], merits[name][-1]) for name in names},
    )


@dataclass(frozen=True)
class StabilityCurve:
    """Kendall's tau of random subsets, per measure and size: of the positive triples, or of the questions."""

    sizes: tuple[float, ...]  # shares of all
    triples: NDArray[np.int64]  # [sizes] how many triples (or questions) that is
    positives: int  # all positive triples (or evaluated questions)
    repeats: int
    tau: dict[str, Floats]  # [sizes, repeats]; nan where tau is undefined

    def mean(self, name: str) -> Floats:
        """[sizes], over the repeats that define tau; nan if none does."""
        return _moments(self.tau[name])[0]

    def sd(self, name: str) -> Floats:
        """[sizes] sample standard deviation over the repeats that define tau; nan with fewer than two."""
        return _moments(self.tau[name])[1]


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
) -> StabilityCurve:
    """Tau between the system order on random subsets of the positive triples and the order on all of them.

    Near the full size the subset overlaps the whole and tau tends to 1: show `half_curve` beside it. The
    result depends on `rng`, not on `threads`. `progress` is told after each size.
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
) -> StabilityCurve:
    """Tau between the orders on two disjoint random subsets of a size (at most half) of the positives."""
    merits, n = _merits_of_triples(prepared, state, names, assumed_is_judged, threads)
    return _curve(names, merits, n, rng, sizes, repeats, halves=True, progress=progress)


def question_stability(
    sums: Mapping[str, QuestionSums],
    rng: np.random.Generator,
    sizes: Sequence[float] | None = None,
    repeats: int = 50,
    halves: bool = False,
) -> StabilityCurve:
    """The same on random subsets of the evaluated questions: against all of them or, if `halves`, in pairs.

    `sums` {measure: sums} of the same systems. Labels stay as they are, so a question has the same value in
    every subset. A system that is undefined on some question is left out throughout. `sizes` are SIZES, or
    HALF_SIZES for pairs of disjoint subsets.
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
    """Merits when only some of the n positive triples keep their label; and n."""
    triples = np.flatnonzero(positive(state))
    better = [parse_measure(name).higher_is_better for name in names]
    without = without_labels(state, positive(state))
    # unless a measure looks at other triples, the rows of the positives are enough
    enough = all(parse_measure(name).answers_only for name in names)
    rows = prepared.only(positive(state)) if enough else prepared

    def merits_of(subset: Order) -> list[Floats]:
        labelled = without.copy()
        labelled[triples[subset]] = LabelState.POSITIVE
        found = means(rows, labelled, names, assumed_is_judged)
        return [merit(found[name], higher) for name, higher in zip(names, better, strict=True)]

    def merits(subsets: Sequence[Order]) -> Floats:
        with ThreadPoolExecutor(threads) as pool:  # numpy lets go of the interpreter in its large loops
            return np.array(list(pool.map(merits_of, subsets)))

    return merits, triples.size


def _curve(
    names: Sequence[str],
    merits: Merits,
    n: int,
    rng: np.random.Generator,
    sizes: Sequence[float],
    repeats: int,
    halves: bool,
    progress: Tell | None = None,
) -> StabilityCurve:
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
    return StabilityCurve(tuple(sizes), np.array(counts), n, repeats, dict(zip(names, tau, strict=True)))


def _moments(tau: Floats) -> tuple[Floats, Floats]:
    """Mean and sample standard deviation of the finite entries of each row."""
    finite = np.isfinite(tau)
    count = finite.sum(axis=1)
    mean = np.where(finite, tau, 0.0).sum(axis=1) / np.where(count > 0, count, np.nan)
    squares = np.where(finite, (tau - mean[:, None]) ** 2, 0.0).sum(axis=1)
    return mean, np.sqrt(squares / np.where(count > 1, count - 1, np.nan))
