"""Compute the means of measures when only some of the positive triples keep their label, for thousands of subsets.

A unit's value depends on the labels of its own question alone, and most questions have few answers. So the values
under every subset of the answers of such a question are computed once; a subset of all triples then only looks them up.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.label_state import LabelState, States, positive, without_labels
from evaluation.measures.live_sums import questions_only
from evaluation.measures.prepared import Prepared, discount
from evaluation.measures.rank_table import Flags, Floats, Ints, Order
from evaluation.measures.registry import parse_measure
from evaluation.measures.values import means, values

MOST = 4  # answers of a question whose 2^n - 1 subsets are computed in advance
ROOM = 2  # these subsets may have this many times the rows of the table; if they have more, MOST is lowered
EXACT = 1 << 24  # below it float32 adds whole numbers without rounding
ANSWERS = np.array([number.bit_count() for number in range(1 << MOST)])  # in a subset, by its number


@dataclass(frozen=True)
class Places:
    """Hold where the values of all units of one kind come from, in their order."""

    column: Order  # [units] of the values computed in advance; without a meaning where the question has many answers
    many: Order  # [k] the units whose question has many answers

    def times(self, columns: int) -> NDArray[np.float32]:
        """Count how often each of the columns is looked up."""
        return np.bincount(np.delete(self.column, self.many), minlength=columns).astype(np.float32)


class KeptLabels:
    """Hold what the means of all subsets of the positive triples share. Several threads may use one.

    Parameters
    ----------
    prepared : Prepared
        A rank table, sorted by `prepare`.
    state : ndarray of int8 [triples]
        The `LabelState` of each triple.
    names : sequence of str
        Names of measures.
    assumed_is_judged : bool, default True
        Whether filtered triples count as judged negatives.

    Raises
    ------
    ValueError
        For an unknown measure.
    """

    def __init__(self, prepared: Prepared, state: States, names: Sequence[str], assumed_is_judged: bool = True) -> None:
        measures = [parse_measure(name) for name in names]
        # unless a measure looks at other triples, the rows of the positives are enough
        alone = all(measure.answers_only for measure in measures)
        self.prepared = prepared.only(positive(state)) if alone else prepared
        self.names = tuple(names)
        self.assumed_is_judged = assumed_is_judged
        self.triples: Order = np.flatnonzero(positive(state))  # [positives]
        self._without = without_labels(state, positive(state))
        # a unit's value also depends on the answers of other questions where there is a chance level
        self._rest = [measure.name for measure in measures if measure.chance]
        self._own = [measure.name for measure in measures if not measure.chance]
        self._thread = threading.local()
        table = self.prepared.table
        row = np.flatnonzero(positive(state)[table.triple])  # of the answers [n], which lie in g questions
        self._triple = table.triple[row]
        begins = np.diff(table.question[row], prepend=-1) > 0
        start = np.flatnonzero(begins)  # [g]
        self._group: Order = np.cumsum(begins) - 1  # [n]
        self._last: Order = np.append(start[1:], row.size)[: start.size] - 1  # [g]
        count = self._last - start + 1  # [g]
        question: Order = table.question[row[start]].astype(np.intp)  # [g]
        place = np.arange(row.size) - start[self._group]  # of an answer in its question
        self._few = self._choose(count, np.diff(table.start)[question])
        few = self._few[self._group]
        bit = 1 << np.minimum(place, MOST)
        self._weight = np.where(few, bit, 1)  # [n]: kept answers of a question add up to the number of their subset
        self._lower = np.where(few, bit - 1, 0)  # [n]: the bits of the answers before
        self._is_few = few  # [n]
        self._tabulate(question[self._few], count[self._few], state)
        many, self._many_triples = questions_only(self.prepared, question[~self._few])
        self._many = replace(many, gain=discount(many.strict))

    def _choose(self, count: Ints, rows: Ints) -> Flags:
        """Tell which questions [g] have so few answers that all their subsets fit."""
        for most in range(MOST, 0, -1):
            few = count <= most
            if (rows[few] * ((1 << count[few]) - 1)).sum() <= ROOM * self.prepared.table.rows:
                return few
        return np.zeros(count.size, dtype=bool)

    def _tabulate(self, question: Order, count: Order, state: States) -> None:
        """Compute the values under every subset of the answers of some questions (ascending, with count answers)."""
        subsets = (1 << count) - 1  # of each question, numbered from 1
        ends = np.cumsum(subsets)
        self._before = np.full(self._few.size, -1, dtype=np.intp)  # [g]: the column of subset number 0, if it had one
        self._before[self._few] = ends - subsets - 1
        number = np.arange(subsets.sum()) - np.repeat(ends - subsets, subsets) + 1  # [columns]
        part, triples = questions_only(self.prepared, np.repeat(question, subsets))
        answer = np.flatnonzero(positive(state[triples]))
        column = part.table.question[answer]
        place = np.arange(answer.size) - np.searchsorted(column, np.arange(number.size))[column]
        labels = self._without[triples]
        labels[answer[(number[column] >> place) & 1 == 1]] = LabelState.POSITIVE
        self._few_values = values(part, labels, self._own, self.assumed_is_judged)
        # every order of summation gives the same sum of zeros and ones, so how often each is looked up is enough
        self._hits = {
            name: value.per_unit.astype(np.float32)
            for name, value in self._few_values.items()
            if value.n and _all_hits(value.per_unit) and self._group.size < EXACT
        }
        self._first_answer = np.cumsum(ANSWERS[number]) - ANSWERS[number]  # [columns]

    def means(self, subset: Order) -> dict[str, Floats]:
        """Return the mean [systems] of each measure when the positives self.triples[subset] alone keep their label.

        It equals `means` of these labels to the last digit.
        """
        labels = self._without.copy()
        labels[self.triples[subset]] = LabelState.POSITIVE
        kept = positive(labels)[self._triple]  # [n]
        number = np.diff(np.cumsum(self._weight * kept)[self._last], prepend=0)  # [g]
        column = self._before + number
        seen, answer = np.flatnonzero(number), np.flatnonzero(kept)
        group = self._group[answer]
        at = ANSWERS.take(number[group] & self._lower[answer], mode="clip")
        if self._first_answer.size:
            at += self._first_answer.take(column[group], mode="clip")
        places = {
            "question": Places(column[seen], np.flatnonzero(~self._few[seen])),
            "answer": Places(at, np.flatnonzero(~self._is_few[answer])),
        }
        many = values(self._many, labels[self._many_triples], self._own, self.assumed_is_judged)
        found = means(self.prepared, labels, self._rest, self.assumed_is_judged) if self._rest else {}
        for name in self._own:
            few, rest = self._few_values[name], many[name].per_unit
            place = places[few.unit]
            if name in self._hits and _all_hits(rest) and place.column.size:
                hits = np.einsum("sc,c->s", self._hits[name], place.times(few.n)) + rest.sum(axis=1)
                found[name] = few.finish(hits / place.column.size) if few.finish else hits / place.column.size
            else:
                found[name] = replace(few, per_unit=self._join(few.per_unit, rest, place)).mean()
        return {name: found[name] for name in self.names}

    def _join(self, few: Floats, many: Floats, places: Places) -> Floats:
        """Join looked-up values with those of the other questions [systems, k] to [systems, units].

        The memory has the order that it has where all are computed at once: numpy sums in this order, and the last
        digit depends on it. The thread's next call overwrites the result; a new array would cost more than all else.
        """
        if not few.shape[1]:
            return many
        systems, units = few.shape[0], places.column.size
        if not hasattr(self._thread, "space"):
            self._thread.space = np.empty(systems * self._group.size)
        space: Floats = self._thread.space[: systems * units]
        if (few if few.shape[1] > 1 else many).flags.c_contiguous:
            joined = space.reshape(systems, units)
            few.take(places.column, axis=1, out=joined, mode="clip")  # other modes fill a copy of out
            joined[:, places.many] = many
            return joined
        by_unit = space.reshape(units, systems)
        few.T.take(places.column, axis=0, out=by_unit, mode="clip")
        by_unit[places.many] = many.T
        return by_unit.T


def _all_hits(per_unit: Floats) -> bool:
    """Tell whether all values are 0 or 1."""
    return bool(((per_unit == 0.0) | (per_unit == 1.0)).all())
