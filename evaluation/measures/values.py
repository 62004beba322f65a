"""Compute the measures of all systems under one label state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.label_state import States, positive
from evaluation.measures.measure import Chance
from evaluation.measures.prepared import Labelled, Prepared
from evaluation.measures.rank_table import Flags, Floats, Ints
from evaluation.measures.registry import parse_measure

NO_ANSWER = "no question has an answer under these labels"


@dataclass(frozen=True)
class Values:
    """Hold one measure of all systems, unit by unit: by answer (micro) or by question (macro).

    `finish`, `missing` and `chance` are those of the measure.

    Attributes
    ----------
    per_unit : ndarray of float [systems, n]
        The values.
    unit : {"answer", "question"}
        What a column is.
    unit_question : ndarray of int32 [n]
        The question of each unit, ascending.
    unit_row : ndarray of int [n] or None
        The row of each answer in the rank table; None for questions.

    Examples
    --------
    >>> from triplepool import values
    >>> from triplepool.example import prepared, state
    >>> value = values(prepared, state, ["macro_mrr"])["macro_mrr"]
    >>> value.unit, value.n, value.mean().round(3)
    ('question', 4, array([1.   , 0.875, 0.258]))
    """

    per_unit: Floats  # [systems, n]
    unit: Literal["answer", "question"]
    unit_question: NDArray[np.int32]  # [n]
    unit_row: NDArray[np.intp] | None  # [n]
    higher_is_better: bool
    finish: Callable[[Floats], Floats] | None = None  # of the measure: turns means into the value
    missing: str = ""  # of the measure: why units are undefined, with {missing} and {n}
    chance: Chance | None = None  # of adjusted ranks: units depend on the set that they are adjusted within

    @property
    def n(self) -> int:
        return self.per_unit.shape[1]

    def mean(self) -> Floats:
        """Return the mean [systems]; nan where a unit is undefined or there is none, never inf. `reasons` says why."""
        mean = self.per_unit.mean(axis=1) if self.n else np.full(self.per_unit.shape[0], np.nan)
        return self.finish(mean) if self.finish else mean

    def reasons(self) -> list[str]:
        """Return why each system's mean is undefined, "" where it is defined."""
        systems = self.per_unit.shape[0]
        if self.n == 0:
            return [NO_ANSWER] * systems
        if self.chance and self.chance.reason:
            return [self.chance.reason] * systems
        missing = np.isnan(self.per_unit).sum(axis=1).tolist()
        return [self.missing.format(missing=count, n=self.n) if count else "" for count in missing]

    def keep(self, questions: Flags) -> Values:
        """Keep some questions of the rank table, bool [questions]; chance is then that among these."""
        kept = questions[self.unit_question]
        per_unit = self.per_unit[:, kept]
        chance = self.chance.keep(kept) if self.chance else None
        return replace(
            self,
            per_unit=self.chance.move(per_unit, chance) if self.chance and chance else per_unit,
            unit_question=self.unit_question[kept],
            unit_row=None if self.unit_row is None else self.unit_row[kept],
            chance=chance,
        )

    def mean_by_unit(self, group: Ints, groups: int) -> GroupMeans:
        """Return means per group of units: `group` [n], -1 leaves one out. Chance is that within each group."""
        kept = group >= 0
        count = np.bincount(group[kept], minlength=groups)
        sums = np.array([np.bincount(group[kept], row[kept], minlength=groups) for row in self.per_unit])
        means = sums.reshape(-1, groups) / np.where(count > 0, count, np.nan)
        if self.chance:
            for g in np.flatnonzero(count):
                means[:, g] = self.chance.move(means[:, g], self.chance.keep(group == g))
        return GroupMeans(self.finish(means) if self.finish else means, count)


@dataclass(frozen=True)
class GroupMeans:
    """Hold `mean` [systems, groups] (nan for an empty group) and `count` [groups], the units in each."""

    mean: Floats
    count: NDArray[np.int64]


def values(
    prepared: Prepared, state: States, names: Iterable[str], assumed_is_judged: bool = True
) -> dict[str, Values]:
    """Return the per-unit values of measures under one label state.

    Parameters
    ----------
    prepared : Prepared
        A rank table, sorted by `prepare`.
    state : ndarray of int8 [triples]
        The `LabelState` of each triple.
    names : iterable of str
        Names of measures.
    assumed_is_judged : bool, default True
        Whether filtered triples count as judged negatives.

    Returns
    -------
    dict of str to Values
        One entry per name.

    Raises
    ------
    ValueError
        For an unknown measure; the message names the known ones.

    Examples
    --------
    >>> from triplepool import values
    >>> from triplepool.example import prepared, state
    >>> values(prepared, state, ["p@2"])["p@2"].per_unit
    array([[1. , 0.5, 1. , 1. ],
           [0.5, 0.5, 1. , 1. ],
           [0. , 0. , 0. , 0. ]])
    """
    labelled = Labelled(prepared, state, assumed_is_judged)
    found = {}
    for name in names:
        measure = parse_measure(name)
        micro = measure.kind == "micro"
        found[name] = Values(
            per_unit=measure.compute(labelled),
            unit="answer" if micro else "question",
            unit_question=labelled.answer_question if micro else labelled.question,
            unit_row=labelled.answer_row if micro else None,
            higher_is_better=measure.higher_is_better,
            finish=measure.finish,
            missing=measure.missing,
            chance=measure.chance(labelled) if measure.chance else None,
        )
    return found


def means(prepared: Prepared, state: States, names: Iterable[str], assumed_is_judged: bool = True) -> dict[str, Floats]:
    """Return the mean of each measure under one label state.

    Parameters
    ----------
    prepared : Prepared
        A rank table, sorted by `prepare`.
    state : ndarray of int8 [triples]
        The `LabelState` of each triple.
    names : iterable of str
        Names of measures.
    assumed_is_judged : bool, default True
        Whether filtered triples count as judged negatives.

    Returns
    -------
    dict of str to ndarray of float [systems]
        nan where a mean is undefined.

    Raises
    ------
    ValueError
        For an unknown measure; the message names the known ones.

    Examples
    --------
    >>> from triplepool import means
    >>> from triplepool.example import prepared, state
    >>> means(prepared, state, ["map"])["map"].round(3)
    array([1.   , 0.833, 0.317])
    """
    return {name: value.mean() for name, value in values(prepared, state, names, assumed_is_judged).items()}


def means_of_states(
    prepared: Prepared, states: Sequence[States], names: Sequence[str], assumed_is_judged: bool = True
) -> dict[str, Floats]:
    """Return the mean of each measure under several label states, [states, systems]."""
    # a measure of answers alone needs no other rows
    short = prepared.only(np.logical_or.reduce([positive(state) for state in states]))
    found: dict[str, Floats] = {}
    for only, rows in ((True, short), (False, prepared)):
        asked = [name for name in names if parse_measure(name).answers_only == only]
        by_state = [means(rows, state, asked, assumed_is_judged) for state in states]
        found |= {name: np.array([of[name] for of in by_state]) for name in asked}
    return {name: found[name] for name in names}
