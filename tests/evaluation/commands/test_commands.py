"""Commands of the evaluation app: their JSON is the contract of DESIGN §4."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evaluation.domain import figures
from evaluation.domain.qrels import freeze_qrels
from evaluation.domain.report import pool_report
from evaluation.models import Qrels
from pooling.models import Pool
from tests.factories import make_system


def run(*arguments: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command(*arguments, stdout=out, stderr=err, no_color=True)
    return out.getvalue(), err.getvalue()


def test_evaluate_json(labelled: Pool):
    out, err = run("evaluate", "p", "--measures", "micro_mrr, judged@10", "--labels", "seeds", "--json")
    content = figures.metrics(labelled, "seeds", ["micro_mrr", "judged@10"])
    assert json.loads(out) == {"labels": "seeds", "systems": content["systems"]}
    assert list(content["systems"]) == ["transe", "distmult", "complex"]
    assert err == ""


def test_evaluate_prints_a_table_of_the_current_labels(labelled: Pool):
    out, _ = run("evaluate", "p")
    content = figures.metrics(labelled)
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
    ]  # fmt: skip
    assert values[0]["judged@10"] > values[1]["judged@10"]


def test_evaluate_names_systems_without_rank_rows(labelled: Pool):
    import numpy as np

    from pooling.domain.graph import open_graph
    from pooling.domain.run import score_system

    late = make_system(labelled.graph, "rescal")
    score_system(late, seeds=np.zeros((0, 3), np.int32), triples=open_graph(labelled.graph).test)
    _, err = run("evaluate", "p", "--json")
    assert err == "Left out, rank rows missing: rescal; run score_runs p.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["q"], "There is no pool 'q'. Pools: p."),
        (["p", "--labels", "all"], "Unknown label set 'all': give seeds, current, full-test, depth:D or qrels:NAME."),
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
        "seeds", "pooled", "filtered", "to_people", "by_reason", "by_category", "positive", "negative",
        "assumed_negative", "unjudged",
    } <= set(report)  # fmt: skip


def test_pool_report_in_words(labelled: Pool):
    out, _ = run("pool_report", "p")
    report = pool_report(labelled)
    assert re.search(rf"^pooled +{report['pooled']}$", out, re.M)
    assert re.search(rf"^  category-tail +{report['by_reason']['category-tail']}$", out, re.M)
    assert re.search(rf"^  assumed negative +{report['assumed_negative']}$", out, re.M)


def test_freeze_qrels_prints_counts_and_checksum(labelled: Pool):
    out, _ = run("freeze_qrels", "p", "v1")
    qrels = Qrels.objects.get()
    assert out == (
        f"p/v1: {qrels.num_positive} positive, {qrels.num_negative} negative, {qrels.num_assumed_negative} assumed "
        f"negative, {qrels.num_unjudged} unjudged; SHA-256 {qrels.sha256}\n"
    )
    with pytest.raises(CommandError, match="Pool p has qrels 'v1' already"):
        run("freeze_qrels", "p", "v1")


def test_export_test_set_freezes_first_if_no_name_is_given(labelled: Pool, tmp_path: Path):
    out, err = run("export_test_set", "p", str(tmp_path / "out"))
    qrels = Qrels.objects.get()
    assert re.fullmatch(r"export-\d{8}-\d{6}", qrels.name)
    assert err == f"Froze the present judgements as qrels {qrels.name}.\n"
    assert {line.split("  ")[0] for line in out.splitlines()} == {
        str(p) for p in (tmp_path / "out").iterdir()
    }


def test_export_test_set_of_named_qrels(labelled: Pool, tmp_path: Path):
    freeze_qrels(labelled, "v1")
    _, err = run("export_test_set", "p", str(tmp_path / "out"), "--qrels", "v1", "--strict")
    assert err == "" and Qrels.objects.count() == 1
    assert "Assumed negatives are -1" in (tmp_path / "out" / "README.md").read_text()


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
