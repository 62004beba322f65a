"""import_run and export_run: a round trip from the shell, and what they refuse."""

from __future__ import annotations

import gzip
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from django.core.management import CommandError

from core.models import Job
from pooling.enums import PoolingJob
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool, Run, System
from pooling.questions.kernel import distinct_questions
from pooling.runs import scorers
from pooling.runs.export import get_run, whole_run
from pooling.runs.files import parse_question_id, question_ids, read_ranks
from pooling.runs.lacking import topics_of
from tests.factories import make_pool


def test_a_run_goes_out_and_comes_back(pool: Pool, run, tmp_path: Path):
    file = tmp_path / "transe.run.gz"
    out, _ = run("export_run", "town", "transe", str(file))
    assert out == f"{file}: the run of transe, {file.stat().st_size:,} bytes\n"
    lines = gzip.decompress(file.read_bytes()).decode().splitlines()
    assert lines == b"".join(whole_run(get_run(pool.graph, "transe"))).decode().splitlines()
    out, err = run("import_run", "town", str(file), "--system", "again", "--pool", "p", "--family", "translational")
    assert out.startswith(f"town/again: {len(lines):,} lines, answers to ")
    size = file.stat().st_size
    assert f"reading transe.run.gz: {size:,} of {size:,}" in err
    system = System.objects.get(name="again")
    assert system.settings["family"] == "translational"
    ours, theirs = read_ranks(get_run(pool.graph, "transe")), read_ranks(system.run)
    assert (theirs.keys.tolist(), theirs.ranks.tolist()) == (ours.keys.tolist(), ours.ranks.tolist())
    plain = tmp_path / "plain"
    run("export_run", "town", "transe", str(plain))
    assert plain.read_text().splitlines() == lines


def test_what_is_refused_is_told_and_leaves_nothing(pool: Pool, run, tmp_path: Path):
    file = tmp_path / "bad"
    file.write_text("one two\n")
    with pytest.raises(CommandError) as caught:
        run("import_run", "town", str(file), "--system", "x")
    assert str(caught.value) == (
        "bad:1: has 2 columns where question id, Q0, entity, rank, score, tag are 6\n"
        "Correct the file; nothing was imported."
    )
    with pytest.raises(CommandError, match="There is no pool 'q'"):
        run("import_run", "town", str(file), "--system", "x", "--pool", "q")
    with pytest.raises(CommandError, match="Graph town has no run of a system 'x'"):
        run("export_run", "town", "x", str(tmp_path / "out"))
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == ["bad"]
    assert Run.objects.count() == 3


def test_score_runs_brings_imported_runs_along_that_answer_the_pool(trained: Graph, run, tmp_path: Path):
    pool = make_pool(trained)
    file = tmp_path / "run"
    run("export_run", "town", "transe", str(file))
    run("import_run", "town", str(file), "--system", "again")
    out, _ = run("score_runs", pool.name)
    assert [text.split()[0] for text in out.splitlines()] == ["transe", "distmult", "complex", "again"]
    out, _ = run("score_runs", pool.name, "--systems", "complex")
    assert [text.split()[0] for text in out.splitlines()] == ["complex"]


def test_score_runs_refuses_a_run_that_was_made_for_another_pool(pool: Pool, run, tmp_path: Path):
    graph, asked = open_graph(pool.graph), set(topics_of(pool).tolist())
    every = question_ids(distinct_questions(graph.test), graph)
    other = next(text for text in every if parse_question_id(text, graph) not in asked)
    (tmp_path / "run").write_text(f"{other} Q0 {quote(graph.entities[0], safe='')} 1 1 x\n")
    run("import_run", "town", str(tmp_path / "run"), "--system", "theirs")
    with pytest.raises(CommandError) as caught:
        run("score_runs", "p", "--systems", "transe,theirs")
    assert str(caught.value).startswith(
        "theirs was not asked any question of pool p: its run was made for other questions. Scoring cannot help"
    )
    assert not Job.objects.filter(kind=PoolingJob.SCORE).exists()


class Ones:
    """An entry point of a scorer to which all entities are alike."""

    name = "ones"

    def load(self):
        return lambda questions: np.ones((len(questions), len(questions.entities)))


def test_the_command_takes_a_file_or_a_scorer(pool: Pool, run, monkeypatch):
    monkeypatch.setattr(scorers, "entry_points", lambda group: [Ones()])
    out, _ = run("import_run", "town", "--scorer", "ones", "--system", "outside", "--pool", "p")
    made = System.objects.get(name="outside").run
    assert out == f"town/outside: {made.num_questions:,} questions, {made.num_rank_rows:,} rank rows\n"
    assert read_ranks(made).ranks[1].max() == 1  # ties: the optimistic rank
    for wrong in ((), ("file", "--scorer", "ones")):
        with pytest.raises(CommandError, match="Give the file of a run, or --scorer, and not both"):
            run("import_run", "town", *wrong, "--system", "x")
