"""A pool in TREC form: pytrec_eval and ir_measures read it and find our values; import_run reads it back."""

from __future__ import annotations

import gzip
from collections import Counter, defaultdict
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import pytrec_eval

from evaluation.enums import QrelsOrigin
from evaluation.labels.import_qrels import import_qrels
from evaluation.labels.pool_table import EvaluationError, pool_table
from evaluation.labels.qrels import freeze_qrels, pooled_state, read_qrels
from evaluation.measures.label_state import LabelState
from evaluation.sections.metrics import metrics
from evaluation.test_sets.export import export_test_set, export_trec
from evaluation.test_sets.trec import pool_topics, seed_topics, trec_lists
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from pooling.questions.kernel import questions_from_keys
from pooling.runs.files import question_ids
from pooling.runs.imports import import_run
from tests.factories import judge

OURS = ["macro_mrr", "map", "map@20", "ndcg@20", "macro_hits@1", "macro_hits@10"]
DEEP = ["macro_mrr", "map@20", "ndcg@20", "macro_hits@10", "micro_mrr", "micro_hits@10", "judged@10"]


@pytest.fixture
def folder(labelled: Pool, tmp_path: Path) -> Path:
    undecided = labelled.triples.filter(reason="", judgement__verdict="negative").first()
    assert undecided is not None
    judge(undecided, "undecided")  # so that qrels hold -1
    export_trec(labelled, tmp_path / "out")
    return tmp_path / "out"


def run_text(folder: Path, system: str) -> str:
    return gzip.decompress((folder / f"runs/{system}.txt.gz").read_bytes()).decode()


def test_the_files_and_their_checksums(folder: Path):
    systems = ("transe", "distmult", "complex")
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")} == {
        *("topics.tsv", "pool.txt", "qrels.txt", "qrels_infap.txt", "CHECKSUMS.sha256"),
        *(f"{runs}/{name}.txt.gz" for runs in ("runs", "bpref") for name in systems),
    }


def test_exported_twice_it_is_the_same_bytes(labelled: Pool, folder: Path, tmp_path: Path):
    for path in export_trec(labelled, tmp_path / "again"):
        assert path.read_bytes() == (folder / path.relative_to(tmp_path / "again")).read_bytes(), path.name


def test_the_test_set_has_the_same_files(labelled: Pool, folder: Path, tmp_path: Path):
    export_test_set(freeze_qrels(labelled, "v1"), tmp_path / "set")
    files = {path.relative_to(folder) for path in folder.rglob("*.*") if path.name != "CHECKSUMS.sha256"}
    assert files == {path.relative_to(tmp_path / "set/trec") for path in (tmp_path / "set/trec").rglob("*.*")}
    for name in files:
        assert (tmp_path / "set/trec" / name).read_bytes() == (folder / name).read_bytes(), name


def test_frozen_qrels_are_exported_as_they_were(labelled: Pool, folder: Path, tmp_path: Path):
    qrels = freeze_qrels(labelled, "v1")
    before = (folder / "qrels.txt").read_text()
    for triple in labelled.triples.filter(judgement__verdict="negative"):
        judge(triple, "positive")
    now = "".join(f"{line}\n" for line in trec_lists(labelled)["qrels.txt"])
    then = "".join(f"{line}\n" for line in trec_lists(labelled, qrels)["qrels.txt"])
    assert then == before != now


def test_the_pool_file_holds_both_questions_of_what_is_pooled_and_no_label(labelled: Pool, folder: Path):
    lines = [line.split(" ") for line in (folder / "pool.txt").read_text().splitlines()]
    assert {line[3] for line in lines} == {"-1"}
    listed = {tuple(line[:3]) for line in lines}
    assert len(listed) == len(lines) == 2 * labelled.triples.count()


def test_topics_are_the_questions_of_the_qrels(labelled: Pool, folder: Path):
    topics = [line.split("\t")[0] for line in (folder / "topics.tsv").read_text().splitlines()[1:]]
    asked = {
        line.split(" ")[0] for name in ("qrels.txt", "pool.txt") for line in (folder / name).read_text().splitlines()
    }
    assert len(set(topics)) == len(topics)
    assert set(topics) == asked
    assert [line.split("\t")[0] for line in list(pool_topics(labelled))[1:]] == topics
    assert {line.split("\t")[0] for line in list(seed_topics(labelled))[1:]} < asked


def test_pytrec_eval_reads_the_files_and_finds_our_values(labelled: Pool, folder: Path):
    with (folder / "qrels.txt").open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    assert {value for found in qrels.values() for value in found.values()} == {0, 1}
    ours = metrics(labelled, "current", ["macro_mrr", "map", "bpref"])["systems"]
    for system in ours:
        run = pytrec_eval.parse_run(run_text(folder, system).splitlines())
        found = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank", "map", "bpref"}).evaluate(run)
        for theirs, own in (("recip_rank", "macro_mrr"), ("map", "map"), ("bpref", "bpref")):
            mean = np.mean([found[q][theirs] for q in qrels])
            assert ours[system][own] == pytest.approx(mean, abs=1e-6), (system, own)


def test_ir_measures_reads_the_files_and_finds_our_values(labelled: Pool, folder: Path):
    qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels.txt")))
    asked = {row.query_id for row in qrels if row.relevance == 1}
    ours = metrics(labelled, "current", OURS)["systems"]
    names = dict(zip(("RR", "AP", "AP@20", "nDCG@20", "Success@1", "Success@10"), OURS, strict=True))
    for system in ours:
        run = list(ir_measures.read_trec_run(run_text(folder, system)))
        values: dict[str, list[float]] = defaultdict(list)
        for row in ir_measures.iter_calc([ir_measures.parse_measure(n) for n in names], qrels, run):
            if row.query_id in asked:
                values[str(row.measure)].append(row.value)
        for theirs, own in names.items():
            assert len(values[theirs]) == len(asked)
            assert ours[system][own] == pytest.approx(np.mean(values[theirs]), abs=1e-6), (system, own)


def test_qrels_come_back(labelled: Pool, folder: Path):
    """What people said and what is unjudged; assumed negatives come back as negative."""
    content = (folder / "qrels.txt").read_bytes()
    imported = import_qrels(labelled, "back", content, "qrels.txt", "trec", None)
    assert imported.origin == QrelsOrigin.IMPORTED
    triples, state = read_qrels(imported)
    expected, now = pooled_state(labelled)
    assert triples.tolist() == expected.tolist()
    assumed = now == LabelState.ASSUMED_NEGATIVE
    assert assumed.any()
    assert state[~assumed].tolist() == now[~assumed].tolist()
    assert set(state[assumed].tolist()) == {LabelState.NEGATIVE}


@pytest.mark.parametrize("depth", [1, 10, 1000, 0])
def test_a_run_of_the_pool_comes_back_with_its_measures(labelled: Pool, folder: Path, tmp_path: Path, depth: int):
    """At every depth: what the file holds keeps its rank, the rest has none. 0: each list ends elsewhere."""
    kept = []
    for line in run_text(folder, "complex").splitlines():
        question, rank = line.split(" ")[0], int(line.split(" ")[3])
        if rank <= (depth or 1 + len(question) % 5):
            kept.append(line)
    (tmp_path / "run").write_text("\n".join(kept))
    import_run(labelled.graph, tmp_path / "run", name="theirs", pool=labelled)
    table = pool_table(labelled)
    ranks = table.pool.table
    ours, theirs = (table.systems.index(name) for name in ("complex", "theirs"))
    graph = open_graph(labelled.graph)
    assert graph.num_entities < 1000
    held = {tuple(line.split(" ")[:3:2]) for line in kept}
    assert len(held) == len(kept)
    for of_ours, of_theirs in ((array[ours], array[theirs]) for array in (ranks.strict, ranks.optimistic)):
        there = of_theirs > 0
        assert of_theirs[there].tolist() == of_ours[there].tolist()
    if depth:
        assert (ranks.strict[theirs] > 0).tolist() == (ranks.strict[ours] <= depth).tolist()
    asked = question_ids(questions_from_keys(table.question_keys, *graph.shape), graph)
    lines = Counter(question for question, _ in held)
    assert table.ranks.returned is not None
    assert table.ranks.returned[theirs].tolist() == [lines[question] for question in asked]
    assert table.ranks.returned[ours].tolist() == table.ranks.candidates.tolist()
    values = metrics(labelled, "current", DEEP)["systems"]
    if depth == 1000:
        assert values["theirs"] == values["complex"]
    if depth == 10:
        for name in ("macro_hits@10", "judged@10"):
            assert values["theirs"][name] == values["complex"][name]
    if depth == 1:
        found = metrics(labelled, "current", ["macro_hits@1"])["systems"]
        assert found["theirs"] == found["complex"]


def test_mean_ranks_of_a_run_that_lacks_answers_are_undefined_with_the_reason(
    labelled: Pool, folder: Path, tmp_path: Path
):
    first = [line for line in run_text(folder, "complex").splitlines() if line.split(" ")[3] == "1"]
    (tmp_path / "run").write_text("\n".join(first))
    import_run(labelled.graph, tmp_path / "run", name="theirs", pool=labelled)
    content = metrics(labelled, "current", ["micro_mr", "micro_mrr"])
    assert content["systems"]["theirs"]["micro_mr"] is None
    assert content["systems"]["theirs"]["micro_mrr"] > 0
    assert "theirs" in content["reasons"]


def test_a_folder_with_something_in_it_is_refused(labelled: Pool, folder: Path):
    with pytest.raises(EvaluationError) as caught:
        export_trec(labelled, folder)
    assert str(caught.value) == f"{folder} exists and is not an empty folder: name a new one; nothing was written."
