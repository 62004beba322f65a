from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evaluation.planning.replay import read_truth, replay_orders
from evaluation.sections.compared import compared_notes
from pooling.models import Pool
from pooling.orders import ORDERS
from tests.evaluation.cases import lists_of_transe_without_some
from tests.evaluation.planning.test_replay import draw, write


def run(*arguments: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("replay_order", *arguments, stdout=out, stderr=err, no_color=True)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def labels(pool: Pool, tmp_path: Path) -> str:
    return str(write(pool, draw(pool), tmp_path / "labels.tsv", "nobody\tknows\tp7\tY\n"))


def test_json_is_what_the_domain_says(pool: Pool, labels: str):
    out, err = run(
        "p",
        "--truth",
        labels,
        "--order",
        "hedge,mtc,hedge",
        "--batch",
        "4",
        "--whole-groups",
        "--seeds",
        "2",
        "--seed",
        "3",
        "--measures",
        "micro_mrr, macro_mrr,micro_mrr",
        "--depth-of-runs",
        "--json",
    )
    expected = replay_orders(
        pool,
        read_truth(pool, labels),
        ["hedge", "mtc"],
        measures=["micro_mrr", "macro_mrr"],
        batch=4,
        whole_groups=True,
        depth_of_runs=True,
        seeds=[3, 4],
    )
    assert json.loads(out) == expected
    assert "labels.tsv:" in err
    assert "the graph does not have head 'nobody' (skipped)" in err
    assert "triples judged: " in err


def test_the_tables(pool: Pool, labels: str):
    out, _ = run("p", "--truth", labels, "--measures", "micro_mrr", "--seeds", "2")
    content = json.loads(run("p", "--truth", labels, "--measures", "micro_mrr", "--seeds", "2", "--json")[0])
    head, *tables, summary = out.split("\n\n")
    n, positives = content["triples"], content["positives"]
    assert head == (
        f"p: {n} triples for people, {positives} positive; 3 systems; chosen 1 at a time; 2 seeds, ± 95 % of their mean"
    )
    assert [table.partition(":")[0] for table in tables] == list(ORDERS)
    last = tables[0].splitlines()[-1].split()
    assert last == [str(n), "100", "%", "1.00", "±0.00", "1.00", "±0.00"]
    lines = [line.split() for line in summary.strip().splitlines()]
    assert lines[1] == ["order", "positives", "micro_mrr"]
    assert [line[0] for line in lines[2:]] == list(ORDERS)
    mean = content["orders"]["depth"]["triples_for_positives"]["mean"]
    assert lines[2][1] == f"{mean:.0f}"


def test_chosen_systems_are_ranked_on_their_common_questions(pool: Pool, labels: str, tmp_path: Path):
    lists_of_transe_without_some(pool, tmp_path)
    asked = ("p", "--truth", labels, "--order", "depth", "--measures", "micro_mrr", "--replays", "1", "--json")
    truth = read_truth(pool, labels)
    found = {}
    for systems in ("", "transe,theirs", "distmult,transe"):
        out, err = run(*asked, "--systems", systems)
        found[systems] = json.loads(out)
        names = [name for name in systems.split(",") if name]
        expected = replay_orders(pool, truth, ["depth"], measures=["micro_mrr"], systems=names)
        assert found[systems] == json.loads(json.dumps(expected))
        assert all(note in err.splitlines() for note in compared_notes(expected["compared"]))
    assert found[""]["systems"] == ["transe", "distmult", "complex", "theirs"]
    assert found["distmult,transe"]["systems"] == ["transe", "distmult"]
    assert found["transe,theirs"]["compared"]["lacking"] == {"theirs": 3}
    assert found["distmult,transe"]["compared"]["lacking"] == {}
    assert found["transe,theirs"]["runs"] == found["distmult,transe"]["runs"]  # orders see all runs
    with pytest.raises(CommandError, match="rotate: not evaluated on this pool"):
        run(*asked, "--systems", "rotate")


def test_one_seed_has_no_interval(pool: Pool, labels: str):
    out, _ = run("p", "--truth", labels, "--order", "depth", "--measures", "micro_mrr", "--seeds", "1")
    assert "1 seeds" not in out
    assert "±" not in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["p", "--order", "best"], "--order 'best': choose all, or of depth, random, move-to-front, "),
        (["p", "--measures", "mrr"], "--measures: unknown measure 'mrr'"),
        (["p", "--seed", "-1"], "--seed -1: give 0 or more."),
        (["p", "--batch", "0"], "argument --batch: 0 is not a whole number from 1"),
        (["p", "--seeds", "x"], "argument --seeds: x is not a whole number from 1"),
        (["q"], "There is no pool 'q'"),
    ],
)
def test_what_cannot_be_is_refused(pool: Pool, labels: str, arguments, words):
    with pytest.raises(CommandError) as caught:
        run(*arguments, "--truth", labels)
    assert words in str(caught.value)


def test_a_graph_without_a_closed_world(pool: Pool):
    with pytest.raises(CommandError, match="has no closed world"):
        run("p", "--truth", "closed-world")
