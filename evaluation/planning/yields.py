"""Estimate the positives that a pool still holds by relation, and build the sections that show them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotation.models import Item
from annotation.quality.kernel import Share
from evaluation.measures.label_state import LabelState
from evaluation.planning.findings import undecided_places
from evaluation.planning.kernel import (
    LEAST_DEPTHS,
    LEAST_JUDGED,
    LEAST_POSITIVE,
    YieldCurve,
    enough,
    fit_yield,
    positives_left,
)
from evaluation.planning.work_left import Work, work_of
from evaluation.sections.builders import chart, interval_cell, series_of, table_of
from evaluation.sections.relation_names import named_relations, relation_axis
from evaluation.sections.section import Cell, Chart, Column, Context, Json, Section, Table, cell, numbers
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.orders import ORDERS

SHOWN = 15  # relations in the chart
TOO_FEW = f"the whole pool has fewer than {LEAST_JUDGED} judged, {LEAST_POSITIVE} positive or {LEAST_DEPTHS} depths"
NOTHING = "nothing is judged at this depth"
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class RelationYield:
    """Triples of one relation (-1: of all); `judged`, `positive`, `unjudged` [k] count those for people by depth.

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
    def num_judged(self) -> int:
        return int(self.judged.sum())

    @property
    def num_positive(self) -> int:
        return int(self.positive.sum())

    @property
    def num_unjudged(self) -> int:
        return int(self.unjudged.sum())

    @property
    def share(self) -> float | None:
        """Return the share of positives in the judged triples; None where nothing is judged."""
        return self.num_positive / self.num_judged if self.num_judged else None

    @property
    def left(self) -> float | None:
        return float(positives_left(self.curve, self.unjudged)) if self.curve else None

    def per_label(self, work: Work) -> float | None:
        """Return the positives that a further label finds on average; None where nothing is left to judge."""
        count = self.num_unjudged
        return self.left / (count * work.per_judgement.value) if self.left is not None and count else None


@dataclass(frozen=True)
class Yields:
    every: RelationYield
    relations: list[RelationYield]  # where the next label pays most first


def yields(context: Context, work: Work) -> Yields:
    """Return the yield of every relation that has a pooled triple, and of all together."""
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
    rows.sort(key=lambda row: (-(row.per_label(work) or 0.0), -row.num_unjudged, row.name))
    return Yields(every, rows)


def _yield(
    relation: int, name: str, totals: Sequence[int], parts: Sequence[Counts], curve: YieldCurve | None
) -> RelationYield:
    """Return a yield with the relation's own curve where enough is judged, else with the given one."""
    pooled, to_people, released = totals
    judged, positive, unjudged = parts
    is_own = enough(positive, judged)
    own = fit_yield(positive, judged) if is_own else curve
    return RelationYield(relation, name, pooled, to_people, released, judged, positive, unjudged, own, is_own)


def relation_json(row: RelationYield, work: Work) -> Json:
    return {
        "relation": row.name,
        **{name: getattr(row, name) for name in ("pooled", "to_people", "released")},
        **{name: getattr(row, f"num_{name}") for name in ("judged", "positive", "unjudged")},
        **{f"{name}_by_depth": getattr(row, name).tolist() for name in ("judged", "positive")},
        "left": row.left,
        "per_label": row.per_label(work),
        "curve": _whose(row),
    }


def _whose(row: RelationYield) -> str:
    return "" if row.curve is None else "own" if row.is_own else "all relations"


def by_relation(context: Context) -> list[Section]:
    work = work_of(context.pool)
    found = yields(context, work)
    return [_next(context, found, work), _by_depth(found, context.table.graph)]


def _next(context: Context, found: Yields, work: Work) -> Section:
    graph = context.table.graph
    table = named_relations(_next_table(found, work), graph)
    every = table.rows[0]  # in the foot, which has no numbers but counts: the yield is text
    share = "" if found.every.share is None else f"{100 * found.every.share:.1f} %"
    left = "" if found.every.curve is None else sum(row.left or 0.0 for row in found.relations)
    foot: list[Cell] = ["all", *every[1:6], share, every[7], left, "", ""]
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
        [replace(table, rows=table.rows[1:], foot=foot)],
        _next_chart(shown, work, graph) if shown else None,
        _says(found, graph),
        _notes(context, found),
    )


def _next_chart(shown: Sequence[RelationYield], work: Work, graph: GraphArrays) -> Chart:
    names = [row.name for row in shown]
    expected = numbers([100 * (row.per_label(work) or 0.0) for row in shown])
    return chart(
        "bars",
        f"Expected positives of the next 100 labels in {len(shown)} relations",
        [series_of("positives in 100 labels", names, expected)],
        x="expected positives in 100 labels",
        lying=True,
        yaxis=relation_axis([row.relation for row in shown], graph),
    )


def _next_table(found: Yields, work: Work) -> Table:
    """Return the table of all relations together, then of each."""
    unjudged = "for people, without a judgement; undecided ones are judged"
    expected = "expected among the unjudged, by the curve of the yield by depth"

    def told(value: float | None, reason: str) -> Cell:
        return cell(nan_if_none(value), reason)

    def per_label(row: RelationYield) -> Cell:
        return told(row.per_label(work), TOO_FEW if row.left is None else "nothing is left to judge")

    return table_of(
        "relations-next",
        "Relations by expected positives a label",
        [found.every, *found.relations],
        [
            (Column("relation", "Relation", "text"), lambda row: row.name),
            (Column("pooled", "Pooled", "count"), lambda row: row.pooled),
            (Column("to_people", "To people", "count", "pooled and not filtered"), lambda row: row.to_people),
            (Column("released", "Released", "count", "given to people so far"), lambda row: row.released),
            (Column("judged", "Judged", "count", "of those for people, with yes or no"), lambda row: row.num_judged),
            (Column("positive", "Positive", "count"), lambda row: row.num_positive),
            (Column("yield", "Yield", "share", "positive of judged"), lambda row: told(row.share, "nothing is judged")),
            (Column("unjudged", "Unjudged", "count", unjudged), lambda row: row.num_unjudged),
            (Column("left", "Positives left", note=expected), lambda row: told(row.left, TOO_FEW)),
            (Column("per_label", "Positives a label", note="expected of the next label"), per_label),
            (Column("curve", "Curve", "text", "whose judgements the expectation is from"), _whose),
        ],
    )


def nan_if_none(value: float | None) -> float:
    return float("nan") if value is None else value


def _says(found: Yields, graph: GraphArrays) -> str:
    left = [row.left or 0.0 for row in found.relations]
    unjudged = found.every.num_unjudged
    if not unjudged:
        return "Every triple for people is judged."
    if found.every.curve is None:
        return f"Too little is judged to say how many positives the {unjudged:,} unjudged triples hold."
    expected = f"About {sum(left):,.0f} positives are expected among the {unjudged:,} unjudged triples."
    return f"{expected} A label pays most in {graph.relation_name(found.relations[0].relation)}."


def _notes(context: Context, found: Yields) -> list[str]:
    notes = []
    if found.every.curve is not None and found.every.curve.power > 0:
        notes.append("So far the yield rises with depth. The pool is not saturated: deeper ones hold more positives.")
    campaign = getattr(context.pool, "campaign", None)
    # only these orders pick at random among the triples of one depth
    is_fair = campaign is None or campaign.order == "depth" or ORDERS[campaign.order].is_sample
    if campaign is not None and campaign.batch_size and not is_fair:
        notes.append(
            "The order of judging prefers triples that look positive, so the judged ones are not a random sample of a"
            " depth, and the expectation is too high."
        )
    return notes


def _by_depth(found: Yields, graph: GraphArrays) -> Section:
    every, relations = found.every, sorted(found.relations, key=lambda row: row.name)
    depths = list(range(1, len(every.judged) + 1))
    shares = [Share(int(p), int(n)) for p, n in zip(every.positive, every.judged, strict=True)]
    ends = np.array([share.interval or (np.nan, np.nan) for share in shares])
    band = {"low": ends[:, 0], "high": ends[:, 1]} if all(share.n for share in shares) else {}  # a band has no holes
    series = [series_of("judged", depths, [share.value for share in shares], **band)]
    fitted = np.full(len(depths), np.nan)
    curve = ""
    if every.curve is not None:
        fitted = every.curve.expected(np.array(depths))
        series.append(series_of("fitted", depths, fitted, thin=True))
        formula = f"{every.curve.scale:.3g} · depth^{every.curve.power:.2f}"
        curve = f" The thin line is the curve of all relations: {formula}."
    columns = [Column("relation", "Relation", "text"), *(Column(f"d{d}", f"Depth {d}", "share") for d in depths)]
    rows: list[list[Cell]] = [
        [row.name, *(_share_cell(Share(int(p), int(n))) for p, n in zip(row.positive, row.judged, strict=True))]
        for row in relations
    ]
    of_relations = named_relations(Table("yield-relations", "Yield of each relation by depth", columns, rows), graph)
    all_relations = table_of(
        "yield-depth",
        "All relations by depth",
        range(len(depths)),
        [
            (Column("depth", "Depth", "count"), lambda i: depths[i]),
            (Column("judged", "Judged", "count"), lambda i: int(every.judged[i])),
            (Column("positive", "Positive", "count"), lambda i: int(every.positive[i])),
            (Column("yield", "Yield", "share"), lambda i: _share_cell(shares[i])),
            (Column("fitted", "Fitted", "share"), lambda i: cell(fitted[i], TOO_FEW)),
            (Column("unjudged", "Unjudged", "count"), lambda i: int(every.unjudged[i])),
        ],
    )
    return Section(
        "yield-depth",
        "Yield by depth",
        "The share of positives among the judged triples of each pool depth, for all relations and for each."
        " A yield that hardly falls says that the pool is not saturated.",
        f"n = {every.num_judged:,} judged triples for people. Brackets: 95 % Wilson interval.{curve.replace('-', '−')}",
        [all_relations, of_relations],
        chart("lines", "Yield by pool depth", series, x="pool depth", y="share of positives"),
    )


def _share_cell(share: Share) -> Cell:
    low, high = share.interval or (float("nan"), float("nan"))
    return interval_cell(nan_if_none(share.value), low, high, NOTHING)
