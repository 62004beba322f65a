"""What the pool still holds, relation by relation: positives found by depth, expected among what is unjudged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.models import Item
from annotation.quality.kernel import Share
from evaluation.measures.label_state import LabelState
from evaluation.planning.findings import undecided_places
from evaluation.planning.kernels.yield_curve import (
    LEAST_DEPTHS,
    LEAST_JUDGED,
    LEAST_POSITIVE,
    YieldCurve,
    enough,
    fit_yield,
    positives_left,
)
from evaluation.planning.work_left import Work, work_of
from evaluation.sections.relation_shares import LONGEST_NAME
from evaluation.sections.section import Cell, Chart, Column, Context, Json, Section, Table, cell, numbers
from pooling.orders import ORDERS

SHOWN = 15  # relations in the chart
TOO_FEW = f"the whole pool has fewer than {LEAST_JUDGED} judged, {LEAST_POSITIVE} positive or {LEAST_DEPTHS} depths"
NOTHING = "nothing is judged at this depth"
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class RelationYield:
    """Triples of one relation (of all: relation -1); `judged`, `positive`, `unjudged` [k] are those for people.

    `unjudged` has no judgement at all, so that undecided triples are in neither. `left`: positives expected among
    them, None where nothing can be fitted; `is_own`: by the relation's own curve, else by that of all.
    """

    relation: int
    name: str
    pooled: int
    to_people: int
    released: int
    judged: Counts
    positive: Counts
    unjudged: Counts
    curve: YieldCurve | None
    is_own: bool

    @property
    def left(self) -> float | None:
        return float(positives_left(self.curve, self.unjudged)) if self.curve else None

    def per_label(self, work: Work) -> float | None:
        """Positives that the next label of this relation finds on average; None where nothing is left to judge."""
        count = int(self.unjudged.sum())
        return self.left / (count * work.per_judgement.value) if self.left is not None and count else None


@dataclass(frozen=True)
class Yields:
    every: RelationYield
    relations: list[RelationYield]  # where the next label pays most first


def yields(context: Context, work: Work) -> Yields:
    """Of every relation that has a pooled triple."""
    table, state = context.table, context.labels.state
    names = table.graph.relations
    pooled = (table.pooled_id > 0) & ~table.is_seed
    people = pooled & ~table.filtered
    released = np.zeros(len(state), dtype=bool)
    items = Item.objects.filter(campaign__pool=context.pool).values_list("triple_id", flat=True)
    released[[table.position_of[i] for i in items]] = True
    positive = people & (state == LabelState.POSITIVE)
    judged = positive | (people & (state == LabelState.NEGATIVE))
    unjudged = people & (state == LabelState.UNJUDGED) & ~undecided_places(context.pool, table)
    relation, deepest = table.triples[:, 1].astype(np.int64), max(int(table.depth[pooled].max(initial=1)), 1)

    def count(chosen: NDArray[np.bool_]) -> Counts:
        return np.bincount(relation[chosen], minlength=len(names))

    def by_depth(chosen: NDArray[np.bool_]) -> Counts:  # [relations, k]
        place = relation[chosen] * deepest + np.maximum(table.depth[chosen], 1) - 1
        return np.bincount(place, minlength=len(names) * deepest).reshape(-1, deepest)

    totals = [count(chosen) for chosen in (pooled, people, people & released)]
    parts = [by_depth(chosen) for chosen in (judged, positive, unjudged)]
    sums = [int(total.sum()) for total in totals]
    every = _yield(-1, "all relations", sums, [part.sum(axis=0) for part in parts], None)
    rows = [
        _yield(r, names[r], [int(total[r]) for total in totals], [part[r] for part in parts], every.curve)
        for r in np.flatnonzero(totals[0]).tolist()
    ]
    rows.sort(key=lambda row: (-(row.per_label(work) or 0.0), -int(row.unjudged.sum()), row.name))
    return Yields(every, rows)


def _yield(
    relation: int, name: str, totals: Sequence[int], parts: Sequence[Counts], curve: YieldCurve | None
) -> RelationYield:
    """With the relation's own curve where there is enough of it, else with the one that is given."""
    pooled, to_people, released = totals
    judged, positive, unjudged = parts
    is_own = enough(positive, judged)
    own = fit_yield(positive, judged) if is_own else curve
    return RelationYield(relation, name, pooled, to_people, released, judged, positive, unjudged, own, is_own)


def relation_json(row: RelationYield, work: Work) -> Json:
    return {
        "relation": row.name,
        "pooled": row.pooled,
        "to_people": row.to_people,
        "released": row.released,
        "judged": int(row.judged.sum()),
        "positive": int(row.positive.sum()),
        "unjudged": int(row.unjudged.sum()),
        "judged_by_depth": row.judged.tolist(),
        "positive_by_depth": row.positive.tolist(),
        "left": row.left,
        "per_label": row.per_label(work),
        "curve": _whose(row),
    }


def _whose(row: RelationYield) -> str:
    return "" if row.curve is None else "own" if row.is_own else "all relations"


# -- sections ---------------------------------------------------------------------------------------------------


def by_relation(context: Context) -> list[Section]:
    work = work_of(context.pool)
    found = yields(context, work)
    return [_next(context, found, work), _by_depth(found)]


def _next(context: Context, found: Yields, work: Work) -> Section:
    columns = [
        Column("relation", "Relation", "text"),
        Column("pooled", "Pooled", "count"),
        Column("to_people", "To people", "count", "pooled and not filtered"),
        Column("released", "Released", "count", "given to people so far"),
        Column("judged", "Judged", "count", "of those for people, with yes or no"),
        Column("positive", "Positive", "count"),
        Column("yield", "Yield", "share", "positive of judged"),
        Column("unjudged", "Unjudged", "count", "for people, without a judgement; undecided ones are judged"),
        Column("left", "Positives left", "value", "expected among the unjudged, by the curve of the yield by depth"),
        Column("per_label", "Positives a label", "value", "expected of the next label"),
        Column("curve", "Curve", "text", "whose judgements the expectation is from"),
    ]
    shown = [row for row in found.relations if row.left is not None and row.unjudged.any()][:SHOWN]
    per = work.per_judgement
    return Section(
        "relations-next",
        "Where the next labels pay most",
        "How many positives are expected among the triples of each relation that nobody has judged yet, and how many of"
        " them a label finds. A relation with few judgements borrows the curve of all relations.",
        "Triples for people only; filtered ones that somebody judged are left out. Yield by depth fitted as a power law"
        f" by weighted least squares (Zobel 1998). Own curve from {LEAST_JUDGED} judged, {LEAST_POSITIVE} positive and"
        f" {LEAST_DEPTHS} depths on. A judgement is taken to need {per.value:.2f} labels.",
        [
            Table(
                "relations-next",
                "Relations by expected positives a label",
                columns,
                [_row(row, work) for row in found.relations],
                foot=_total(found, work),
            )
        ],
        _next_chart(shown, work) if shown else None,
        _says(found),
        _notes(context, found),
    )


def _next_chart(shown: Sequence[RelationYield], work: Work) -> Chart:
    names = [row.name for row in shown]
    short = [name if len(name) <= LONGEST_NAME else f"…{name[1 - LONGEST_NAME :]}" for name in names]
    expected = numbers([100 * (row.per_label(work) or 0.0) for row in shown])
    return Chart(
        "bars",
        f"Expected positives of the next 100 labels in {len(shown)} relations",
        {
            "series": [{"name": "positives in 100 labels", "x": names, "y": expected}],
            "x": "expected positives in 100 labels",
            "lying": True,
            "yaxis": {"type": "category", "tickvals": names, "ticktext": short, "autorange": "reversed"},
        },
    )


def _row(row: RelationYield, work: Work) -> list[Cell]:
    judged, positive = int(row.judged.sum()), int(row.positive.sum())
    nothing = "nothing is left to judge"
    return [
        row.name,
        row.pooled,
        row.to_people,
        row.released,
        judged,
        positive,
        cell(positive / judged if judged else float("nan"), "nothing is judged"),
        int(row.unjudged.sum()),
        cell(nan_if_none(row.left), TOO_FEW),
        cell(nan_if_none(row.per_label(work)), TOO_FEW if row.left is None else nothing),
        _whose(row),
    ]


def _total(found: Yields, work: Work) -> list[Cell]:
    """The foot: counts, the yield as text since a foot has no other numbers, and all positives that are expected."""
    every = _row(found.every, work)
    judged = int(found.every.judged.sum())
    share = f"{100 * int(found.every.positive.sum()) / judged:.1f} %" if judged else ""
    left = "" if found.every.curve is None else sum(row.left or 0.0 for row in found.relations)
    return ["all", *every[1:6], share, every[7], left, "", ""]


def nan_if_none(value: float | None) -> float:
    return float("nan") if value is None else value


def _says(found: Yields) -> str:
    left = [row.left or 0.0 for row in found.relations]
    unjudged = int(found.every.unjudged.sum())
    if not unjudged:
        return "Every triple for people is judged."
    if found.every.curve is None:
        return f"Too little is judged to say how many positives the {unjudged:,} unjudged triples hold."
    best = found.relations[0]
    return (
        f"About {sum(left):,.0f} positives are expected among the {unjudged:,} unjudged triples."
        f" A label pays most in {best.name}."
    )


def _is_fair(order: str) -> bool:
    """Whether an order picks at random among the triples of one depth."""
    return order == "depth" or ORDERS[order].is_sample


def _notes(context: Context, found: Yields) -> list[str]:
    notes = []
    if found.every.curve is not None and found.every.curve.power > 0:
        notes.append("So far the yield rises with depth. The pool is not saturated: deeper ones hold more positives.")
    campaign = getattr(context.pool, "campaign", None)
    if campaign is not None and campaign.batch_size and not _is_fair(campaign.order):
        notes.append(
            "The order of judging prefers triples that look positive, so the judged ones are no random sample of a"
            " depth, and the expectation is too high."
        )
    return notes


def _by_depth(found: Yields) -> Section:
    every = found.every
    depths = list(range(1, len(every.judged) + 1))
    shares = [Share(int(p), int(n)) for p, n in zip(every.positive, every.judged, strict=True)]
    ends = [share.interval or (float("nan"), float("nan")) for share in shares]
    observed: Json = {
        "name": "judged",
        "x": depths,
        "y": [share.value for share in shares],
        "low": numbers([low for low, _ in ends]),
        "high": numbers([high for _, high in ends]),
    }
    if not all(share.n for share in shares):  # a band has no holes
        del observed["low"], observed["high"]
    series = [observed]
    if every.curve is not None:
        fitted = numbers(every.curve.expected(np.array(depths)))
        series.append({"name": "fitted", "x": depths, "y": fitted, "thin": True})
    columns = [Column("relation", "Relation", "text"), *(Column(f"d{d}", f"Depth {d}", "share") for d in depths)]
    curve = (
        f" The thin line is the curve of all relations: {every.curve.scale:.3g} · depth^{every.curve.power:.2f}."
        if every.curve
        else ""
    ).replace("-", "−")
    return Section(
        "yield-depth",
        "Yield by depth",
        "The share of positives among the judged triples of each pool depth, for all relations and for each."
        " A yield that hardly falls says that the pool is not saturated.",
        f"n = {int(every.judged.sum()):,} judged triples for people. Brackets: 95 % Wilson interval.{curve}",
        [
            Table(
                "yield-depth",
                "All relations by depth",
                [
                    Column("depth", "Depth", "count"),
                    Column("judged", "Judged", "count"),
                    Column("positive", "Positive", "count"),
                    Column("yield", "Yield", "share"),
                    Column("fitted", "Fitted", "share"),
                    Column("unjudged", "Unjudged", "count"),
                ],
                [_depth_row(every, d) for d in depths],
            ),
            Table(
                "yield-relations",
                "Yield of each relation by depth",
                columns,
                [
                    [row.name, *(_share_cell(int(p), int(n)) for p, n in zip(row.positive, row.judged, strict=True))]
                    for row in sorted(found.relations, key=lambda row: row.name)
                ],
            ),
        ],
        Chart("lines", "Yield by pool depth", {"series": series, "x": "pool depth", "y": "share of positives"}),
    )


def _depth_row(every: RelationYield, depth: int) -> list[Cell]:
    positive, judged = int(every.positive[depth - 1]), int(every.judged[depth - 1])
    fitted = float(every.curve.expected(np.array([depth]))[0]) if every.curve else float("nan")
    return [
        depth,
        judged,
        positive,
        _share_cell(positive, judged),
        cell(fitted, TOO_FEW),
        int(every.unjudged[depth - 1]),
    ]


def _share_cell(hits: int, n: int) -> Cell:
    share = Share(hits, n)
    if share.value is None or share.interval is None:
        return cell(float("nan"), NOTHING)
    low, high = share.interval
    return cell(share.value, low=low, high=high)
