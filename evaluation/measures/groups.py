"""Means by side, relation, relation category and popularity of the answer, and what relations weigh.

Source: spec/metrics.md §2 (groups, relation shares; [IR] table 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.label_state import States, positive
from evaluation.measures.prepared import Prepared
from evaluation.measures.rank_table import Flags, Floats, Ints, RankTable
from evaluation.measures.values import GroupMeans, Values, side_by_category
from pooling.graphs.kernels.degrees import BAND_EDGES, band, band_names

SIDES = ("tail", "head")  # by the number that a rank table gives a side


@dataclass(frozen=True)
class Groups:
    """A group for each unit: micro measures read `of_row` [rows], macro measures `of_question` [questions].

    -1 leaves a unit out. Without `of_row` the answers have the group of their question.
    """

    names: tuple[str, ...]
    of_question: NDArray[np.int64]
    of_row: NDArray[np.int64] | None = None

    def of_units(self, values: Values) -> NDArray[np.int64]:
        """[n] for the units of a measure."""
        if values.unit_row is not None and self.of_row is not None:
            return self.of_row[values.unit_row]
        return self.of_question[values.unit_question]


def by_side(table: RankTable) -> Groups:
    return Groups(SIDES, table.side.astype(np.int64))


def by_relation(table: RankTable, names: Sequence[str]) -> Groups:
    """`names` [relations]."""
    return Groups(tuple(names), table.relation.astype(np.int64))


def by_category(table: RankTable, category: Ints, names: Sequence[str]) -> Groups:
    """`category` [relations] numbers the relation categories in `names`; -1 where a relation has none."""
    return Groups(tuple(names), category[table.relation].astype(np.int64))


def by_side_and_category(table: RankTable, category: Ints, names: Sequence[str]) -> Groups:
    """The groups "tail 1-1", …, "head 1-1", …: side * categories + category."""
    both = tuple(f"{side} {name}" for side in SIDES for name in names)
    return Groups(both, side_by_category(table.side, category[table.relation], len(names)))


def by_popularity(table: RankTable, state: States, degree: Ints, edges: Sequence[int] = BAND_EDGES) -> Groups:
    """Bands of the degree of the answer, `degree` [entities] (`entity_degree` of train).

    A micro unit is one answer and has its band. A macro unit is a question, which may have several answers: it
    has the band of its most popular one, which is the same for every system; -1 without an answer under `state`.
    """
    row_degree = np.asarray(degree)[table.entity].astype(np.int64)
    answers = positive(state)[table.triple]
    most = np.full(table.questions, -1, dtype=np.int64)
    np.maximum.at(most, table.question[answers], row_degree[answers])
    of_question = np.where(most >= 0, band(most, edges), -1)
    return Groups(band_names(edges), of_question, band(row_degree, edges))


def group_means(values: Values, groups: Groups) -> GroupMeans:
    """Means [systems, groups] and the units in each; nan for a group that is empty or has an undefined unit.

    Ranks adjusted for chance are adjusted anew within each group.
    """
    return values.mean_by_unit(groups.of_units(values), len(groups.names))


def relation_counts(prepared: Prepared, counted: Flags, relations: int) -> NDArray[np.int64]:
    """How many of the flagged triples (bool [triples]) of the table each relation has, [relations]."""
    table = prepared.table
    relation = np.full(counted.shape, -1, dtype=np.int64)
    relation[table.triple] = table.relation[table.question]  # both rows of a triple have its relation
    return np.bincount(relation[counted & (relation >= 0)], minlength=relations)


@dataclass(frozen=True)
class Reweighted:
    """`value` [systems]; `dropped` is the share of the weight that lies on relations without a unit."""

    value: Floats
    dropped: float


def reweighted(by_relation: GroupMeans, weight: Floats) -> Reweighted:
    """Σ_r w_r · mean_r over relations; `weight` [relations], from the shares of any label set.

    A relation without a unit has no mean: it is dropped, and the other weights are scaled to add up to 1.
    With the shares of the units themselves this is the plain mean. nan if no weight is left, or where a mean
    of positive weight is undefined.
    """
    used = (by_relation.count > 0) & (weight > 0)
    total, kept = float(weight.sum()), float(weight[used].sum())
    if not kept > 0:
        return Reweighted(np.full(by_relation.mean.shape[0], np.nan), 1.0 if total > 0 else np.nan)
    value: Floats = by_relation.mean[:, used] @ (weight[used] / kept)
    return Reweighted(value, max(0.0, 1.0 - kept / total))  # two orders of summation: never -0.0 %


@dataclass(frozen=True)
class Boxes:
    """What a box plot of per-relation values shows, one entry per system; nan where no relation counts."""

    low: Floats  # whisker: the smallest value within 1.5 interquartile ranges of the box
    q1: Floats
    median: Floats
    q3: Floats
    high: Floats  # whisker: the largest such value
    relations: NDArray[np.int64]  # relations with a defined value and enough units
    outside: Flags  # [systems, relations] values beyond the whiskers


def boxes(by_relation: GroupMeans, minimum: int = 1) -> Boxes:
    """Distribution over relations of each system's means; relations with fewer than `minimum` units stay out.

    Quartiles by linear interpolation (numpy's default), whiskers after Tukey 1977.
    """
    counted = (by_relation.count >= max(minimum, 1)) & np.isfinite(by_relation.mean)
    value = np.where(counted, by_relation.mean, np.nan)
    some = counted.any(axis=1)
    quartiles = np.full((3, value.shape[0]), np.nan)
    if some.any():
        quartiles[:, some] = np.nanquantile(value[some], [0.25, 0.5, 0.75], axis=1)
    q1, median, q3 = quartiles
    reach = 1.5 * (q3 - q1)
    inside = counted & (value >= (q1 - reach)[:, None]) & (value <= (q3 + reach)[:, None])
    low = np.min(value, axis=1, where=inside, initial=np.inf)
    high = np.max(value, axis=1, where=inside, initial=-np.inf)
    return Boxes(
        np.where(some, low, np.nan),
        q1,
        median,
        q3,
        np.where(some, high, np.nan),
        counted.sum(axis=1),
        counted & ~inside,
    )
