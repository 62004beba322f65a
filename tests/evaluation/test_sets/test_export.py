"""The test set as people take it away: readable by import_graph, PyKEEN and pytrec_eval, with the same numbers."""

from __future__ import annotations

import errno
import gzip
import hashlib
import re
import subprocess
import zipfile
from collections import defaultdict
from pathlib import Path
from urllib.parse import quote, unquote

import mlcroissant
import numpy as np
import pytest
import pytrec_eval

from annotation.questions.templates import save_template
from core.files.artifacts import ArtifactError, artifact_path
from core.jobs.execution import execute
from core.models import Job
from evaluation.labels.import_qrels import read_judgements
from evaluation.labels.pool_table import EvaluationError, systems_with_runs
from evaluation.labels.qrels import STATE_NAMES, freeze_qrels, read_qrels
from evaluation.measures.registry import USUAL_NAMES
from evaluation.models import Qrels
from evaluation.sections.metrics import metrics
from evaluation.test_sets import export as export_module
from evaluation.test_sets import files, trec_runs
from evaluation.test_sets.export import EPOCH, export_test_set, request_export, write_zip, zip_path
from evaluation.test_sets.files import ExportOptions
from evaluation.test_sets.trec import seed_topics
from pooling.graphs.imports import import_graph
from pooling.graphs.opening import open_graph
from pooling.graphs.tsv import read_tsv
from pooling.models import Pool, Run
from pooling.pools.files import read_pool_file
from pooling.pools.rows import read_rows
from pooling.questions.kernel import questions_of
from pooling.runs.files import Candidates, parse_question_id, read_candidates
from pooling.runs.trec_read import Topics, id_of, read_run_file
from pooling.runs.trec_write import trec_word
from pooling.scoring.rank_rows import question_keys
from tests.evaluation.cases import lists_of_transe_without_some
from tests.evaluation.oracle import Oracle, positives_of
from tests.factories import judge, names_of, town

FILES = {
    "original_test.tsv", "entity_types.tsv", "relation_domain_range.tsv", "test_set.json",
    "train.tsv", "valid.tsv", "test.tsv", "known_test.tsv", "triples.tsv.gz", "seeds.tsv", "entity_labels.tsv",
    "judgements.tsv", "labels.jsonl", "questions.tsv", "pool.tsv", "trec/topics.tsv", "trec/pool.txt",
    "trec/qrels.txt", "trec/qrels_infap.txt", "trec/runs/transe.txt.gz", "trec/runs/distmult.txt.gz",
    "trec/runs/complex.txt.gz", "trec/bpref/transe.txt.gz", "trec/bpref/distmult.txt.gz", "trec/bpref/complex.txt.gz",
    "ranks/transe.tsv.gz", "ranks/distmult.tsv.gz", "ranks/complex.tsv.gz", "measures.tsv", "score.py",
    "per_question.tsv.gz", "README.md", "CITATION.cff", "CITATION.bib", "datacite.json", "croissant.json",
    "ro-crate-metadata.json", "CHECKSUMS.sha256",
}  # fmt: skip
OF_RUNS = ("trec/runs/", "trec/bpref/", "ranks/", "measures", "score", "per_question")  # not there without runs


@pytest.fixture
def qrels(labelled: Pool) -> Qrels:
    return freeze_qrels(labelled, "v1")


@pytest.fixture
def folder(qrels: Qrels, tmp_path: Path) -> Path:
    export_test_set(qrels, tmp_path / "out")
    return tmp_path / "out"


def names_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text().splitlines()]


# -- files ------------------------------------------------------------------------------------------------------


def test_the_files_and_their_checksums(folder: Path):
    assert names_in(folder) == FILES
    sums = dict(reversed(line.split("  ")) for line in (folder / "CHECKSUMS.sha256").read_text().splitlines())
    assert set(sums) == FILES - {"CHECKSUMS.sha256"}
    for name, expected in sums.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == expected
    subprocess.run(["sha256sum", "--strict", "-c", "CHECKSUMS.sha256"], cwd=folder, check=True, capture_output=True)


def test_exported_twice_it_is_the_same_bytes(qrels: Qrels, folder: Path, tmp_path: Path):
    judge(qrels.pool.triples.filter(judgement__verdict="negative")[0], "positive")
    relation = qrels.pool.graph.relations.get(key="knows")
    save_template(relation, "{subject} and {object}?", "Whom, {subject}?", "Who, {object}?", None)
    export_test_set(qrels, tmp_path / "again")
    for name in FILES:
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes(), name


def test_import_graph_reads_it_back(qrels: Qrels, folder: Path):
    graph = import_graph("completed", read_tsv(folder), options={})
    arrays, pool = open_graph(graph), qrels.pool
    names = {
        split: {tuple(names_of(graph, t)) for t in getattr(arrays, split).tolist()}
        for split in ("train", "valid", "test")
    }
    assert names["train"] == set(town()["train"])
    assert names["valid"] == set(town()["valid"])
    assert names["test"] == {names_of(pool.graph, triple) for triple in positives_of(pool)}
    assert arrays.label(arrays.entity_index["p7"]) == "The {seventh}"
    assert graph.num_test == qrels.num_positive


def test_pykeen_reads_it_back(qrels: Qrels, folder: Path):
    from pykeen.triples import TriplesFactory

    train = TriplesFactory.from_path(folder / "train.tsv")
    test = TriplesFactory.from_path(
        folder / "test.tsv", entity_to_id=train.entity_to_id, relation_to_id=train.relation_to_id
    )
    assert train.num_triples == len(town()["train"])
    assert set(map(tuple, test.triples.tolist())) == {
        names_of(qrels.pool.graph, triple) for triple in positives_of(qrels.pool)
    }


def test_pykeen_takes_it_as_a_dataset(qrels: Qrels, folder: Path):
    from pykeen.datasets.base import PathDataset

    data = PathDataset(folder / "train.tsv", folder / "test.tsv", folder / "valid.tsv")
    found = [set(map(tuple, part.triples.tolist())) for part in (data.training, data.validation, data.testing)]
    positive = {names_of(qrels.pool.graph, triple) for triple in positives_of(qrels.pool)}
    assert found == [set(town()["train"]), set(town()["valid"]), positive]


def test_croissant_is_valid_and_its_records_are_the_lines(qrels: Qrels, folder: Path, caplog):
    data = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    assert data.metadata.ctx.issues.errors == set()
    assert "context" not in caplog.text  # of another version
    described = {one.id: one.sha256 for one in data.metadata.distribution}
    sums = dict(reversed(line.split("  ")) for line in (folder / "CHECKSUMS.sha256").read_text().splitlines())
    assert described == {n: of for n, of in sums.items() if n not in ("croissant.json", "ro-crate-metadata.json")}
    # nobody has labelled here: no record, no record set
    assert [one.id for one in data.metadata.record_sets] == [
        "triples", "judgements", "topics", "measures", "per_question",
    ]  # fmt: skip
    for name in ("judgements", "topics", "measures", "per_question"):
        file = folder / ("trec/topics.tsv" if name == "topics" else f"{name}.tsv")
        text = file.read_text() if file.exists() else gzip.decompress((folder / f"{name}.tsv.gz").read_bytes()).decode()
        header, *lines = (line.split("\t") for line in text.splitlines())
        records = [[as_text(record[f"{name}/{column}"]) for column in header] for record in data.records(name)]
        numbers = {"depth", "answers", "value", *USUAL_NAMES}
        assert records == [
            [repr(float(cell)) if column in numbers else cell for column, cell in zip(header, line, strict=True)]
            for line in lines
        ], name


def as_text(value: object) -> str:
    """A cell as Croissant gives it; numbers as floats, nothing as nothing."""
    if isinstance(value, bytes):
        return value.decode()
    return "" if value is None or value != value else repr(float(value))  # type: ignore[arg-type]


def test_all_of_it_comes_back(qrels: Qrels, folder: Path):
    """Ids with spaces, quotes, percent signs, beyond ASCII: the town has them all."""
    graph, pool = open_graph(qrels.pool.graph), qrels.pool
    seeds = np.array(pool.seeds.values_list("head", "relation", "tail"), dtype=np.int32)
    found = read_pool_file(folder / "pool.tsv", seeds, graph)
    _, gathered, _ = read_rows(pool)
    for ours, theirs in zip(gathered, found.gathered, strict=True):
        assert np.array_equal(ours, theirs)
    assert (found.contributors, found.report) == (pool.contributors, [])
    judged = read_judgements((folder / "judgements.tsv").read_bytes(), "judgements.tsv", "tsv", graph)
    triples, state = read_qrels(qrels)
    states = dict(zip(map(tuple, triples.tolist()), state.tolist(), strict=True))
    assert {triple: one.state for triple, one in judged.items()} == states
    asked = question_keys(questions_of(triples)[0], graph.num_entities, graph.num_relations)
    run = read_run_file(folder / "trec/runs/transe.txt.gz", "transe", graph, Topics(asked, "these"))
    pairs = zip(run.question.tolist(), run.entity.tolist(), strict=True)
    lines = trec(folder / "trec/runs/transe.txt.gz")
    assert [(id_of(q, graph), trec_word(graph.entities[e])) for q, e in pairs] == [(ln[0], ln[2]) for ln in lines]


def test_values_by_question_are_those_of_the_measures(qrels: Qrels, folder: Path):
    text = gzip.decompress((folder / "per_question.tsv.gz").read_bytes()).decode()
    header, *lines = (line.split("\t") for line in text.splitlines())
    assert header == ["question", "system", "answers", *USUAL_NAMES]
    found = metrics(qrels.pool, "qrels:v1")["systems"]
    for system in found:
        mine = [line for line in lines if line[1] == system]
        answers = np.array([int(line[2]) for line in mine])
        assert answers.sum() == 2 * qrels.num_positive
        for place, name in enumerate(USUAL_NAMES, 3):
            values = np.array([float(line[place]) for line in mine])
            weights = answers if name.startswith("micro") else np.ones(len(mine))
            assert (values * weights).sum() / weights.sum() == pytest.approx(found[system][name], rel=1e-12), name


def test_known_test_triples_are_those_that_were_not_sampled(qrels: Qrels, folder: Path):
    seeds = {names_of(qrels.pool.graph, s) for s in qrels.pool.seeds.values_list("head", "relation", "tail")}
    known = {tuple(row) for row in rows(folder / "known_test.tsv")}
    assert known == set(town()["test"]) - seeds
    listed = {tuple(row[:3]) for row in rows(folder / "judgements.tsv")[1:]}
    assert known.isdisjoint(listed)


def test_judgements_have_state_depth_and_filter_of_every_triple(qrels: Qrels, folder: Path):
    header, *lines = rows(folder / "judgements.tsv")
    assert header == ["head", "relation", "tail", "state", "settled", "depth", "filter", "evidence"]
    graph, pool = qrels.pool.graph, qrels.pool
    expected = [
        [*names_of(graph, t), "positive", "seed", "0", "", ""]
        for t in pool.seeds.values_list("head", "relation", "tail")
    ]
    states = {tuple(t): s for t, s in zip(*(x.tolist() for x in read_qrels(qrels)), strict=True)}
    verdicts = dict(pool.judgements.values_list("triple_id", "verdict"))
    for row in pool.triples.order_by("id"):
        settled = "filtered" if row.reason else "open"
        if row.pk in verdicts:
            settled = "undecided" if verdicts[row.pk] == "undecided" else "agreed"
        triple = (row.head, row.relation, row.tail)
        expected.append(
            [*names_of(graph, triple), STATE_NAMES[states[triple]], settled, str(row.depth), row.reason, ""]
        )
    assert lines == expected


def test_readme_says_the_numbers(qrels: Qrels, folder: Path):
    text = (folder / "README.md").read_text()
    assert [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")] == [
        "How it was made", "Numbers", "Agreement", "Measures of the systems", "Known limits", "How to read it",
        "The same measures elsewhere", "Licence and citation", "Files",
    ]  # fmt: skip
    for line in (
        f"| positive (seed triples included) | {qrels.num_positive:,} |",
        f"| negative (people or an import) | {qrels.num_negative:,} |",
        f"| assumed negative (filtered, no human) | {qrels.num_assumed_negative:,} |",
        f"| pooled and unjudged | {qrels.num_unjudged:,} |",
        f"| all | {qrels.pool.seeds.count() + qrels.pool.triples.count():,} |",
    ):
        assert line in text.splitlines()
    value = metrics(qrels.pool, "qrels:v1")["systems"]["complex"]["micro_mrr"]
    assert f"{value:.4f}" in next(line for line in text.splitlines() if line.startswith("| ComplEx (`complex`) |"))


# -- refused ----------------------------------------------------------------------------------------------------


def test_a_folder_with_something_in_it_is_refused_and_left(qrels: Qrels, tmp_path: Path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("keep")
    with pytest.raises(EvaluationError) as caught:
        export_test_set(qrels, tmp_path / "out")
    assert str(caught.value) == (
        f"{tmp_path / 'out'} exists and is not an empty folder: name a new one; nothing was written."
    )
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["mine"]


def test_an_empty_folder_is_filled(qrels: Qrels, tmp_path: Path):
    (tmp_path / "out").mkdir()
    export_test_set(qrels, tmp_path / "out")
    assert names_in(tmp_path / "out") == FILES


def test_a_full_disk_leaves_nothing(qrels: Qrels, tmp_path: Path, monkeypatch):
    def full(*args: object):
        yield "question\tside"
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "judgement_lines", full)
    target = tmp_path / "below" / "out"
    target.parent.mkdir()
    with pytest.raises(ArtifactError) as caught:
        export_test_set(qrels, target)
    assert str(caught.value) == f"{target} could not be written: No space left on device. Nothing was left there."
    assert list(target.parent.iterdir()) == []


# -- TREC -------------------------------------------------------------------------------------------------------


def trec(path: Path) -> list[list[str]]:
    raw = path.read_bytes()
    text = gzip.decompress(raw) if path.suffix == ".gz" else raw
    return [line.split(" ") for line in text.decode().splitlines()]


# measures of trec_eval, and how the pages call them
TREC_EVAL = {
    "recip_rank": "macro_mrr", "map": "map", "map_cut_20": "map@20", "ndcg": "ndcg", "ndcg_cut_20": "ndcg@20",
    "success_1": "macro_hits@1", "success_3": "macro_hits@3", "success_10": "macro_hits@10", "bpref": "bpref",
    "infAP": "infap",
}  # fmt: skip


def by_trec_eval(folder: Path, system: str) -> dict[str, float]:
    """Compute what the card says by trec_eval's own code, as means over the questions of the qrels (its -c)."""
    found = {}
    for theirs, ours in TREC_EVAL.items():
        file = "qrels_infap.txt" if theirs == "infAP" else "qrels.txt"
        judged, run = as_trec_eval(folder, system, file, "bpref" if theirs == "bpref" else "runs")
        name = re.sub(r"_(?=[0-9])", ".", theirs)
        values = pytrec_eval.RelevanceEvaluator(judged, {name}).evaluate(run)
        found[ours] = sum(values[q][theirs] if q in values else 0.0 for q in judged) / len(judged)
    return found


def as_trec_eval(
    folder: Path, system: str, file: str = "qrels.txt", runs: str = "runs"
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    run: dict[str, dict[str, float]] = defaultdict(dict)
    for question, _, entity, relevance in trec(folder / "trec" / file):
        qrels[question][entity] = int(relevance)
    for question, q0, entity, rank, score, tag in trec(folder / f"trec/{runs}/{system}.txt.gz"):
        assert (q0, tag, int(score)) == ("Q0", system, -int(rank))
        run[question][entity] = float(score)
    return dict(qrels), dict(run)


def test_pytrec_eval_on_the_files_gives_our_measures(qrels: Qrels, folder: Path):
    ours = metrics(qrels.pool, "qrels:v1", list(TREC_EVAL.values()))["systems"]
    for system in ours:
        assert by_trec_eval(folder, system) == pytest.approx(ours[system], abs=1e-6), system


def test_trec_eval_gives_the_figures_of_the_card_where_a_run_was_not_asked_all(labelled: Pool, tmp_path: Path):
    """With and without -c, over the questions that all compared systems were asked; whole runs and judgements stay."""
    lacking = lists_of_transe_without_some(labelled, tmp_path)
    qrels = freeze_qrels(labelled, "v2")
    export_test_set(qrels, tmp_path / "out")
    ours: dict[str, dict[str, float]] = defaultdict(dict)
    for line in (tmp_path / "out/measures.tsv").read_text().splitlines()[1:]:
        system, measure, value = line.split("\t")
        ours[system][measure] = float(value) if value else float("nan")
    assert list(ours) == ["transe", "distmult", "complex", "theirs"]
    judged, every = (as_trec_eval(tmp_path / "out", "transe", file)[0] for file in ("qrels.txt", "qrels_all.txt"))
    assert every.keys() - judged.keys() == lacking and all(every[question] == judged[question] for question in judged)
    for system, known in ours.items():
        with_c = by_trec_eval(tmp_path / "out", system)
        shared = with_c.keys() & known.keys()
        assert {"macro_mrr", "map@20", "ndcg@20", "macro_hits@10"} <= shared
        run = as_trec_eval(tmp_path / "out", system)[1]
        plain = pytrec_eval.RelevanceEvaluator(judged, {"recip_rank"}).evaluate(run).values()
        assert float(np.mean([of["recip_rank"] for of in plain])) == pytest.approx(known["macro_mrr"], abs=1e-4)
        assert {name: with_c[name] for name in shared} == pytest.approx({n: known[n] for n in shared}, abs=1e-4), system
        assert (run.keys() >= lacking) == (system != "theirs")
    card = (tmp_path / "out/README.md").read_text()
    assert f" {len(judged)} of {len(every)} questions" in card
    shown = metrics(labelled, "qrels:v2", list(TREC_EVAL.values()))["systems"]["theirs"]
    assert by_trec_eval(tmp_path / "out", "theirs") == pytest.approx(shown, abs=1e-6)


def test_no_tool_sees_a_judgement_that_nobody_made(qrels: Qrels, folder: Path):
    """ir_measures takes every line of qrels for a judgement, so that -1 is in the file for infAP alone."""
    from ir_measures import Judged, calc_aggregate, read_trec_qrels, read_trec_run

    assert qrels.num_unjudged and {line[3] for line in trec(folder / "trec/qrels.txt")} == {"0", "1"}
    assert {line[3] for line in trec(folder / "trec/qrels_infap.txt")} == {"-1", "0", "1"}
    judged = list(read_trec_qrels(str(folder / "trec/qrels.txt")))
    for system, ours in metrics(qrels.pool, "qrels:v1", ["judged@5"])["systems"].items():
        text = gzip.decompress((folder / f"trec/runs/{system}.txt.gz").read_bytes()).decode()
        theirs = calc_aggregate([Judged @ 5], judged, list(read_trec_run(text)))
        assert theirs[Judged @ 5] == pytest.approx(ours["judged@5"], abs=1e-6)


def short_runs(monkeypatch: pytest.MonkeyPatch, depth: int = 2) -> None:
    """As if runs had kept fewer candidates, so that places between their answers are unknown."""

    def read(run: Run) -> Candidates:
        found = read_candidates(run)
        return found._replace(entity=found.entity[:, :depth])

    monkeypatch.setattr(trec_runs, "read_candidates", read)


def test_places_that_no_run_kept_have_fillers_and_the_measures_stay(qrels: Qrels, tmp_path: Path, monkeypatch):
    export_test_set(qrels, tmp_path / "known")
    short_runs(monkeypatch)
    export_test_set(qrels, tmp_path / "out")
    ours = metrics(qrels.pool, "qrels:v1", list(TREC_EVAL.values()))["systems"]
    for system in ours:
        assert by_trec_eval(tmp_path / "out", system) == pytest.approx(ours[system], abs=1e-6), system
        name = f"trec/runs/{system}.txt.gz"
        whole = {(line[0], line[3]): line for line in trec(tmp_path / "known" / name)}
        lines = trec(tmp_path / "out" / name)
        fillers = [line for line in lines if line[2].startswith("%unknown-")]
        assert fillers and all(line[2] == f"%unknown-{line[3]}" for line in fillers)
        assert all(line == whole[line[0], line[3]] for line in lines if line not in fillers)
        last = {question: int(rank) for question, _, _, rank, *_ in lines}
        assert all(last[q] == sum(line[0] == q for line in lines) for q in last)
    graph = open_graph(qrels.pool.graph)
    asked = question_keys(questions_of(read_qrels(qrels)[0])[0], graph.num_entities, graph.num_relations)
    back = read_run_file(tmp_path / "out/trec/runs/transe.txt.gz", "transe", graph, Topics(asked, "these"))
    first = {
        line[0]: int(line[3]) for line in reversed(trec(tmp_path / "out/trec/runs/transe.txt.gz")) if "%u" in line[2]
    }
    lines = trec(tmp_path / "out/trec/runs/transe.txt.gz")
    kept = [line for line in lines if int(line[3]) < first.get(line[0], 1000)]  # a list ends at its first filler
    assert len(back.line) == len(kept) < len(lines)


def test_cut_runs_say_what_they_lack(qrels: Qrels, tmp_path: Path, monkeypatch):
    short_runs(monkeypatch)
    monkeypatch.setattr(trec_runs, "MOST_LINES", 0)
    monkeypatch.setattr(trec_runs, "CUT", 4)
    export_test_set(qrels, tmp_path / "out")
    ours = metrics(qrels.pool, "qrels:v1", list(TREC_EVAL.values()))["systems"]
    lacking = {"macro_mrr": 0.0, "map": 0.0}
    for system in ours:
        theirs = by_trec_eval(tmp_path / "out", system)
        assert theirs["bpref"] == pytest.approx(ours[system]["bpref"], abs=1e-6)
        assert theirs["macro_hits@3"] == pytest.approx(ours[system]["macro_hits@3"], abs=1e-6)
        lacking = {name: max(lacks, ours[system][name] - theirs[name]) for name, lacks in lacking.items()}
    assert min(lacking.values()) > 0.001
    card = (tmp_path / "out/README.md").read_text()
    told = re.search(r"recip_rank lacks ([0-9.]+) at most, map ([0-9.]+);", card)
    assert told and float(told[1]) >= lacking["macro_mrr"] and float(told[2]) >= lacking["map"]
    assert "trec_eval -c -m success.1,3,10 -m map_cut.20 -m ndcg_cut.20 trec/qrels.txt trec/runs/SYSTEM.txt" in card
    assert "infAP trec/" not in card


def test_the_command_on_the_card_gives_the_figures_of_the_card(qrels: Qrels, folder: Path):
    """Its measures, read from the card, by pytrec_eval, to the four digits of the card."""
    card = (folder / "README.md").read_text()
    commands = [line for line in card.splitlines() if line.startswith("trec_eval -c ")]
    assert commands == [
        "trec_eval -c -m recip_rank -m success.1,3,10 -m map -m map_cut.20 -m ndcg_cut.20 trec/qrels.txt "
        "trec/runs/SYSTEM.txt",
        "trec_eval -c -m bpref trec/qrels.txt trec/bpref/SYSTEM.txt",
        "trec_eval -c -m infAP trec/qrels_infap.txt trec/runs/SYSTEM.txt",
    ]
    ours = metrics(qrels.pool, "qrels:v1", ["macro_mrr", "map@20", "ndcg@20", "macro_hits@3"])["systems"]
    for system, values in ours.items():
        row = next(line for line in card.splitlines() if f"(`{system}`) |" in line)
        theirs = by_trec_eval(folder, system)
        assert all(f"| {theirs[name]:.4f} |" in f"{row}" for name in values)


def test_ir_measures_reads_the_files_and_gives_our_measures(qrels: Qrels, folder: Path):
    from ir_measures import AP, RR, calc_aggregate, read_trec_qrels, read_trec_run

    ours = metrics(qrels.pool, "qrels:v1", ["macro_mrr", "map"])["systems"]["complex"]
    judged = list(read_trec_qrels(str(folder / "trec/qrels.txt")))
    answered = {one.query_id for one in judged if one.relevance == 1}
    run = list(read_trec_run(gzip.decompress((folder / "trec/runs/complex.txt.gz").read_bytes()).decode()))
    theirs = calc_aggregate([RR, AP], [one for one in judged if one.query_id in answered], run)
    assert theirs[RR] == pytest.approx(ours["macro_mrr"], abs=1e-6)
    assert theirs[AP] == pytest.approx(ours["map"], abs=1e-6)


def test_runs_hold_every_candidate_in_strict_order(qrels: Qrels, folder: Path):
    """The town is so small that a run's stored candidates are all there are."""
    graph = open_graph(qrels.pool.graph)
    index = {trec_word(key): entity for entity, key in enumerate(graph.entities)}
    for system in systems_with_runs(qrels.pool):
        oracle = Oracle(qrels.pool, system)
        lists: dict[str, list[int]] = defaultdict(list)
        for question, _, entity, rank, *_ in trec(folder / f"trec/runs/{system.name}.txt.gz"):
            lists[question].append(index[entity])
            assert int(rank) == len(lists[question])
        for question, entities in lists.items():
            key = parse_question_id(question, graph)
            side_relation, given = divmod(key, graph.num_entities)
            side, relation = divmod(side_relation, graph.num_relations)
            assert entities == oracle.ranking((side, relation, given)), question


def test_qrels_hold_both_questions_of_every_triple_if_they_have_an_answer(qrels: Qrels, folder: Path):
    relevance = {"positive": "1", "negative": "0", "assumed_negative": "0", "unjudged": "-1"}
    every = set()
    for head, relation, tail, state, *_ in rows(folder / "judgements.tsv")[1:]:
        h, r, t = (quote(name, safe="") for name in (head, relation, tail))
        every.add((f"tail:{h}:{r}", "0", trec_word(tail), relevance[state]))
        every.add((f"head:{t}:{r}", "0", trec_word(head), relevance[state]))
    answered = {line[0] for line in every if line[3] == "1"}
    expected = {line for line in every if line[0] in answered}
    assert len(every) > len(expected)
    lines = trec(folder / "trec/qrels_infap.txt")
    assert (set(map(tuple, lines)), len(lines)) == (expected, len(expected))
    lines = trec(folder / "trec/qrels.txt")
    expected = {line for line in expected if line[3] != "-1"}
    assert (set(map(tuple, lines)), len(lines)) == (expected, len(expected))


def test_strict_qrels_leave_assumed_negatives_unjudged(qrels: Qrels, folder: Path, tmp_path: Path):
    export_test_set(qrels, tmp_path / "strict", options=ExportOptions(strict=True))
    plain, strict = (trec(of / "trec/qrels_infap.txt") for of in (folder, tmp_path / "strict"))
    assert [line[:3] for line in plain] == [line[:3] for line in strict]
    changed = [(a[3], b[3]) for a, b in zip(plain, strict, strict=True) if a[3] != b[3]]
    assert set(changed) == {("0", "-1")}
    judged = trec(tmp_path / "strict/trec/qrels.txt")
    assert judged == [line for line in strict if line[3] != "-1"]
    assert len(changed) == len(trec(folder / "trec/qrels.txt")) - len(judged)


@pytest.mark.parametrize(
    ("key", "word"),
    [("a", "a"), ("a b", "a%20b"), ("50%", "50%25"), ("a:b", "a:b"), ("a\u00a0b", "a%C2%A0b"), ("ü/é", "ü/é")],
)
def test_keys_become_words_and_come_back(key, word):
    assert trec_word(key) == word
    assert unquote(word) == key
    assert len(word.split()) == 1


def test_odd_keys_are_in_the_files_as_words(folder: Path):
    for name in ("trec/pool.txt", "trec/runs/transe.txt.gz"):
        lines = trec(folder / name)
        assert {len(line) for line in lines} == {4 if name == "trec/pool.txt" else 6}
        entities = {line[2] for line in lines}
        assert {"per%20son%200", "50%25", "a:b", "ü/é", 'q"7"', "x+y&z"} <= entities


def test_topics_ask_every_question_in_words(qrels: Qrels, folder: Path):
    header, *lines = rows(folder / "trec/topics.tsv")
    assert header == ["question", "side", "entity", "relation", "text"]
    asked = {question for name in ("qrels.txt", "pool.txt") for question, *_ in trec(folder / "trec" / name)}
    assert [line[0] for line in lines] == list(dict.fromkeys(line[0] for line in lines))
    assert {line[0] for line in lines} == asked
    by_id = {line[0]: line[1:] for line in lines}
    for identifier, (side, entity, relation, text) in by_id.items():
        assert identifier == f"{side}:{quote(entity, safe='')}:{quote(relation, safe='')}"
        name = "The {seventh}" if entity == "p7" else entity
        assert name in text and "{subject}" not in text and "{object}" not in text
    assert qrels.pool.name == "p"


def test_seed_topics_of_a_pool_are_its_seed_questions(pool: Pool):
    lines = list(seed_topics(pool))[1:]
    expected = set()
    for seed in pool.seeds.values_list("head", "relation", "tail"):
        head, relation, tail = (quote(name, safe="") for name in names_of(pool.graph, seed))
        expected |= {f"tail:{head}:{relation}", f"head:{tail}:{relation}"}
    assert sorted(line.split("\t")[0] for line in lines) == sorted(expected)


# -- archive ----------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_an_archive_is_a_job_and_the_same_bytes_each_time(qrels: Qrels, folder: Path):
    export, job = request_export(qrels, ExportOptions(), None)
    assert (zip_path(export), export.sha256, request_export(qrels, ExportOptions(), None)) == (None, "", (export, job))
    assert job is not None
    execute(job.pk, "w")
    job.refresh_from_db()
    export.refresh_from_db()
    assert (job.state, job.error) == ("done", "")
    path = zip_path(export)
    assert path is not None
    with zipfile.ZipFile(path) as archive:
        assert {name.partition("/")[2] for name in archive.namelist()} == FILES
        assert {info.date_time for info in archive.infolist()} == {EPOCH}
        assert {info.external_attr >> 16 for info in archive.infolist()} == {0o644}
        for name in FILES:
            assert archive.read(f"p-v1/{name}") == (folder / name).read_bytes()
    first = path.read_bytes()
    assert (export.sha256, export.num_bytes) == (hashlib.sha256(first).hexdigest(), len(first))
    assert request_export(qrels, ExportOptions(), None) == (export, None)
    path.unlink()
    assert write_zip(export).read_bytes() == first
    assert list(artifact_path("exports").iterdir()) == [zip_path(export)]


def test_an_archive_that_is_written_at_that_moment_starts_no_other_job(qrels: Qrels, monkeypatch):
    stale, job = request_export(qrels, ExportOptions(), None)
    assert job is not None
    execute(job.pk, "w")
    monkeypatch.setattr(export_module, "export_of", lambda *asked: stale)
    assert (stale.is_written, request_export(qrels, ExportOptions(), None)) == (False, (stale, None))
    assert Job.objects.filter(kind=job.kind).count() == 1


def test_an_archive_that_is_there_stays(qrels: Qrels):
    export, _ = request_export(qrels, ExportOptions(), None)
    before = write_zip(export).stat().st_mtime_ns
    assert write_zip(export).stat().st_mtime_ns == before


def test_an_export_that_is_gone_is_a_message(qrels: Qrels):
    export, job = request_export(qrels, ExportOptions(), None)
    export.delete()
    execute(job.pk, "w")
    job.refresh_from_db()
    assert (job.state, job.error) == (
        "failed",
        "This export is no longer there: ask for it again on the page of the test set.",
    )


def test_a_pool_without_runs_is_exported_without_measures(pool: Pool, tmp_path: Path):
    for system in systems_with_runs(pool):
        system.run.delete()
    export_test_set(freeze_qrels(pool, "v1"), tmp_path / "out")
    names = names_in(tmp_path / "out")
    assert names == {name for name in FILES if not name.startswith(OF_RUNS)}
    text = (tmp_path / "out/README.md").read_text()
    assert "None: no system had a complete run when the qrels were frozen, or they were left out." in text


def test_a_run_that_is_gone_is_named_and_nothing_is_written(qrels: Qrels, tmp_path: Path):
    qrels.pool.graph.systems.get(name="distmult").run.delete()
    with pytest.raises(EvaluationError) as caught:
        export_test_set(qrels, tmp_path / "out")
    assert str(caught.value) == (
        "The runs of distmult are not complete any more, or the systems are archived: run score_runs p, take the "
        "systems back, or export without runs. Nothing was written."
    )
    assert not (tmp_path / "out").exists()
    export_test_set(qrels, tmp_path / "out", ExportOptions(with_runs=False))
    assert "trec/runs/transe.txt.gz" not in names_in(tmp_path / "out")
