"""A town, and what a run in each form says about two of its questions."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from pooling.graphs.opening import open_graph
from pooling.models import Graph, Run
from pooling.runs.files import parse_question_id, question_id, read_ranks, read_topk
from tests.factories import town as town_rows

HEAD, RELATION, TAIL = town_rows()["test"][0]
TAIL_QUESTION, HEAD_QUESTION = question_id(0, HEAD, RELATION), question_id(1, TAIL, RELATION)


class Lists(NamedTuple):
    """Candidates by key for the tail question and the head question of the first test triple, in no split."""

    tails: list[str]
    heads: list[str]


@pytest.fixture
def lists(town: Graph) -> Lists:
    arrays = open_graph(town)
    rows = np.concatenate([arrays.train, arrays.valid, arrays.test])
    head, tail = arrays.entity_index[HEAD], arrays.entity_index[TAIL]
    relation = arrays.relation_index[RELATION]
    tails = set(rows[(rows[:, 0] == head) & (rows[:, 1] == relation)][:, 2].tolist())
    heads = set(rows[(rows[:, 2] == tail) & (rows[:, 1] == relation)][:, 0].tolist())
    keys = arrays.entities
    return Lists(
        [key for entity, key in enumerate(keys) if entity not in tails],
        [key for entity, key in enumerate(keys) if entity not in heads],
    )


def candidates(run: Run, question: str) -> list[str]:
    """Stored candidates of a question, best first."""
    arrays = open_graph(run.system.graph)
    found = read_topk(run).of(np.array([parse_question_id(question, arrays)]))[0]
    return [arrays.entities[entity] for entity in found.tolist() if entity >= 0]


def rank(run: Run, question: str, key: str) -> list[int]:
    """Strict, optimistic and pessimistic rank of an answer."""
    arrays, held = open_graph(run.system.graph), read_ranks(run)
    row = parse_question_id(question, arrays) * arrays.num_entities + arrays.entity_index[key]
    return held.ranks[:, int(np.flatnonzero(held.keys == row)[0])].tolist()


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
