"""How conclusions grow with labels: by pool depth, and on random subsets of the positives.

Source: spec/metrics.md §4 ([IR] §4-5). A triple whose label is left out is no answer and is not filtered out
either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.kernels.correlation import kendall_tau, merit
from evaluation.kernels.prepared import Prepared
from evaluation.kernels.state import LabelState, States, positive, without_labels
from evaluation.kernels.table import Floats, Ints, Order
from evaluation.kernels.values import means, parse_name

SIZES: tuple[float, ...] = (0.01, *(percent / 100 for percent in range(5, 100, 5)))  # 20 of them
HALF_SIZES = tuple(size for size in SIZES if size <= 0.5)
Progress = Callable[[int, int], None]  # done, total
Merits = dict[str, Floats]  # measure -> [systems]


@dataclass(frozen=True)
class DepthCurve:
    """One entry per depth d = 0 … deepest; d = 0 is the seeds alone."""

    depths: NDArray[np.int64]
    positives: NDArray[np.int64]  # positive triples
    questions: NDArray[np.int64]  # evaluated questions
    means: dict[str, Floats]  # [depths, systems]
    tau_to_seeds: dict[str, Floats]  # [depths] against d = 0
    tau_to_full: dict[str, Floats]  # [depths] against the deepest


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
    states = [without_labels(state, depth > d) for d in range(deepest + 1)]
    at_depth = [means(prepared, at, names, assumed_is_judged) for at in states]
    by_name = {name: np.array([found[name] for found in at_depth]) for name in names}
    merits = {name: merit(by_name[name], parse_name(name)[0].higher_is_better) for name in names}
    asked = [np.unique(prepared.table.question[positive(at)[prepared.table.triple]]).size for at in states]
    return DepthCurve(
        depths=np.arange(deepest + 1),
        positives=np.array([np.count_nonzero(positive(at)) for at in states]),
        questions=np.array(asked),
        means=by_name,
        tau_to_seeds={name: kendall_tau(merits[name], merits[name][0]) for name in names},
        tau_to_full={name: kendall_tau(merits[name], merits[name][-1]) for name in names},
    )


@dataclass(frozen=True)
class StabilityCurve:
    """Kendall's tau of random subsets of the positive triples, per measure and size."""

    sizes: tuple[float, ...]  # shares of the positive triples
    triples: NDArray[np.int64]  # [sizes] how many triples that is
    positives: int  # all positive triples
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
    progress: Progress | None = None,
) -> StabilityCurve:
    """Tau between the system order on random subsets of the positive triples and the order on all of them.

    Near the full size the subset overlaps the whole and tau tends to 1: show `half_curve` beside it.
    """
    subsets = _Subsets(prepared, state, names, assumed_is_judged)
    full = subsets.merits(subsets.triples)

    def with_full(shuffled: Order, count: int) -> tuple[Merits, Merits]:
        return subsets.merits(shuffled[:count]), full

    return _curve(subsets, with_full, rng, sizes, repeats, progress)


def half_curve(
    prepared: Prepared,
    state: States,
    names: Sequence[str],
    rng: np.random.Generator,
    sizes: Sequence[float] = HALF_SIZES,
    repeats: int = 50,
    assumed_is_judged: bool = True,
    progress: Progress | None = None,
) -> StabilityCurve:
    """Tau between the orders on two disjoint random subsets of a size (at most half) of the positives."""
    if any(size > 0.5 for size in sizes):
        raise ValueError("two disjoint subsets cannot each hold more than half of the positive triples")
    subsets = _Subsets(prepared, state, names, assumed_is_judged)

    def with_each_other(shuffled: Order, count: int) -> tuple[Merits, Merits]:
        return subsets.merits(shuffled[:count]), subsets.merits(shuffled[::-1][:count])

    return _curve(subsets, with_each_other, rng, sizes, repeats, progress)


class _Subsets:
    """Merits of the systems when only some of the positive triples keep their label."""

    def __init__(
        self, prepared: Prepared, state: States, names: Sequence[str], assumed_is_judged: bool
    ) -> None:
        self.triples: Order = np.flatnonzero(positive(state))
        self.names = tuple(names)
        self._better = {name: parse_name(name)[0].higher_is_better for name in names}
        self._assumed_is_judged = assumed_is_judged
        self._without = without_labels(state, positive(state))
        # unless a measure looks at other triples, the rows of the positives are enough
        enough = all(parse_name(name)[0].answers_only for name in names)
        self._prepared = prepared.only(positive(state)) if enough else prepared

    def merits(self, triples: Order) -> Merits:
        state = self._without.copy()
        state[triples] = LabelState.POSITIVE
        found = means(self._prepared, state, self.names, self._assumed_is_judged)
        return {name: merit(found[name], self._better[name]) for name in self.names}


def _curve(
    subsets: _Subsets,
    compared: Callable[[Order, int], tuple[Merits, Merits]],
    rng: np.random.Generator,
    sizes: Sequence[float],
    repeats: int,
    progress: Progress | None,
) -> StabilityCurve:
    if any(not 0 < size <= 1 for size in sizes):
        raise ValueError(f"a size is a share of the positive triples, above 0 and at most 1: {tuple(sizes)}")
    n = subsets.triples.size
    # never nothing, and never so much that two disjoint subsets of half the triples would meet
    counts = [min(max(1, round(size * n)), max(1, n // 2) if size <= 0.5 else n) for size in sizes]
    tau = {name: np.full((len(sizes), repeats), np.nan) for name in subsets.names}
    for i, count in enumerate(counts):
        for repeat in range(repeats):
            one, other = compared(rng.permutation(subsets.triples), count)
            for name, found in tau.items():
                found[i, repeat] = kendall_tau(one[name], other[name])
            if progress is not None:
                progress(i * repeats + repeat + 1, len(sizes) * repeats)
    return StabilityCurve(tuple(sizes), np.array(counts), n, repeats, tau)


def _moments(tau: Floats) -> tuple[Floats, Floats]:
    """Mean and sample standard deviation of the finite entries of each row."""
    finite = np.isfinite(tau)
    count = finite.sum(axis=1)
    mean = np.where(finite, tau, 0.0).sum(axis=1) / np.where(count > 0, count, np.nan)
    squares = np.where(finite, (tau - mean[:, None]) ** 2, 0.0).sum(axis=1)
    return mean, np.sqrt(squares / np.where(count > 1, count - 1, np.nan))
