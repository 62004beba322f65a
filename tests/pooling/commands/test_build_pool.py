"""build_pool and import_pool: what they print, and what they refuse."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError

from pooling.graphs.opening import open_graph
from pooling.models import Pool, Run
from pooling.pools.kernels.filters import FILTERS
from pooling.pools.report import pool_counts
from pooling.pools.seeds import draw_seeds, seed_array
from pooling.runs.distributions import has_predictive
from pooling.runs.score import wanted_triples
from tests.factories import make_system, town
from tests.pooling.pools.raw_cases import make_old


def test_build_pool_prints_the_counts(trained, run):
    out, err = run("build_pool", "town", "--name", "p", "--sample", "0.5", "--seed", "5", "--depth", "5")
    counts = pool_counts(Pool.objects.get())
    assert out == (
        f"p: 17 seeds, {counts['pooled']:,} pooled triples, {counts['filtered']:,} filtered, "
        f"{counts['to_people']:,} to people\n"
    )
    assert err.splitlines()[0] == "build pool p: queued"
    assert err.splitlines()[-1] == "build pool p: done"


@pytest.mark.parametrize(("arguments", "there"), [((), True), (("--no-predictive",), False)])
def test_build_pool_stores_distributions_unless_it_is_told_not_to(trained, run, arguments, there):
    run("build_pool", "town", "--name", "p", "--systems", "transe", *arguments)
    wanted = wanted_triples(Pool.objects.get(), open_graph(trained))
    assert has_predictive(Run.objects.get(), wanted) == there


def test_build_pool_json_systems_and_filters(trained, run):
    out, _ = run(
        "build_pool",
        "town",
        "--name",
        "p",
        "--sample",
        "0.3",
        "--systems",
        "complex, transe",
        "--filters",
        "none",
        "--json",
    )
    pool = Pool.objects.get()
    assert json.loads(out) == pool_counts(pool)
    assert (pool.contributors, pool.filters, pool.depth) == (["complex", "transe"], [], 10)


def test_build_pool_draws_a_count_by_strata(trained, run):
    run("build_pool", "town", "--name", "p", "--count", "9", "--stratify", "relation", "--seed", "3", "--depth", "2")
    pool = Pool.objects.get()
    seeds, source = draw_seeds(open_graph(trained), count=9, stratify="relation", seed=3)
    assert (seed_array(pool).tolist(), pool.seed_source) == (seeds.tolist(), source)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "There is no graph nowhere. Graphs: town."),
        (["town", "--depth", "101"], "Depth 101: a run holds the first 100 candidates of a question; give 1 to 100."),
        (["town", "--systems", "rotate"], "Graph town has no trained system rotate. Trained: transe."),
        (
            ["town", "--filters", "colour"],
            f"--filters: unknown filter 'colour': the known filters are {', '.join([*FILTERS, 'category', 'none'])}",
        ),
        (["town", "--seeds", "/no/such"], "/no/such: No such file or directory"),
        (
            ["town", "--seeds", "/no/such", "--stratify", "relation"],
            "--stratify is about a sample: leave it out with --seeds.",
        ),
        (
            ["town", "--seeds", "/no/such", "--count", "3"],
            "Error: argument --count: not allowed with argument --seeds",
        ),
        (["town", "--count", "35"], "Count 35: give 1 to 34, the number of test triples to sample from."),
        (
            ["town", "--stratify", "size"],
            "Stratify by 'size': choose relation or relation,popularity, or leave it out.",
        ),
    ],
)  # fmt: skip
def test_build_pool_refuses(town, run, arguments, message):
    make_system(town, "transe")
    with pytest.raises(CommandError) as caught:
        run("build_pool", *arguments, "--name", "p")
    assert str(caught.value) == message
    assert not Pool.objects.exists()


def test_build_pool_that_fails_is_an_error(trained, run, monkeypatch):
    from pooling.pools import scoring

    def fail(*args: object, **kwargs: object) -> None:
        raise ValueError("the scores are not finite")

    monkeypatch.setattr(scoring, "score_triples", fail)
    with pytest.raises(CommandError) as caught:
        run("build_pool", "town", "--name", "p")
    assert str(caught.value) == "build pool p: ValueError: the scores are not finite"
    assert Pool.objects.get().state == "failed"


def test_import_pool_prints_counts_and_what_was_left_out(trained, run, tmp_path):
    (tmp_path / "seeds.tsv").write_text("\t".join(town()["test"][0]))
    known = town()["train"][0]
    (tmp_path / "pool.tsv").write_text("p7\tlives in\tcity 1\t2\n" + "\t".join(known) + "\t1\n")
    out, err = run(
        "import_pool",
        "town",
        "--name",
        "p",
        "--file",
        str(tmp_path / "pool.tsv"),
        "--seeds",
        str(tmp_path / "seeds.tsv"),
    )
    assert out.splitlines()[0] == "p: 1 seeds, 1 pooled triples, 0 filtered, 1 to people"
    assert err == f"left out, known fact (train): 1 lines\n  pool.tsv:2: {' '.join(known)}\n"


def test_import_pool_refuses_a_bad_line_with_its_number(trained, run, tmp_path):
    (tmp_path / "seeds.tsv").write_text("\t".join(town()["test"][0]))
    (tmp_path / "pool.tsv").write_text("p7\tlives in\tcity 1\ttwo\n")
    with pytest.raises(CommandError) as caught:
        run(
            "import_pool",
            "town",
            "--name",
            "p",
            "--file",
            str(tmp_path / "pool.tsv"),
            "--seeds",
            str(tmp_path / "seeds.tsv"),
        )
    assert str(caught.value) == (
        "pool.tsv:1: depth 'two' is not a whole number from 1 to 32767\nCorrect the pool file; nothing was made."
    )


def test_build_pool_goes_on_with_one_that_failed(trained, run):
    run("build_pool", "town", "--name", "p", "--sample", "0.5", "--depth", "5")
    whole = pool_counts(Pool.objects.get())
    Pool.objects.update(state="failed")
    _, err = run("build_pool", "town", "--name", "p", "--sample", "0.1", "--depth", "7")
    assert err.splitlines()[0] == "p was begun before (sample 0.5 of test, seed 42, depth 5, filtered): going on."
    assert (pool_counts(Pool.objects.get()), Pool.objects.get().state) == (whole, "ready")


def test_build_pool_by_the_raw_rule_and_the_report_says_so(trained, run):
    run("build_pool", "town", "--name", "p", "--sample", "0.5", "--depth", "5", "--rule", "raw", "--no-predictive")
    pool = Pool.objects.get()
    assert pool.rule == "raw"
    assert json.loads(run("pool_report", "p", "--json")[0])["rule"] == "raw"
    assert "pooling rule            raw" in run("pool_report", "p")[0].splitlines()
    with pytest.raises(CommandError, match="invalid choice: 'unknown'"):
        run("build_pool", "town", "--name", "q", "--rule", "unknown")


def test_build_pool_offers_to_score_again(trained, run):
    run("build_pool", "town", "--name", "p", "--sample", "0.5", "--depth", "5", "--no-predictive")
    make_old(Run.objects.get(system__name="transe"))
    asked = ("build_pool", "town", "--name", "q", "--sample", "0.5", "--rule", "raw", "--no-predictive")
    with pytest.raises(CommandError, match=r"transe lacks it for 27 of 28 questions.*--score-again"):
        run(*asked)
    run(*asked, "--score-again")
    assert Pool.objects.get(name="q").state == "ready"


def test_import_pool_says_what_its_candidates_tell_of_the_rule(trained, run, tmp_path):
    (tmp_path / "seeds.tsv").write_text("\t".join(town()["test"][0]))
    (tmp_path / "pool.tsv").write_text("p7\tlives in\tcity 1\t3\n")
    files = ("--file", str(tmp_path / "pool.tsv"), "--seeds", str(tmp_path / "seeds.tsv"))
    out = run("import_pool", "town", "--name", "p", *files)[0].splitlines()
    assert out[1].startswith("2 of 2 questions (100.0 %) have fewer than 3 candidates")
    assert out[2].startswith("Not a filtered pool: ")
