"""Follow labels that change: after a label only its two questions are computed again.

A unit's value depends on the labels of its own question alone. Only measures adjusted for chance are computed again in
full: their chance level is that of all answers.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from evaluation.measures.label_state import States
from evaluation.measures.prepared import Prepared
from evaluation.measures.question_sums import QuestionSums, question_sums
from evaluation.measures.rank_table import Floats, Ints, Order, RankTable
from evaluation.measures.registry import parse_measure
from evaluation.measures.values import values

MANY = 0.5  # share of the questions touched from which all are computed again


def questions_only(prepared: Prepared, questions: Order) -> tuple[Prepared, Order]:
    """Cut some questions (ascending) out of a sorted table without sorting again; also return its rows' triples.

    Question j of the result is questions[j]. Each row becomes a triple of its own, since the other row of a
    triple may lie in a question that is not here: the state to use with it is state[triples].
    """
    table = prepared.table
    count = table.start[questions + 1] - table.start[questions]
    begin = np.concatenate(([0], np.cumsum(count)))[:-1]
    moved = np.repeat(table.start[questions] - begin, count)  # by how much the rows of a question move up
    row: Order = np.arange(count.sum()) + moved
    part = RankTable(
        question=np.repeat(np.arange(questions.size, dtype=np.int32), count),
        entity=table.entity[row],
        triple=np.arange(row.size, dtype=np.int32),
        strict=table.strict.take(row, axis=1),
        optimistic=table.optimistic.take(row, axis=1),
        pessimistic=table.pessimistic.take(row, axis=1),
        side=table.side[questions],
        relation=table.relation[questions],
        candidates=table.candidates[questions],
        returned=None if table.returned is None else table.returned[:, questions],
    )
    # a question's rows stand at the same places in every order, so its slice of an order holds exactly them
    sliced = Prepared(
        part,
        prepared.strict_order.take(row, axis=1) - moved,
        prepared.score_order.take(row, axis=1) - moved,
        prepared.strict.take(row, axis=1),
        prepared.realistic.take(row, axis=1),
    )
    return sliced, table.triple[row].astype(np.intp)


class LiveSums:
    """Follow labels that change: only the questions that a change touches are computed again.

    The values equal those from scratch. Not for several threads at once; what `sums` hands out is never changed.

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

    Raises
    ------
    ValueError
        For an unknown measure; from `update`, for a state of another length.

    Examples
    --------
    >>> from triplepool import LabelState, LiveSums
    >>> from triplepool.example import prepared, state
    >>> live = LiveSums(prepared, state, ["map"])
    >>> labels = state.copy()
    >>> labels[4] = LabelState.POSITIVE
    >>> live.update(labels), live.means()["map"].round(3)
    (1, array([0.967, 0.814, 0.41 ]))
    """

    def __init__(self, prepared: Prepared, state: States, names: Iterable[str], assumed_is_judged: bool = True) -> None:
        self.prepared = prepared
        self.names = tuple(names)
        self.assumed_is_judged = assumed_is_judged
        self._state = state.copy()
        # a unit's value also depends on the answers of other questions where there is a chance level
        self._rest = tuple(name for name in self.names if parse_measure(name).chance)
        self._own = tuple(name for name in self.names if name not in self._rest)
        self._every: dict[str, QuestionSums] = {}  # of all questions of the table, also those without a unit
        self._handed: dict[str, QuestionSums] = {}
        self._all(self.names)

    @property
    def state(self) -> States:
        return self._state.copy()

    def update(self, state: States) -> int:
        """Follow the labels to `state` (int8 [triples]); the number of questions that were computed again."""
        if state.shape != self._state.shape:
            raise ValueError(f"the table has {self._state.size} triples, the new state {state.size}")
        table = self.prepared.table
        changed = state != self._state
        touched: Order = np.unique(table.question[changed[table.triple]]).astype(np.intp)
        self._state = state.copy()
        if touched.size == 0:
            return 0
        self._handed = {}
        if touched.size > MANY * table.questions:
            self._all(self.names)
            return table.questions
        self._some(touched)
        if self._rest:
            self._all(self._rest)
        return int(touched.size)

    def sums(self) -> dict[str, QuestionSums]:
        """Return the sums of every measure, over the questions that have a unit now."""
        if not self._handed:
            for name, every in self._every.items():
                asked = np.flatnonzero(every.counts)
                sums, counts, question = every.sums[:, asked], every.counts[asked], every.question[asked]
                self._handed[name] = replace(every, sums=sums, counts=counts, question=question)
        return dict(self._handed)

    def means(self) -> dict[str, Floats]:
        """Return the mean [systems] of every measure; nan where it is undefined."""
        return {name: sums.mean() for name, sums in self.sums().items()}

    def _all(self, names: tuple[str, ...]) -> None:
        table = self.prepared.table
        every = np.arange(table.questions, dtype=np.int32)
        for name, value in values(self.prepared, self._state, names, self.assumed_is_judged).items():
            found = question_sums(value)
            sums, counts = np.zeros((table.systems, every.size)), np.zeros(every.size, dtype=np.int64)
            self._every[name] = replace(found, sums=sums, counts=counts, question=every)
            self._put(name, every, found)

    def _some(self, touched: Order) -> None:
        part, triples = questions_only(self.prepared, touched)
        for name, value in values(part, self._state[triples], self._own, self.assumed_is_judged).items():
            self._put(name, touched, question_sums(value))

    def _put(self, name: str, touched: Ints, found: QuestionSums) -> None:
        every, at = self._every[name], touched[found.question]
        every.counts[touched] = 0  # without a unit a question's sums are not read
        every.sums[:, at], every.counts[at] = found.sums, found.counts
