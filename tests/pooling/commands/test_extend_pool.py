"""extend_pool and freeze_pool: what they print, and what they refuse."""

from __future__ import annotations

import pytest
from django.core.management import CommandError

from core.models import Job
from pooling.graphs.opening import open_graph
from pooling.management.commands import extend_pool as extend_command
from pooling.models import Pool, Run
from pooling.runs.distributions import has_predictive
from pooling.runs.score import wanted_triples
from tests.factories import make_pool, make_system, town


@pytest.fixture
def pool(town) -> Pool:
    make_system(town, "transe")
    make_system(town, "distmult")
    return make_pool(town, sample=0.2, depth=2, systems=["transe"])


def test_extend_pool_prints_what_it_added(pool, run):
    before = pool.triples.count()
    out, err = run(
        "extend_pool",
        "p",
        "--depth",
        "4",
        "--systems",
        "distmult,",
        "--count",
        "3",
        "--seed",
        "7",
        "--stratify",
        "relation",
    )
    pool.refresh_from_db()
    new = pool.triples.count() - before
    people = pool.growth[0]["to_people"]
    assert out == (
        "p: depth 2 to 4; system distmult; 3 seeds (sample of 3 test triples, stratified by relation, seed 7): "
        f"{new} new triples, {people} to people\n"
    )
    assert err.splitlines()[0] == "extend pool p: queued"
    assert err.splitlines()[-1] == "extend pool p: done"
    assert (pool.depth, pool.contributors, pool.seeds.count()) == (4, ["transe", "distmult"], 10)


@pytest.mark.parametrize(("arguments", "there"), [((), True), (("--no-predictive",), False)])
def test_extend_pool_stores_distributions_unless_it_is_told_not_to(pool, run, arguments, there):
    run("extend_pool", "p", "--depth", "3", *arguments)
    wanted = wanted_triples(pool, open_graph(pool.graph))
    assert has_predictive(Run.objects.get(system__name="transe"), wanted) == there


def test_extend_pool_says_that_another_job_had_added_all_of_it(pool, run, monkeypatch):
    real = extend_command.extend_pool

    def second(pool: Pool, **asked: object) -> Job:
        real(pool, depth=5)  # its job is done first
        return real(pool, **asked)

    monkeypatch.setattr(extend_command, "extend_pool", second)
    out, _ = run("extend_pool", "p", "--depth", "4")
    assert out == "p: nothing was left to add, since another extension had added all of it\n"
    pool.refresh_from_db()
    assert [entry["what"] for entry in pool.growth] == ["depth 2 to 5"]


def test_extend_pool_takes_seeds_of_a_file_and_a_share(pool, run, tmp_path):
    (tmp_path / "s.tsv").write_text("".join("\t".join(row) + "\n" for row in town()["test"]))
    run("extend_pool", "p", "--sample", "0.1")
    assert pool.seeds.count() == 10
    run("extend_pool", "p", "--seeds", str(tmp_path / "s.tsv"))
    assert pool.seeds.count() == 34


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["q"], "There is no pool 'q'. Pools: p."),
        (["p"], "Nothing is asked for: give a depth, systems or seeds."),
        (["p", "--systems", " ,"], "--systems is empty: name some, or leave it out."),
        (["p", "--depth", "2"], "Depth 2: pool p has depth 2 already; give more."),
        (["p", "--seeds", "/no/such"], "/no/such: No such file or directory"),
        (
            ["p", "--depth", "3", "--stratify", "relation"],
            "--stratify is about a sample: give --sample or --count with it.",
        ),
    ],
)
def test_extend_pool_refuses(pool, run, arguments, message):
    with pytest.raises(CommandError) as caught:
        run("extend_pool", *arguments)
    assert str(caught.value) == message
    assert not Job.objects.filter(kind="extend-pool").exists()


def test_freeze_pool_freezes_once(pool, run):
    assert run("freeze_pool", "p") == (f"p is frozen: {pool.triples.count()} triples, depth 2\n", "")
    with pytest.raises(CommandError, match=r"^Pool p was frozen on [-0-9]{10} already\.$"):
        run("freeze_pool", "p")
    with pytest.raises(
        CommandError, match=r"^Pool p was frozen on [-0-9]{10} and does not grow: build another pool\.$"
    ):
        run("extend_pool", "p", "--depth", "3")
