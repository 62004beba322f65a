"""Average by side, relation, relation category and popularity of the answer, and reweigh relations."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.label_state import States, positive
from evaluation.measures.prepared import Prepared
from evaluation.measures.rank_table import Flags, Floats, Ints, RankTable
from evaluation.measures.values import GroupMeans, Values
from pooling.graphs.kernels.degrees import BAND_EDGES, band, band_names

SIDES = ("tail", "head")  # by the number that a rank table gives a side


@dataclass(frozen=True)
class Groups:
    """Give each unit a group: micro measures read `of_row` [rows], macro measures `of_question` [questions].

    -1 leaves a unit out. Without `of_row` the answers have the group of their question.
    """

    names: tuple[str, ...]
    of_question: NDArray[np.int64]
    of_row: NDArray[np.int64] | None = None

    def of_units(self, values: Values) -> NDArray[np.int64]:
        """Return the group of each unit of a measure, [n]."""
        if values.unit_row is not None and self.of_row is not None:
            return self.of_row[values.unit_row]
        return self.of_question[values.unit_question]


def by_side(table: RankTable) -> Groups:
    """Group questions by side: tail, head.

    Parameters
    ----------
    table : RankTable
        The positions.

    Returns
    -------
    Groups
        A group per side.

    Examples
    --------
    >>> from triplepool import by_side
    >>> from triplepool.example import prepared
    >>> groups = by_side(prepared.table)
    >>> groups.names, groups.of_question
    (('tail', 'head'), array([0, 0, 1, 1]))
    """
    return Groups(SIDES, table.side.astype(np.int64))


def by_relation(table: RankTable, names: Sequence[str]) -> Groups:
    """Group questions by relation.

    Parameters
    ----------
    table : RankTable
        The positions.
    names : sequence of str [relations]
        Names of the relations.

    Returns
    -------
    Groups
        A group per relation.

    Examples
    --------
    >>> from triplepool import by_relation
    >>> from triplepool.example import prepared
    >>> by_relation(prepared.table, ["parent", "child"]).of_question
    array([0, 1, 0, 1])
    """
    return Groups(tuple(names), table.relation.astype(np.int64))


def by_category(table: RankTable, category: Ints, names: Sequence[str]) -> Groups:
    """Group questions by the category of their relation.

    Parameters
    ----------
    table : RankTable
        The positions.
    category : ndarray of int [relations]
        The number of each relation's category in `names`; -1 where it has none.
    names : sequence of str
        Names of the categories.

    Returns
    -------
    Groups
        A group per category.

    Examples
    --------
    >>> import numpy as np
    >>> from triplepool import by_category
    >>> from triplepool.example import prepared
    >>> by_category(prepared.table, np.array([1, -1]), ["1-1", "1-N"]).of_question
    array([ 1, -1,  1, -1])
    """
    return Groups(tuple(names), category[table.relation].astype(np.int64))


def by_side_and_category(table: RankTable, category: Ints, names: Sequence[str]) -> Groups:
    """Group questions into "tail 1-1", …, "head 1-1", …: side * categories + category, -1 where that is -1."""
    own = category[table.relation].astype(np.int64)  # [questions]
    both = tuple(f"{side} {name}" for side in SIDES for name in names)
    return Groups(both, np.where(own >= 0, table.side.astype(np.int64) * len(names) + own, -1))


def by_popularity(table: RankTable, state: States, degree: Ints, edges: Sequence[int] = BAND_EDGES) -> Groups:
    """Group answers by bands of their degree in train.

    A micro unit is one answer and has its band. A macro unit is a question, which may have several answers: it has the
    band of its most popular one, the same for every system; -1 without an answer.

    Parameters
    ----------
    table : RankTable
        The positions.
    state : ndarray of int8 [triples]
        The `LabelState` of each triple.
    degree : ndarray of int [entities]
        Training triples of each entity.
    edges : sequence of int, optional
        Last degree of each band but the open one.

    Returns
    -------
    Groups
        A group per band.

    Examples
    --------
    >>> import numpy as np
    >>> from triplepool import by_popularity
    >>> from triplepool.example import prepared, state
    >>> groups = by_popularity(prepared.table, state, np.array([9, 4, 1, 1, 0]), edges=(1, 4))
    >>> groups.names, groups.of_question
    (('0-1', '2-4', 'over 4'), array([2, 1, 2, 2]))
    """
    row_degree = np.asarray(degree)[table.entity].astype(np.int64)
    answers = positive(state)[table.triple]
    most = np.full(table.questions, -1, dtype=np.int64)
    np.maximum.at(most, table.question[answers], row_degree[answers])
    of_question = np.where(most >= 0, band(most, edges), -1)
    return Groups(band_names(edges), of_question, band(row_degree, edges))


def group_means(values: Values, groups: Groups) -> GroupMeans:
    """Return the mean of a measure in each group.

    Ranks adjusted for chance are adjusted anew within each group.

    Parameters
    ----------
    values : Values
        One measure, from `values`.
    groups : Groups
        From `by_side`, `by_relation`, `by_category` or `by_popularity`.

    Returns
    -------
    GroupMeans
        `mean` [systems, groups], nan for a group that is empty or has an undefined unit, and `count` [groups].

    Examples
    --------
    >>> from triplepool import by_side, group_means, values
    >>> from triplepool.example import prepared, state
    >>> value = values(prepared, state, ["micro_mrr"])["micro_mrr"]
    >>> means = group_means(value, by_side(prepared.table))
    >>> means.mean.round(2), means.count
    (array([[1.  , 1.  ],
           [0.67, 1.  ],
           [0.23, 0.29]]), array([3, 4]))
    """
    return values.mean_by_unit(groups.of_units(values), len(groups.names))


def relation_counts(prepared: Prepared, counted: Flags, relations: int) -> NDArray[np.int64]:
    """Count the flagged triples of each relation.

    Parameters
    ----------
    prepared : Prepared
        A rank table, sorted by `prepare`.
    counted : ndarray of bool [triples]
        The triples to count.
    relations : int
        How many relations there are.

    Returns
    -------
    ndarray of int64 [relations]
        Flagged triples that have a row in the table.

    Examples
    --------
    >>> from triplepool import LabelState, relation_counts
    >>> from triplepool.example import prepared, state
    >>> relation_counts(prepared, state == LabelState.POSITIVE, 2)
    array([4, 3])
    """
    table = prepared.table
    relation = np.full(counted.shape, -1, dtype=np.int64)
    relation[table.triple] = table.relation[table.question]  # both rows of a triple have its relation
    return np.bincount(relation[counted & (relation >= 0)], minlength=relations)


@dataclass(frozen=True)
class Reweighted:
    """Hold `value` [systems]; `dropped` is the share of the weight that lies on relations without a unit."""

    value: Floats
    dropped: float


def reweighted(by_relation: GroupMeans, weight: Floats) -> Reweighted:
    """Return the sum over relations of weight times mean.

    A relation without a unit has no mean: it is dropped, and the other weights are scaled to add up to 1. With the
    shares of the units themselves this is the plain mean.

    Parameters
    ----------
    by_relation : GroupMeans
        The means of each relation.
    weight : ndarray of float [relations]
        Shares of the relations in any label set.

    Returns
    -------
    Reweighted
        `value` [systems], nan if no weight is left or where a mean of positive weight is undefined; `dropped`, the
        share of the weight on relations without a unit.

    Examples
    --------
    >>> import numpy as np
    >>> from triplepool import by_relation, group_means, reweighted, values
    >>> from triplepool.example import prepared, state
    >>> value = values(prepared, state, ["micro_mrr"])["micro_mrr"]
    >>> means = group_means(value, by_relation(prepared.table, ["parent", "child"]))
    >>> reweighted(means, np.array([0.9, 0.1])).value.round(3)
    array([1.   , 0.871, 0.286])
    """
    used = (by_relation.count > 0) & (weight > 0)
    total, kept = float(weight.sum()), float(weight[used].sum())
    if not kept > 0:
        return Reweighted(np.full(by_relation.mean.shape[0], np.nan), 1.0 if total > 0 else np.nan)
    value: Floats = by_relation.mean[:, used] @ (weight[used] / kept)
    return Reweighted(value, max(0.0, 1.0 - kept / total))  # two orders of summation: never -0.0 %


@dataclass(frozen=True)
class Boxes:
    """Hold what a box plot of per-relation values shows, one entry per system; nan where no relation counts."""

    low: Floats  # whisker: the smallest value within 1.5 interquartile ranges of the box
    q1: Floats
    median: Floats
    q3: Floats
    high: Floats  # whisker: the largest such value
    relations: NDArray[np.int64]  # relations with a defined value and enough units
    outside: Flags  # [systems, relations] values beyond the whiskers


def boxes(by_relation: GroupMeans, minimum: int = 1) -> Boxes:
    """Return what a box plot over relations shows, for each system.

    Quartiles by linear interpolation (numpy's default), whiskers after Tukey 1977.

    Parameters
    ----------
    by_relation : GroupMeans
        The means of each relation.
    minimum : int, default 1
        Relations with fewer units stay out.

    Returns
    -------
    Boxes
        Quartiles, whiskers and values beyond them; nan where no relation counts.

    Examples
    --------
    >>> from triplepool import boxes, by_relation, group_means, values
    >>> from triplepool.example import prepared, state
    >>> value = values(prepared, state, ["micro_mrr"])["micro_mrr"]
    >>> means = group_means(value, by_relation(prepared.table, ["parent", "child"]))
    >>> boxes(means).median.round(3)
    array([1.   , 0.854, 0.262])
    """
    counted = (by_relation.count >= max(minimum, 1)) & np.isfinite(by_relation.mean)
    value = np.where(counted, by_relation.mean, np.nan)
    some = counted.any(axis=1)
    q1, median, q3 = quartiles = np.full((3, value.shape[0]), np.nan)
    if some.any():
        quartiles[:, some] = np.nanquantile(value[some], [0.25, 0.5, 0.75], axis=1)
    reach = 1.5 * (q3 - q1)
    inside = counted & (value >= (q1 - reach)[:, None]) & (value <= (q3 + reach)[:, None])
    low = np.min(value, axis=1, where=inside, initial=np.inf)
    high = np.max(value, axis=1, where=inside, initial=-np.inf)
    low[~some] = high[~some] = np.nan
    return Boxes(low, q1, median, q3, high, counted.sum(axis=1), counted & ~inside)
