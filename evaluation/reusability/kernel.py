"""Leave systems out of the pool and rank all systems again.

Source: Zobel 1998; Voorhees 2018.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.label_state import LabelState, States
from evaluation.measures.prepared import Prepared
from evaluation.measures.rank_table import Flags, Floats
from evaluation.measures.registry import parse_measure
from evaluation.measures.values import means_of_states
from evaluation.statistics.correlation import kendall_tau, merit, places


def found_by_only(found: Flags, group: Flags) -> Flags:
    """Return the triples that only contributors of a group found, bool [triples].

    `found` bool [triples, contributors], `group` bool [contributors]. A triple that nobody is known to have found
    stays whoever is left out.
    """
    return np.logical_and(found[:, group].any(axis=1), ~found[:, ~group].any(axis=1))


def without_triples(state: States, dropped: Flags) -> States:
    """Return a copy of `state` without the dropped triples in the pool, whatever label they had."""
    return np.where(dropped, LabelState.NOT_POOLED, state).astype(np.int8)


@dataclass(frozen=True)
class LeaveOut:
    """Values of one measure with all labels, and without the triples of each of g groups.

    `before` [systems] and `after` [g, systems] are means, `tau` [g] compares the order of all systems; places
    [g, systems] are from 1 and among the systems that have a mean on both sides, nan for the others.
    """

    before: Floats
    after: Floats
    tau: Floats
    place_before: Floats
    place_after: Floats

    def places(self, group: int, system: int) -> tuple[int, int] | None:
        """Return the places of a system with all labels and without those of a group; None where it has none."""
        both = self.place_before[group, system], self.place_after[group, system]
        return (int(both[0]), int(both[1])) if np.isfinite(both).all() else None


def leave_out(
    prepared: Prepared, state: States, dropped: Sequence[Flags], names: Sequence[str], assumed_is_judged: bool = True
) -> dict[str, LeaveOut]:
    """Score all systems again without the triples bool [triples] of each group: no answers, and not filtered out."""
    states = [state, *(without_triples(state, gone) for gone in dropped)]
    found = means_of_states(prepared, states, names, assumed_is_judged)
    return {name: _compare(mean, parse_measure(name).higher_is_better) for name, mean in found.items()}


def _compare(mean: Floats, higher_is_better: bool) -> LeaveOut:
    """Compare means [1 + g, systems], of which the first is with all labels."""
    merits = merit(mean, higher_is_better)
    both = np.isfinite(merits[:1]) & np.isfinite(merits[1:])  # [g, systems]
    return LeaveOut(
        mean[0],
        mean[1:],
        kendall_tau(merits[1:], merits[:1]),
        places(np.where(both, merits[:1], np.nan)),
        places(np.where(both, merits[1:], np.nan)),
    )


def largest_shift(before: Floats, after: Floats, own: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the system outside each group that moves by most places, int[g]; -1 where none has both places.

    `before`, `after` [g, systems] places; `own[i]`: the systems of group i. Of equal moves the first.
    """
    moves = np.abs(after - before)
    moves[~np.isfinite(moves)] = -1.0
    for row, systems in zip(moves, own, strict=True):
        row[systems] = -1.0
    if not moves.shape[1]:
        return np.full(len(moves), -1, dtype=np.int64)
    most = moves.argmax(axis=1)
    return np.where(moves.max(axis=1) < 0, -1, most).astype(np.int64)
