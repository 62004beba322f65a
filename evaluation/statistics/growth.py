"""Compute values and orders of systems while labels are added: by pool depth, and in the order of decision.

A triple whose label is left out is no answer and is not filtered out either.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.label_state import LabelState, States, positive, without_labels
from evaluation.measures.prepared import Prepared
from evaluation.measures.rank_table import Floats, Ints
from evaluation.measures.registry import parse_measure
from evaluation.measures.values import means_of_states
from evaluation.statistics.correlation import kendall_tau, merit

POINTS = 40


@dataclass(frozen=True)
class Growth:
    """Hold one entry per label state: the first without any label that grows, the last with every label."""

    positives: NDArray[np.int64]  # positive triples
    questions: NDArray[np.int64]  # evaluated questions
    means: dict[str, Floats]  # [states, systems]
    tau_to_seeds: dict[str, Floats]  # [states] against the first
    tau_to_full: dict[str, Floats]  # [states] against the last


@dataclass(frozen=True)
class DepthGrowth(Growth):
    """Hold one entry per depth d = 0 … deepest; d = 0 has the labels of the seeds only, deeper triples unjudged.

    That is not the label set of the seeds, under which other triples are not pooled: a measure that looks at unjudged
    triples tells them apart.
    """

    depths: NDArray[np.int64]


@dataclass(frozen=True)
class LabelGrowth(Growth):
    """Hold one entry per point; 0 labels: no judgement yet, seeds and what was filtered without people only."""

    labels: NDArray[np.int64]  # decided labels that count


def depth_curve(
    prepared: Prepared,
    state: States,
    depth: Ints,
    names: Sequence[str],
    deepest: int | None = None,
    assumed_is_judged: bool = True,
) -> DepthGrowth:
    """Return means and taus for every pool depth, when only labels of triples found up to there count.

    Deeper triples count as unjudged.

    Parameters
    ----------
    prepared : Prepared
        A rank table, sorted by `prepare`.
    state : ndarray of int8 [triples]
        The `LabelState` of each triple.
    depth : ndarray of int [triples]
        0 for seed triples, otherwise the smallest rank at which a system of the pool found the triple; any value
        outside the pool.
    names : sequence of str
        Names of measures.
    deepest : int, optional
        The last depth; that of the pool if left out.
    assumed_is_judged : bool, default True
        Whether filtered triples count as judged negatives.

    Returns
    -------
    DepthGrowth
        One entry per depth 0 … deepest.

    Raises
    ------
    ValueError
        For an unknown measure.

    Examples
    --------
    >>> from triplepool import depth_curve
    >>> from triplepool.example import prepared, state
    >>> best = prepared.table.strict.min(axis=0)
    >>> curve = depth_curve(prepared, state, best, ["map"])
    >>> curve.depths, curve.positives, curve.tau_to_full["map"].round(2)
    (array([0, 1, 2, 3, 4, 5]), array([0, 7, 7, 7, 7, 7]), array([nan,  1.,  1.,  1.,  1.,  1.]))
    """
    if deepest is None:
        deepest = int(depth[state != LabelState.NOT_POOLED].max(initial=0))
    depths = np.arange(deepest + 1)
    states = [without_labels(state, depth > d) for d in depths]
    return DepthGrowth(*_grown(prepared, states, names, assumed_is_judged), depths)


def accumulation_curve(
    prepared: Prepared,
    state: States,
    decided: Ints,
    names: Sequence[str],
    points: int = POINTS,
    assumed_is_judged: bool = True,
) -> LabelGrowth:
    """Return means and taus when only the labels that were decided first count, from none to all.

    Later triples count as unjudged, also those that a label took out of the filter. Equal times count together. Fewer
    labels than points give one point per label.

    Parameters
    ----------
    prepared : Prepared
        A rank table, sorted by `prepare`.
    state : ndarray of int8 [triples]
        The `LabelState` of each triple.
    decided : ndarray of int [triples]
        0 for what is known before any label (seeds, filtered triples), otherwise any number above 0 that grows with
        the time of the judgement.
    names : sequence of str
        Names of measures.
    points : int, default 40
        Even steps.
    assumed_is_judged : bool, default True
        Whether filtered triples count as judged negatives.

    Returns
    -------
    LabelGrowth
        One entry per point.

    Raises
    ------
    ValueError
        For fewer than two points, or an unknown measure.

    Examples
    --------
    >>> import numpy as np
    >>> from triplepool import accumulation_curve
    >>> from triplepool.example import prepared, state
    >>> curve = accumulation_curve(prepared, state, np.arange(1, state.size + 1), ["map"], points=3)
    >>> curve.labels, curve.positives, curve.means["map"].round(2)
    (array([ 0, 10, 20]), array([0, 3, 7]), array([[ nan,  nan,  nan],
           [1.  , 0.67, 0.26],
           [1.  , 0.83, 0.32]]))
    """
    if points < 2:
        raise ValueError(f"an accumulation curve goes from no label to all: at least 2 points, not {points}")
    times = np.sort(decided[(decided > 0) & (state != LabelState.NOT_POOLED)])
    labels = np.unique(np.rint(np.linspace(0, times.size, points)).astype(np.int64))
    last = np.concatenate(([0], times))[labels]  # when the last label of a point was decided
    states = [without_labels(state, decided > time) for time in last]
    counted = np.searchsorted(times, last, side="right")
    return LabelGrowth(*_grown(prepared, states, names, assumed_is_judged), counted)


def _grown(
    prepared: Prepared, states: Sequence[States], names: Sequence[str], assumed_is_judged: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], dict[str, Floats], dict[str, Floats], dict[str, Floats]]:
    """Compute the fields of `Growth`, in their order."""
    answers, table = [positive(at) for at in states], prepared.table
    by_name = means_of_states(prepared, states, names, assumed_is_judged)
    merits = {name: merit(by_name[name], parse_measure(name).higher_is_better) for name in names}
    return (
        np.array([np.count_nonzero(at) for at in answers]),
        np.array([np.unique(table.question[at[table.triple]]).size for at in answers]),
        by_name,
        {name: kendall_tau(merits[name], merits[name][0]) for name in names},
        {name: kendall_tau(merits[name], merits[name][-1]) for name in names},
    )
