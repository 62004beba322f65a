"""The lists of the inspector and the label sets as tables, for who takes them away: every row, not one page of them."""

from __future__ import annotations

from collections.abc import Iterable

from evaluation.browse.inventory import Inventory
from evaluation.browse.label_table import LabelRow
from evaluation.browse.search import QuestionRow, TripleRow
from evaluation.sections.section import Column, Table

STATES = ("positive", "negative", "assumed_negative", "unjudged")


def _columns(text: str, counts: str = "", values: str = "") -> list[Column]:
    """Names of columns as they stand in the file."""
    kinds = (("text", text), ("count", counts), ("value", values))
    return [Column(key, key, kind) for kind, keys in kinds for key in keys.split()]


def question_table(held: Inventory, rows: Iterable[QuestionRow]) -> Table:
    """Entities and relations by their keys in the graph, and in words."""
    entities = held.stock.graph.entities
    columns = _columns(
        "side entity relation entity_label words", "original new negative assumed_negative unjudged", "spread"
    )
    return Table(
        "questions",
        "Questions",
        columns,
        [
            [
                row.side,
                entities[row.entity],
                row.relation_key,
                row.given,
                row.words,
                row.original,
                row.new,
                row.negative,
                row.assumed,
                row.unjudged,
                row.spread,
            ]
            for row in rows
        ],
    )


def triple_table(held: Inventory, rows: Iterable[TripleRow]) -> Table:
    """`found_by`: system, side of the question that found it, its rank there."""
    graph = held.stock.graph
    columns = _columns("head relation tail head_label tail_label state judged_by filter_reason found_by", "depth")
    return Table(
        "triples",
        "Triples",
        columns,
        [
            [
                graph.entities[row.head],
                graph.relations[row.relation],
                graph.entities[row.tail],
                row.names[0],
                row.names[2],
                row.shown.key,
                row.judged_by,
                row.reason,
                "; ".join(f"{finding.system} {finding.side} {finding.rank}" for finding in row.found_by),
                row.depth,
            ]
            for row in rows
        ],
    )


def label_set_table(rows: Iterable[LabelRow]) -> Table:
    """`questions` have an answer; the last two counts are of those with a negative. Empty where a set has a problem."""
    columns = _columns(
        "key name group when_utc by", f"{' '.join(STATES)} questions with_negative with_negative_or_assumed"
    )
    found = []
    for row in rows:
        counts = [row.counts[state] if row.counts else None for state in STATES]
        asked = row.questions
        found.append(
            [
                row.key,
                row.name,
                row.group,
                row.at.strftime("%Y-%m-%d %H:%M:%S") if row.at else "",
                row.by,
                *counts,
                *((asked.answered, asked.with_negative, asked.with_negative_or_assumed) if asked else (None,) * 3),
            ]
        )
    return Table("labels", "Label sets", columns, found)
