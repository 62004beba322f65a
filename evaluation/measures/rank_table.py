"""Hold rank rows as arrays: the position of each pooled or test triple in each system's lists, on both sides.

A label never touches a model. Every measure under every label state is arithmetic on these integers.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ranks = NDArray[np.int32]
Ints = NDArray[np.integer]
Order = NDArray[np.intp]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class RankTable:
    """Hold the positions of triples in the lists of every system, on both their sides.

    Positions count from 1, among all entities without the answers of train and valid; 0 means that the run did not
    return the entity. Equal scores share `optimistic` and `pessimistic`; `strict` never repeats within a question. Rows
    of one question are adjacent. Each triple has two rows: in its tail and in its head question.

    Attributes
    ----------
    question, entity, triple : ndarray of int32 [rows]
        `question` ascends.
    strict, optimistic, pessimistic : ndarray of int32 [systems, rows]
        The positions.
    side : ndarray of int8 [questions]
        0 where the tail is asked for, 1 for the head.
    relation, candidates : ndarray of int32 [questions]
        Relation and number of candidates.
    returned : ndarray of int32 [systems, questions] or None
        How many candidates each system returned; None where all returned every candidate.

    Raises
    ------
    ValueError
        If rows are not ordered by question, or shapes differ.

    Examples
    --------
    >>> from triplepool.example import ranked
    >>> table = ranked.prepared.table
    >>> table.systems, table.questions, table.rows
    (3, 4, 20)
    >>> table.strict[:, :5]
    array([[1, 2, 3, 4, 5],
           [3, 1, 2, 4, 5],
           [5, 4, 3, 2, 1]], dtype=int32)
    """

    question: NDArray[np.int32]
    entity: NDArray[np.int32]
    triple: NDArray[np.int32]
    strict: Ranks
    optimistic: Ranks
    pessimistic: Ranks
    side: NDArray[np.int8]
    relation: NDArray[np.int32]
    candidates: NDArray[np.int32]
    returned: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        rows = self.question.shape[0]
        if np.any(np.diff(self.question) < 0):
            raise ValueError("the rows of a rank table must be ordered by question")
        if self.entity.shape != (rows,) or self.triple.shape != (rows,):
            raise ValueError(f"question, entity and triple must all have {rows} rows")
        shapes = {self.strict.shape, self.optimistic.shape, self.pessimistic.shape}
        if len(shapes) != 1 or self.strict.ndim != 2 or self.strict.shape[1] != rows:
            raise ValueError(f"strict, optimistic and pessimistic must be (systems, {rows}), got {shapes}")
        if not self.side.shape == self.relation.shape == self.candidates.shape:
            raise ValueError("side, relation and candidates must have one value per question")
        if self.returned is not None and self.returned.shape != (self.systems, self.questions):
            raise ValueError(f"returned must be ({self.systems}, {self.questions}), got {self.returned.shape}")

    @property
    def systems(self) -> int:
        return int(self.strict.shape[0])

    @property
    def rows(self) -> int:
        return int(self.question.shape[0])

    @property
    def questions(self) -> int:
        return int(self.candidates.shape[0])

    @cached_property
    def start(self) -> Order:
        """Return the first row of each question and, last, the number of rows: [questions + 1]."""
        return np.searchsorted(self.question, np.arange(self.questions + 1))


def order_within_question(table: RankTable, ranks: Ranks) -> Order:
    """Sort row indices [systems, rows] by (question, rank); what a system did not return comes last in its question."""
    width = max(int(ranks.max(initial=0)), 1) + 1
    keys = table.question.astype(np.int64) * (width + 1) + np.where(ranks > 0, ranks, width)
    return np.argsort(keys, axis=1, kind="stable")


def keep_rows(table: RankTable, kept: Flags) -> RankTable:
    """Keep some rows, bool [rows], with their positions. Nothing is subtracted; questions keep their indices."""
    return replace(
        table,
        question=table.question[kept],
        entity=table.entity[kept],
        triple=table.triple[kept],
        strict=table.strict[:, kept],
        optimistic=table.optimistic[:, kept],
        pessimistic=table.pessimistic[:, kept],
    )


def without_known(table: RankTable, known: Flags) -> RankTable:
    """Turn `known` triples (bool [triples]: test answers that were not sampled) into facts, no candidates.

    Their rows go, and every other row of the same question loses those that stood above it: in `strict` the
    ones before it, in `optimistic` the ones with a higher score, in `pessimistic` the ones with a higher or
    equal score.
    """
    gone = known[table.triple]
    strict_order = order_within_question(table, table.strict)
    strict_above, _ = _counts_above(table, strict_order, table.strict, gone)
    order = order_within_question(table, table.optimistic)
    higher, higher_or_equal = _counts_above(table, order, table.optimistic, gone)
    fewer = np.bincount(table.question[gone], minlength=table.questions)
    returned = table.returned
    if returned is not None:
        listed = [np.bincount(table.question[row], minlength=table.questions) for row in gone & (table.strict > 0)]
        returned = (returned - np.array(listed)).astype(np.int32)
    shrunk = replace(
        table,
        strict=_subtract(table.strict, strict_above),
        optimistic=_subtract(table.optimistic, higher),
        pessimistic=_subtract(table.pessimistic, higher_or_equal),
        candidates=(table.candidates - fewer).astype(np.int32),
        returned=returned,
    )
    return keep_rows(shrunk, ~gone)


def equal_neighbours(table: RankTable, ranked: Ranks | Floats) -> Flags:
    """Tell which of ranked [systems, rows], in an order within questions, equal the one before: [systems, rows]."""
    same = np.zeros(ranked.shape, dtype=bool)
    same[:, 1:] = (ranked[:, 1:] == ranked[:, :-1]) & (table.question[1:] == table.question[:-1])
    return same


def tie_span(same_as_previous: Flags) -> tuple[Order, Order]:
    """Return the first and last index [..., n] of the run of equal values around each position."""
    n = same_as_previous.shape[-1]
    index = np.arange(n)
    first = np.maximum.accumulate(np.where(same_as_previous, 0, index), axis=-1)
    ends = np.ones(same_as_previous.shape, dtype=bool)
    ends[..., :-1] = ~same_as_previous[..., 1:]
    from_the_end = np.where(ends, index, n)[..., ::-1]
    last = np.minimum.accumulate(from_the_end, axis=-1)[..., ::-1]
    return first, last


def _counts_above(
    table: RankTable, order: Order, ranks: Ranks, flag: Flags
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count flagged rows of the question with a smaller, and a smaller or equal rank: 2 x [systems, rows]."""
    first, last = tie_span(equal_neighbours(table, np.take_along_axis(ranks, order, axis=1)))
    flagged = np.zeros((table.systems, table.rows + 1), dtype=np.int64)  # counts before a position
    np.cumsum(flag[order], axis=1, out=flagged[:, 1:])
    before_question = flagged[:, table.start[table.question]]
    smaller, smaller_or_equal = np.empty((2, *ranks.shape), dtype=np.int64)
    for counted, place in ((smaller, first), (smaller_or_equal, last + 1)):
        np.put_along_axis(counted, order, np.take_along_axis(flagged, place, axis=1) - before_question, axis=1)
    return smaller, smaller_or_equal


def _subtract(ranks: Ranks, above: NDArray[np.int64]) -> Ranks:
    return np.where(ranks > 0, ranks - above, 0).astype(np.int32)
