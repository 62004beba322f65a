"""Follow labels that change: after a label only its two questions are computed again.

A unit's value depends on the labels of its own question alone, so the sums of every other question stay what they were.
Only measures adjusted for chance are computed again in full: their chance level is that of all answers. The rank table
is sorted once; a few of its questions are a slice of it.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.label_state import States
from evaluation.measures.prepared import Prepared
from evaluation.measures.question_sums import QuestionSums, question_sums
from evaluation.measures.rank_table import Floats, Order, RankTable
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
        strict=table.strict[:, row],
        optimistic=table.optimistic[:, row],
        pessimistic=table.pessimistic[:, row],
        side=table.side[questions],
        relation=table.relation[questions],
        candidates=table.candidates[questions],
    )
    # a question's rows stand at the same places in every order, so its slice of an order holds exactly them
    sliced = Prepared(
        part,
        prepared.strict_order[:, row] - moved,
        prepared.score_order[:, row] - moved,
        prepared.strict[:, row],
        prepared.realistic[:, row],
    )
    return sliced, table.triple[row].astype(np.intp)


class LiveSums:
    """Follow labels that change: only the questions that a change touches are computed again.

    The values equal those from scratch. Measures adjusted for chance are computed again in full. Not for several
    threads at once; what `sums` hands out is never changed afterwards.

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
    >>> from evaluation import LabelState, LiveSums
    >>> from evaluation.notebooks.example import prepared, state
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
        self._own = tuple(name for name in self.names if not _whole(name))  # measures of which a part can be computed
        self._rest = tuple(name for name in self.names if _whole(name))
        systems, questions = prepared.table.systems, prepared.table.questions
        self._shape: dict[str, QuestionSums] = {}  # without arrays: unit, direction, finish, chance
        self._sums: dict[str, Floats] = {name: np.zeros((systems, questions)) for name in self.names}
        self._counts = {name: np.zeros(questions, dtype=np.int64) for name in self.names}
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
            self._handed = {name: self._of(name) for name in self.names}
        return dict(self._handed)

    def means(self) -> dict[str, Floats]:
        """Return the mean [systems] of every measure; nan where it is undefined."""
        return {name: sums.mean() for name, sums in self.sums().items()}

    def _all(self, names: tuple[str, ...]) -> None:
        every = np.arange(self.prepared.table.questions)
        for name, value in values(self.prepared, self._state, names, self.assumed_is_judged).items():
            found = question_sums(value)
            self._put(name, every, found)
            # the arrays of their own are in _sums and _counts
            self._shape[name] = replace(found, sums=found.sums[:, :0], counts=found.counts[:0])

    def _some(self, touched: Order) -> None:
        part, triples = questions_only(self.prepared, touched)
        for name, value in values(part, self._state[triples], self._own, self.assumed_is_judged).items():
            self._put(name, touched, question_sums(value))

    def _put(self, name: str, touched: Order, found: QuestionSums) -> None:
        self._counts[name][touched] = 0  # without a unit a question's sums are not read
        at = touched[found.question]
        self._sums[name][:, at] = found.sums
        self._counts[name][at] = found.counts

    def _of(self, name: str) -> QuestionSums:
        shape, counts = self._shape[name], self._counts[name]
        asked: NDArray[np.intp] = np.flatnonzero(counts)
        return replace(shape, sums=self._sums[name][:, asked], counts=counts[asked], question=asked.astype(np.int32))


def _whole(name: str) -> bool:
    """Tell whether a unit's value also depends on the answers of other questions, through the chance level."""
    return parse_measure(name).chance is not None
