"""What the tests of the comparing pages share: contexts, awkward label sets, tables read by row and column."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.labels.label_sets import LabelSet
from evaluation.labels.pool_table import systems_with_runs
from evaluation.measures.label_state import LabelState
from evaluation.measures.prepared import prepare
from evaluation.sections.section import Analysis, Context, Section, Table
from evaluation.sections.settings import Settings
from evaluation.test_sets.trec import pool_topics, trec_lists
from pooling.models import Pool
from pooling.runs.export import get_run, whole_run
from pooling.runs.imports import import_run
from tests.evaluation.oracle import Oracle, Question, Triple, sides


def context_of(
    pool: Pool, labels: LabelSet | str = "current", against: LabelSet | str = "seeds", **settings: Any
) -> Context:
    """Label sets by key, or themselves."""
    given = {"labels": labels, "against": against}
    keys = {name: chosen for name, chosen in given.items() if isinstance(chosen, str)}
    context = Context(pool, Settings(**keys, **settings))
    vars(context).update({name: chosen for name, chosen in given.items() if not isinstance(chosen, str)})
    return context


def sections_of(analysis: Analysis, context: Context) -> dict[str, Section]:
    """By key; all of it must be JSON, where a number that is none is no number."""
    sections = [section for part in analysis.parts for section in part.compute(context)]
    json.dumps([section.content() for section in sections], allow_nan=False)
    return {section.key: section for section in sections}


def columns_of(table: Table) -> dict[str, dict[Any, Any]]:
    """{column key: {first cell of the row: cell}}; cells that carry more are cut to their value."""
    keys = [column.key for column in table.columns]
    return {
        key: {row[0]: row[i]["value"] if isinstance(row[i], dict) else row[i] for row in table.rows}
        for i, key in enumerate(keys)
    }


def without_positives(chosen: LabelSet) -> LabelSet:
    state = np.where(chosen.state == LabelState.POSITIVE, LabelState.NEGATIVE, chosen.state).astype(np.int8)
    return replace(chosen, key="nothing", name="nothing", state=state)


def tied_systems(chosen: LabelSet) -> LabelSet:
    """Every system returns what the first one does."""
    ranks = chosen.prepared.table
    first = [np.repeat(of[:1], ranks.systems, axis=0) for of in (ranks.strict, ranks.optimistic, ranks.pessimistic)]
    table = replace(ranks, strict=first[0], optimistic=first[1], pessimistic=first[2])
    return replace(chosen, key="tied", name="tied", prepared=prepare(table))


def nothing_returned(chosen: LabelSet, system: int) -> LabelSet:
    """One system did not return anything that was asked for."""
    ranks = chosen.prepared.table
    cut = [of.copy() for of in (ranks.strict, ranks.optimistic, ranks.pessimistic)]
    for of in cut:
        of[system] = 0
    table = replace(ranks, strict=cut[0], optimistic=cut[1], pessimistic=cut[2])
    return replace(chosen, key="cut", name="cut", prepared=prepare(table))


def reciprocal_ranks(pool: Pool, positives: set[Triple]) -> list[tuple[Question, int, dict[str, float]]]:
    """(question, answer, {system: 1 / realistic rank}) of every answer, from the models' own scores."""
    oracles = {system.name: Oracle(pool, system) for system in systems_with_runs(pool)}
    answers: dict[Question, set[int]] = {}
    for triple in positives:
        for question, entity in sides(triple):
            answers.setdefault(question, set()).add(entity)
    found = []
    for question, right in answers.items():
        ranking = {name: [e for e in o.ranking(question) if e not in right] for name, o in oracles.items()}
        for entity in sorted(right):
            ranks = {}
            for name, oracle in oracles.items():
                own = oracle.scores(question)
                higher = sum(own[e] > own[entity] for e in ranking[name])
                equal = sum(own[e] == own[entity] for e in ranking[name])
                ranks[name] = 1 / (1 + higher + equal / 2)
            found.append((question, entity, ranks))
    return found


def lists_of_transe_without_some(pool: Pool, folder: Path) -> set[str]:
    """Import the whole run of transe without three questions that have an answer; return these."""
    answered = sorted({line.split(" ")[0] for line in trec_lists(pool)["qrels.txt"]})
    lacking = set(answered[::5][:3])
    topics = {line.split("\t")[0] for line in pool_topics(pool)} - lacking
    lines = b"".join(whole_run(get_run(pool.graph, "transe"))).decode().splitlines()
    (folder / "run").write_text("\n".join(line for line in lines if line.split(" ")[0] in topics))
    import_run(pool.graph, folder / "run", name="theirs")
    return lacking
