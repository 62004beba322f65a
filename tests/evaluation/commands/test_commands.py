"""Commands of the evaluation app: their JSON is the contract of DESIGN §4."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evaluation.labels.qrels import freeze_qrels, freeze_warnings
from evaluation.models import Qrels
from evaluation.overview.counts import pool_report
from evaluation.sections.metrics import metrics
from pooling.models import Pool
from tests.factories import make_system, names_of


def run(*arguments: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command(*arguments, stdout=out, stderr=err, no_color=True)
    return out.getvalue(), err.getvalue()


def test_evaluate_json(labelled: Pool):
    out, err = run("evaluate", "p", "--measures", "micro_mrr, judged@10", "--labels", "seeds", "--json")
    content = metrics(labelled, "seeds", ["micro_mrr", "judged@10"])
    assert json.loads(out) == {**{name: content[name] for name in ("labels", "systems", "compared")}, "reasons": {}}
    assert list(content["systems"]) == ["transe", "distmult", "complex"]
    assert err == ""


def test_evaluate_prints_a_table_of_the_current_labels(labelled: Pool):
    out, _ = run("evaluate", "p")
    content = metrics(labelled)
    first, header, *lines, last = out.splitlines()
    assert first.startswith(f"current labels: {content['counts']['positive']} positive, ")
    assert header.split() == ["system", *content["n"]]
    assert [line.split()[0] for line in lines] == list(content["systems"])
    assert lines[0].split()[2] == f"{content['systems']['transe']['micro_mrr']:.4f}"
    assert last.split()[1:] == [f"{n:,}" for n in content["n"].values()]


def test_evaluate_with_filtered_triples_as_unjudged(labelled: Pool):
    values = [
        json.loads(run("evaluate", "p", "--measures", "judged@10", "--assumed", how, "--json")[0])["systems"]["transe"]
        for how in ("judged", "unjudged")
    ]
    assert values[0]["judged@10"] > values[1]["judged@10"]


def test_evaluate_the_original_questions(labelled: Pool):
    out, _ = run("evaluate", "p", "--measures", "micro_mrr", "--questions", "original", "--json")
    content = metrics(labelled, "current", ["micro_mrr"], questions="original")
    assert json.loads(out)["systems"] == content["systems"]
    assert content["systems"] != metrics(labelled, "current", ["micro_mrr"])["systems"]
    first, *_, last = run("evaluate", "p", "--measures", "micro_mrr", "--questions", "original")[0].splitlines()
    assert first.startswith("current labels, questions of the seeds only: ")
    assert last.split() == ["n", f"{content['n']['micro_mrr']:,}"]


def test_evaluate_says_why_a_value_is_undefined(labelled: Pool, tmp_path: Path):
    """An imported label set without any positive."""
    seeds = [names_of(labelled.graph, t) for t in labelled.seeds.values_list("head", "relation", "tail")]
    path = tmp_path / "none.tsv"
    path.write_text("".join("\t".join([*names, "0"]) + "\n" for names in seeds))
    run("import_qrels", "p", "none", str(path))
    out, _ = run("evaluate", "p", "--measures", "micro_mrr,map", "--labels", "imported:none", "--json")
    content = metrics(labelled, "imported:none", ["micro_mrr", "map"])
    found = json.loads(out)
    assert found["systems"] == {name: {"micro_mrr": None, "map": None} for name in ("transe", "distmult", "complex")}
    why = content["reasons"]["transe"]["map"]
    assert found["reasons"] == {name: {"micro_mrr": why, "map": why} for name in found["systems"]}
    assert why
    out, err = run("evaluate", "p", "--measures", "micro_mrr,map", "--labels", "imported:none")
    assert out.count("undefined") == 6
    assert err == (f"Undefined, since {why}: micro_mrr of transe, map of transe, micro_mrr of distmult and 3 more.\n")


def test_import_qrels_prints_counts_and_what_is_odd(labelled: Pool, tmp_path: Path):
    pooled = labelled.triples.values_list("head", "relation", "tail")[:2]
    lines = [[*names_of(labelled.graph, triple), label] for triple, label in zip(pooled, "YN", strict=True)]
    path = tmp_path / "judged.tsv"
    path.write_text("".join("\t".join(line) + "\n" for line in lines))
    out, err = run("import_qrels", "p", "theirs", str(path))
    qrels = Qrels.objects.get()
    assert out.splitlines() == [
        f"p/theirs: {labelled.seeds.count() + 1} positive, 1 negative, 0 assumed negative, "
        f"{labelled.triples.count() - 2} unjudged; SHA-256 {qrels.sha256}",
        *qrels.notes,
        "Evaluate with --labels imported:theirs",
    ]
    assert (len(qrels.notes), err) == (2, "")


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("a\tb\n", [], "x.tsv:1: has 2 columns where head, relation, tail, label are 4\nCorrect the file; nothing was "
            "imported."),
        ("a b\n", ["--format", "trec"], "x.tsv:1: has 2 words where question id, 0, entity, relevance are 4\nCorrect "
            "the file; nothing was imported."),
        (None, [], "x.tsv: No such file or directory"),
    ],
)  # fmt: skip
def test_import_qrels_refuses(labelled: Pool, tmp_path: Path, monkeypatch, content, arguments, message):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("x.tsv").write_text(content)
    with pytest.raises(CommandError) as caught:
        run("import_qrels", "p", "theirs", "x.tsv", *arguments)
    assert str(caught.value) == message
    assert not Qrels.objects.exists()


def test_evaluate_names_systems_without_rank_rows(labelled: Pool):
    import numpy as np

    from pooling.graphs.opening import open_graph
    from pooling.runs.score import score_system

    late = make_system(labelled.graph, "rescal")
    score_system(late, seeds=np.zeros((0, 3), np.int32), triples=open_graph(labelled.graph).test)
    _, err = run("evaluate", "p", "--json")
    assert err == "Left out, rank rows missing: rescal. Run score_runs p.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["q"], "There is no pool 'q'. Pools: p."),
        (
            ["p", "--labels", "all"],
            "Unknown label set 'all': give seeds, current, full-test, depth:D, until:TIME, annotator:N, qrels:NAME or "
            "imported:NAME.",
        ),
        (["p", "--labels", "annotator:1"], "Pool p has no annotator 1: nobody has given a label yet."),
        (["p", "--labels", "until:x"], "'x' is not a valid time: write it as in until:2026-03-02T12:00 (UTC, or with "
            "a zone as in +02:00)."),
        (
            ["p", "--measures", "micro_hits"],
            "--measures: the measure 'micro_hits' needs a cut-off, for example micro_hits@10",
        ),
        (["p", "--labels", "qrels:v9"], "Pool p has no qrels 'v9'. Qrels: none yet."),
    ],
)  # fmt: skip
def test_evaluate_refuses(labelled: Pool, arguments, message):
    with pytest.raises(CommandError) as caught:
        run("evaluate", *arguments)
    assert str(caught.value) == message


def test_pool_report_json_has_the_keys_of_the_contract(labelled: Pool):
    report = json.loads(run("pool_report", "p", "--json")[0])
    assert report == pool_report(labelled)
    assert {
        "seeds",
        "pooled",
        "filtered",
        "to_people",
        "by_reason",
        "by_category",
        "positive",
        "negative",
        "assumed_negative",
        "unjudged",
    } <= set(report)


def test_pool_report_in_words(labelled: Pool):
    out, _ = run("pool_report", "p")
    report = pool_report(labelled)
    assert re.search(rf"^pooled +{report['pooled']}$", out, re.M)
    assert re.search(rf"^  category-tail +{report['by_reason']['category-tail']}$", out, re.M)
    assert re.search(rf"^  assumed negative +{report['assumed_negative']}$", out, re.M)


def test_freeze_qrels_prints_counts_and_checksum(labelled: Pool):
    out, err = run("freeze_qrels", "p", "v1")
    qrels, report = Qrels.objects.get(), pool_report(labelled)
    assert err.splitlines() == freeze_warnings(report, report["to_people"])
    assert out == (
        f"p/v1: {qrels.num_positive} positive, {qrels.num_negative} negative, {qrels.num_assumed_negative} assumed "
        f"negative, {qrels.num_unjudged} unjudged; SHA-256 {qrels.sha256}\n"
    )
    with pytest.raises(CommandError, match="Pool p has qrels 'v1' already"):
        run("freeze_qrels", "p", "v1")


def test_freeze_qrels_warns_where_nothing_is_judged(labelled: Pool):
    labelled.judgements.all().delete()
    _, err = run("freeze_qrels", "p", "v1")
    report = pool_report(labelled)
    assert err.splitlines() == freeze_warnings(report, report["to_people"]) != []


def test_export_test_set_freezes_first_if_no_name_is_given(labelled: Pool, tmp_path: Path):
    out, err = run("export_test_set", "p", str(tmp_path / "out"))
    qrels = Qrels.objects.get()
    assert re.fullmatch(r"export-\d{8}-\d{6}", qrels.name)
    assert err == f"Froze the present judgements as qrels {qrels.name}.\n"
    assert {line.split("  ")[0] for line in out.splitlines()} == {
        str(p) for p in (tmp_path / "out").rglob("*") if p.is_file()
    }


def test_export_test_set_of_named_qrels(labelled: Pool, tmp_path: Path):
    freeze_qrels(labelled, "v1")
    _, err = run("export_test_set", "p", str(tmp_path / "out"), "--qrels", "v1", "--strict", "--without-runs")
    assert err == "" and Qrels.objects.count() == 1
    card = (tmp_path / "out" / "README.md").read_text()
    assert "This archive: without runs, strict. The numbers below are of all judgements." in card
    assert "Assumed negatives are -1 (unjudged) in trec/." in card
    assert not (tmp_path / "out/trec/runs").exists()


def test_export_test_set_to_a_folder_that_is_full_freezes_nothing(labelled: Pool, tmp_path: Path):
    (tmp_path / "mine").write_text("keep")
    with pytest.raises(CommandError, match="exists and is not an empty folder"):
        run("export_test_set", "p", str(tmp_path))
    assert not Qrels.objects.exists()


def test_export_topics(labelled: Pool, tmp_path: Path):
    out, _ = run("export_topics", "p", str(tmp_path / "topics.tsv"))
    lines = (tmp_path / "topics.tsv").read_text().splitlines()
    assert lines[0] == "question\tside\tentity\trelation\ttext"
    assert out == f"{tmp_path / 'topics.tsv'}: {len(lines) - 1} questions\n"


def test_export_trec(labelled: Pool, tmp_path: Path):
    freeze_qrels(labelled, "v1")
    out, _ = run("export_trec", "p", str(tmp_path / "now"))
    files = sorted(path for path in (tmp_path / "now").rglob("*") if path.is_file())
    assert out == "".join(f"{path}: {path.stat().st_size:,} bytes\n" for path in files)
    run("export_trec", "p", str(tmp_path / "then"), "--qrels", "v1", "--strict")
    now, then = ((tmp_path / name / "qrels_infap.txt").read_text().splitlines() for name in ("now", "then"))
    changed = [(a[-2:], b[-2:]) for a, b in zip(now, then, strict=True) if a != b]
    assert set(changed) == {(" 0", "-1")}
    of_judged = [(tmp_path / name / "qrels.txt").read_text().splitlines() for name in ("now", "then")]
    assert len(changed) == len(of_judged[0]) - len(of_judged[1])
    with pytest.raises(CommandError, match="Pool p has no qrels 'v2'"):
        run("export_trec", "p", str(tmp_path / "never"), "--qrels", "v2")
    assert not (tmp_path / "never").exists()
