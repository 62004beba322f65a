"""A whole run as TREC lines: a frozen example, whatever writes it."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command

from pooling.graphs.opening import open_graph
from pooling.models import Graph, Run, System
from pooling.runs import export
from pooling.runs.files import Candidates, RankRows, parse_question_id

# position in the strict order by entity: 0 where the run did not return it
RANKS = {
    "tail:p6:knows": {"per son 0": 2, "50%": 5, "p9": 0},  # p9 was not returned, but was stored
    "tail:p7:knows": {"a:b": 1, "p8": 4},  # nobody knows who stands at 2 and 3
    "tail:p8:knows": {"p9": 0},
    "head:city%202:lives%20in": {"p9": 1, "p10": 2},  # nothing was stored
}
STORED = {"tail:p6:knows": ["p7", "p9", "per son 0", "p10"], "tail:p7:knows": ["p6"], "tail:p10:knows": ["ü/é", 'q"7"']}
LINES = """\
tail:p10:knows Q0 ü/é 1 -1 transe
tail:p10:knows Q0 q"7" 2 -2 transe
tail:p7:knows Q0 a:b 1 -1 transe
tail:p7:knows Q0 p6 2 -2 transe
tail:p6:knows Q0 p7 1 -1 transe
tail:p6:knows Q0 per%20son%200 2 -2 transe
tail:p6:knows Q0 p9 3 -3 transe
tail:p6:knows Q0 p10 4 -4 transe
tail:p6:knows Q0 50%25 5 -5 transe
head:city%202:lives%20in Q0 p9 1 -1 transe
head:city%202:lives%20in Q0 p10 2 -2 transe
"""


@pytest.fixture
def whole(town: Graph, monkeypatch) -> Run:
    """A run whose ranks and stored candidates are those above."""
    graph = open_graph(town)
    index = graph.entity_index
    rows = {
        parse_question_id(question, graph) * graph.num_entities + index[entity]: position
        for question, positions in RANKS.items()
        for entity, position in positions.items()
    }
    keys = np.array(sorted(rows))
    strict = np.array([rows[key] for key in keys.tolist()], dtype=np.int32)
    stored = {parse_question_id(q, graph): [index[e] for e in entities] for q, entities in STORED.items()}
    entity = np.array([[*(of := stored[key]), *[-1] * (5 - len(of))] for key in sorted(stored)], dtype=np.int32)
    candidates = Candidates(np.array(sorted(stored)), entity)
    monkeypatch.setattr(export, "read_ranks", lambda run: RankRows(keys, np.stack([strict] * 3)))
    monkeypatch.setattr(export, "read_candidates", lambda run: candidates)
    system = System.objects.create(graph=town, name="transe", kind="transe", state="trained")
    return Run.objects.create(system=system, depth=5, num_questions=3, artifact="runs/none", sha256="0")


def test_a_frozen_run_is_the_same_bytes(whole: Run, tmp_path: Path):
    call_command("export_run", "town", "transe", str(tmp_path / "run"), stdout=StringIO())
    assert (tmp_path / "run").read_text(encoding="utf-8") == LINES


@pytest.mark.parametrize("at_once", [1, 3])
def test_how_many_questions_are_merged_at_once_changes_nothing(whole: Run, monkeypatch, at_once: int):
    monkeypatch.setattr(export, "QUESTIONS", at_once)
    assert b"".join(export.whole_run(whole)).decode() == LINES
