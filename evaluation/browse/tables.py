"""Make tables for download of the questions, triples and label sets of a pool: every row, not one page of them."""

from collections.abc import Iterable

from evaluation.browse.label_set_rows import LabelSetRow
from evaluation.browse.pool_states import PoolStates
from evaluation.browse.search import QuestionRow, TripleRow
from evaluation.sections.section import Cell, Column, Table

STATES = ("positive", "negative", "assumed_negative", "unjudged")


def _columns(text: str, counts: str = "", values: str = "") -> list[Column]:
    """Return columns with their names in the file."""
    kinds = (("text", text), ("count", counts), ("value", values))
    return [Column(key, key, kind) for kind, keys in kinds for key in keys.split()]


def question_table(states: PoolStates, rows: Iterable[QuestionRow]) -> Table:
    """Return the questions, with entities and relations by their keys in the graph, and in words."""
    graph = states.contents.graph
    counted = "original new negative assumed_negative unjudged"
    columns = _columns("side entity relation entity_label words", counted, "spread")
    found: list[list[Cell]] = []
    for row in rows:
        names = [row.side, graph.entities[row.entity], graph.relations[row.relation], row.given, row.words]
        counts = [row.original, row.new, row.negative, row.assumed, row.unjudged]
        found.append([*names, *counts, row.spread])
    return Table("questions", "Questions", columns, found)


def triple_table(states: PoolStates, rows: Iterable[TripleRow]) -> Table:
    """Return the triples; `found_by` is a system, the side of the question that found it, and its rank there."""
    graph = states.contents.graph
    columns = _columns("head relation tail head_label tail_label state judged_by filter_reason found_by", "depth")
    found: list[list[Cell]] = []
    for row in rows:
        keys = [graph.entities[row.head], graph.relations[row.relation], graph.entities[row.tail]]
        found_by = "; ".join(f"{finding.system} {finding.side} {finding.rank}" for finding in row.found_by)
        past = [row.state.key, row.judged_by, row.reason, found_by]
        found.append([*keys, row.names[0], row.names[2], *past, row.depth])
    return Table("triples", "Triples", columns, found)


def label_set_table(rows: Iterable[LabelSetRow]) -> Table:
    """Return the label sets with their counts, which are empty where a set has a problem.

    `questions` have an answer; the last two counts are of questions with a negative.
    """
    counted = f"{' '.join(STATES)} questions with_negative with_negative_or_assumed"
    columns = _columns("key name group when_utc by", counted)
    found = []
    for row in rows:
        counts = [row.counts[state] if row.counts else None for state in STATES]
        asked = row.questions
        of_questions = (asked.answered, asked.with_negative, asked.with_negative_or_assumed) if asked else (None,) * 3
        when = row.at.strftime("%Y-%m-%d %H:%M:%S") if row.at else ""
        found.append([row.key, row.name, row.group, when, row.by, *counts, *of_questions])
    return Table("labels", "Label sets", columns, found)
