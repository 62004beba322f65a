"""Sort a rank table once, and read the answers of any label state from it without sorting again.

All arrays that hold ranks are float64 with inf where the run returned nothing: 1/inf is 0 and inf <= k is false, so an
answer that was not returned counts as a miss.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluation.measures.label_state import States, nonrelevant, positive, unjudged
from evaluation.measures.rank_table import (
    Flags,
    Floats,
    Ints,
    Order,
    RankTable,
    equal_neighbours,
    keep_rows,
    order_within_question,
    tie_span,
)


@dataclass(frozen=True)
class Prepared:
    """Hold a `RankTable` with its two orders: by strict position, and by score. Build it with `prepare`.

    Thousands of label states (stability, depth, bootstrap) share one; each costs a few passes over the rows.

    Attributes
    ----------
    table : RankTable
        The positions.
    strict_order, score_order : ndarray of int [systems, rows]
        Rows by (question, strict) and by (question, optimistic).
    strict, realistic : ndarray of float [systems, rows]
        Positions in these orders, `realistic` the mean of optimistic and pessimistic; inf where not returned.
    gain : ndarray of float [systems, rows] or None
        The `discount` of `strict`, where it was computed in advance: for rows that are answers in many label states.

    Examples
    --------
    >>> from triplepool.example import prepared
    >>> prepared.strict[0, :5]
    array([1., 2., 3., 4., 5.])
    """

    table: RankTable
    strict_order: Order
    score_order: Order
    strict: Floats  # in strict_order
    realistic: Floats  # in score_order
    gain: Floats | None = None  # in strict_order

    @cached_property
    def one_order(self) -> bool:
        """Tell whether both orders are the same, as they are without ties."""
        return np.array_equal(self.strict_order, self.score_order)

    @cached_property
    def tied_rows(self) -> tuple[Order, Order] | None:
        """Return the first and last place of the rows with the same score, 2 x [systems, rows]; None without ties."""
        same = equal_neighbours(self.table, np.take_along_axis(self.table.optimistic, self.score_order, axis=1))
        return tie_span(same) if same.any() else None

    def only(self, triples: Flags) -> Prepared:
        """Keep the rows of some triples, bool [triples]: faster where no other triple can be an answer."""
        return prepare(keep_rows(self.table, triples[self.table.triple]))


def prepare(table: RankTable) -> Prepared:
    """Sort a rank table once, for all label states.

    Parameters
    ----------
    table : RankTable
        The positions.

    Returns
    -------
    Prepared
        The table with its orders.

    Raises
    ------
    ValueError
        For positions that cannot be: repeated in a question, outside their tie, or below 0.

    Examples
    --------
    >>> from triplepool import prepare
    >>> from triplepool.example import ranked
    >>> prepare(ranked.prepared.table).strict_order.shape
    (3, 20)
    """
    strict_order = order_within_question(table, table.strict)
    score_order = order_within_question(table, table.optimistic)
    strict = np.take_along_axis(table.strict, strict_order, axis=1).astype(np.float64)
    realistic = np.take_along_axis((table.optimistic + table.pessimistic) / 2.0, score_order, axis=1)
    _refuse_impossible(table, strict)
    strict[strict == 0] = np.inf
    realistic[realistic == 0] = np.inf
    return Prepared(table, strict_order, score_order, strict, realistic)


def discount(positions: Floats) -> Floats:
    """Return 1 / log2(position + 1), the gain of an answer in nDCG; 0 where it was not returned."""
    gain: Floats = 1.0 / np.log2(positions + 1.0)
    return gain


def _refuse_impossible(table: RankTable, strict: Floats) -> None:
    """Raise ValueError for positions that would quietly make ranks below 1."""
    if np.any(equal_neighbours(table, strict) & (strict > 0)):
        raise ValueError("two entities of a question share a strict position")
    if np.any(table.strict < table.optimistic) or np.any(table.strict > table.pessimistic):
        raise ValueError("a strict position lies outside its optimistic and pessimistic position")
    if np.any((table.strict == 0) != (table.pessimistic == 0)) or table.strict.min(initial=0) < 0:
        raise ValueError("positions start at 1; 0 in all three means that the run did not return the entity")


class Labelled:
    """Hold the answers of one label state (int8 [triples], LabelState) under every system.

    n answers (every positive triple once on each side) lie in e evaluated questions (those with an answer).
    An array "by position" has the n answers grouped by question, in the order of the system: question g is at
    start[g] … start[g] + count[g] - 1 for every system, only the order inside differs.
    """

    def __init__(self, prepared: Prepared, state: States, assumed_is_judged: bool = True) -> None:
        self.prepared = prepared
        self.table = prepared.table
        self.state = state
        self.assumed_is_judged = assumed_is_judged
        self._is_answer = positive(state)[self.table.triple]
        self.answer_row: Order = np.flatnonzero(self._is_answer)  # [n]
        asked = self.table.question[self.answer_row]
        self._begins = np.diff(asked, prepend=-1) > 0  # [n]
        self.start: Order = np.flatnonzero(self._begins)  # [e]
        self.count: Order = np.diff(np.append(self.start, asked.size))  # [e]
        self.question = asked[self.start]  # [e]
        self.answer_question = asked  # [n]

    @property
    def shape(self) -> tuple[int, int]:
        return self.table.systems, self.answer_row.size

    @cached_property
    def answers_above(self) -> Order:
        """Count the answers of the question before each position, [n], the same for every system."""
        return np.arange(self.answer_row.size) - np.repeat(self.start, self.count)

    @cached_property
    def _strict_at(self) -> Order:
        """Find the answers in strict_order: flat indices [systems, n]."""
        return np.flatnonzero(self._is_answer[self.prepared.strict_order]).reshape(self.shape)

    @cached_property
    def _score_at(self) -> Order:
        """Find the answers in score_order: flat indices [systems, n]."""
        if self.prepared.one_order:
            return self._strict_at
        return np.flatnonzero(self._is_answer[self.prepared.score_order]).reshape(self.shape)

    @cached_property
    def strict(self) -> Floats:
        """Return strict positions [systems, n] by position: ascending within each question, inf if not returned."""
        return self.prepared.strict.ravel()[self._strict_at]

    @cached_property
    def gain(self) -> Floats:
        """Return the `discount` of each answer, [systems, n] by position."""
        known = self.prepared.gain
        return discount(self.strict) if known is None else known.ravel()[self._strict_at]

    @cached_property
    def first(self) -> Floats:
        """Return the strict position of the best answer, [systems, e]."""
        return self.strict[:, self.start]

    @cached_property
    def _realistic(self) -> Floats:
        """Return realistic positions [systems, n] in the order of the score, nothing filtered."""
        return self.prepared.realistic.ravel()[self._score_at]

    def _by_answer(self, by_score: Floats) -> Floats:
        """Move [systems, n] from the order of the score to the order of answer_row."""
        place = np.cumsum(self._is_answer) - 1  # row -> its index in answer_row
        to = place[self.prepared.score_order.ravel()[self._score_at]]
        to += np.arange(self.table.systems)[:, None] * self.shape[1]
        ranks = np.empty(self.shape, dtype=np.float64)
        ranks.ravel()[to] = by_score
        return ranks

    @cached_property
    def micro_rank(self) -> Floats:
        """Return the realistic rank with the other answers filtered out, [systems, n] in the order of answer_row."""
        above: Order | Floats = self.answers_above
        tied = np.zeros(self.shape, dtype=bool)  # with the answer before
        tied[:, 1:] = self._realistic[:, 1:] == self._realistic[:, :-1]
        tied &= ~self._begins & (self._realistic < np.inf)
        if tied.any():
            first, last = tie_span(tied)
            above = self.answers_above + (first + last) / 2.0 - np.arange(self.shape[1])
        return self._by_answer(self._realistic - above)

    @cached_property
    def returned(self) -> Ints:
        """Return how many candidates each system returned, [systems, e]."""
        if self.table.returned is None:
            return np.repeat(self.table.candidates[self.question][None], self.table.systems, axis=0)
        return self.table.returned[:, self.question]

    def count_above(self, flagged: Flags) -> Ints:
        """Count the flagged triples (bool [triples]) above each answer in its question, [systems, n] by position."""
        flag = flagged[self.table.triple]
        counted = np.cumsum(flag[self.prepared.strict_order], axis=1, dtype=np.int32).ravel()[self._strict_at]
        before = np.concatenate(([0], np.cumsum(flag)))[self.table.start[self.answer_question]]
        return counted - before

    @cached_property
    def nonrelevant_above(self) -> Ints:
        """Count the judged negatives above each answer, [systems, n] by position."""
        return self.count_above(self.nonrelevant)

    def count_in_question(self, flagged: Flags) -> Order:
        """Count the flagged triples (bool [triples]) of each evaluated question, ranked or not, [e]."""
        asked = self.table.question[flagged[self.table.triple]]
        return np.bincount(asked, minlength=self.table.questions)[self.question]

    def sum_by_question(self, by_position: Floats | Flags) -> Floats:
        """Sum [systems, n] by position to [systems, e]."""
        if self.start.size == 0:
            return np.zeros((self.table.systems, 0))
        return np.add.reduceat(by_position.astype(np.float64, copy=False), self.start, axis=1)

    @cached_property
    def nonrelevant(self) -> Flags:
        return nonrelevant(self.state, self.assumed_is_judged)

    @cached_property
    def unjudged(self) -> Flags:
        return unjudged(self.state, self.assumed_is_judged)

    @cached_property
    def condensed(self) -> Condensed:
        return Condensed(self)


class Condensed(Labelled):
    """Hold the answers in lists from which the unjudged candidates were removed (evaluation/measures/condensed.py)."""

    def __init__(self, whole: Labelled) -> None:
        super().__init__(whole.prepared, whole.state, whole.assumed_is_judged)
        self._whole = whole

    @cached_property
    def strict(self) -> Floats:
        whole = self._whole
        condensed = (whole.answers_above + 1 + whole.nonrelevant_above).astype(np.float64)
        condensed[whole.strict == np.inf] = np.inf
        return condensed

    @cached_property
    def gain(self) -> Floats:
        return discount(self.strict)

    @cached_property
    def micro_rank(self) -> Floats:
        """Return 1 + negatives with a higher score + half of those with the same score; no other answer is left."""
        whole = self._whole
        at, line = whole._score_at, np.arange(self.table.systems)[:, None]
        flag = whole.nonrelevant[self.table.triple]
        counted = np.zeros((self.table.systems, self.table.rows + 1), dtype=np.int32)  # before a place
        np.cumsum(flag[self.prepared.score_order], axis=1, out=counted[:, 1:])
        first = last = at - line * self.table.rows
        if self.prepared.tied_rows is not None:
            first, last = (places.ravel()[at] for places in self.prepared.tied_rows)
        higher, higher_or_equal = counted[line, first], counted[line, last + 1]
        before_question = counted[0, self.table.start[self.answer_question]]
        rank = 1.0 + (higher + higher_or_equal) / 2.0 - before_question
        rank[whole._realistic == np.inf] = np.inf
        return whole._by_answer(rank)
