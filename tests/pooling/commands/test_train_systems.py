"""train_systems and score_runs: jobs of their systems, settings, exit."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError

from core.models import Job
from pooling.enums import SystemState
from pooling.graphs.opening import open_graph
from pooling.models import Run, System
from pooling.runs.distributions import has_predictive
from pooling.runs.score import wanted_triples
from pooling.systems import SYSTEMS, USUAL
from tests.factories import make_system

QUICK = ("--device", "cpu", "--set", "epochs=1", "--set", "embedding_dim=4")


@pytest.mark.django_db(transaction=True)
def test_train_systems_trains_each_and_prints_one_line(town, run):
    out, err = run("train_systems", "town", "--systems", "transe,distmult", *QUICK)
    systems = list(System.objects.order_by("id"))
    assert [(s.name, s.state, s.settings["epochs"], s.settings["embedding_dim"]) for s in systems] == [
        ("transe", "trained", 1, 4),
        ("distmult", "trained", 1, 4),
    ]
    assert out == "".join(
        f"{s.name:12} validation MRR {s.validation_mrr:.4f}  best epoch 1 of 1  {s.train_seconds:.0f} s on cpu\n"
        for s in systems
    )
    assert err.splitlines()[-2:] == ["train system town/transe: done", "train system town/distmult: done"]


@pytest.mark.django_db(transaction=True)
def test_train_systems_again_keeps_what_is_trained(town, run):
    system = make_system(town, "transe")
    out, err = run("train_systems", "town", "--systems", "transe", "--json")
    assert err == "town/transe: trained already\n"
    assert json.loads(out) == {"transe": {"validation_mrr": 0.25, "epochs": 2, "seconds": 0}}
    assert not Job.objects.exists()
    assert System.objects.get().sha256 == system.sha256


@pytest.mark.django_db(transaction=True)
def test_train_systems_without_validation_triples(town, run, monkeypatch):
    from dataclasses import replace

    from pooling.training import train as systems

    opened = systems.open_graph
    monkeypatch.setattr(systems, "open_graph", lambda g: replace(opened(g), valid=opened(g).valid[:0]))
    out, _ = run("train_systems", "town", "--systems", "transe", *QUICK)
    assert out.startswith("transe       validation MRR undefined  best epoch 1 of 1")
    assert Job.objects.get().log.endswith(" best epoch 1\n")


@pytest.mark.parametrize(
    ("asked", "made"), [((), list(USUAL)), (("--systems", "all"), list(SYSTEMS)), (("--systems", "hake"), ["hake"])]
)
def test_the_usual_six_are_trained_unless_others_are_asked_for(town, run, monkeypatch, asked, made):
    monkeypatch.setattr("pooling.management.commands.train_systems.run_jobs", lambda jobs, out: [])
    run("train_systems", "town", *asked)
    assert list(System.objects.order_by("id").values_list("name", flat=True)) == made
    assert Job.objects.count() == len(made)


@pytest.mark.django_db(transaction=True)
def test_the_best_of_seeds_is_kept_and_settings_go_where_they_fit(town, run):
    out, err = run(
        "train_systems", "town", "--systems", "distmult,transe", "--num-seeds", "2", "--best", *QUICK, "init_std=0.2"
    )
    assert err.splitlines()[0] == "transe has no init_std: left as it is"
    lines = {line.split()[0]: line for line in out.splitlines()}
    for kind in ("distmult", "transe"):
        pair = System.objects.filter(kind=kind).order_by("seed")
        best = max(pair, key=lambda system: system.validation_mrr)
        assert [s.archived for s in pair] == [s != best for s in pair]
        assert [lines[s.name].endswith("s on cpu, archived") for s in pair] == [s.archived for s in pair]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["town", "--best"], "The best of one seed is that one: give 2 or more seeds to choose from."),
        (["nowhere"], "There is no graph nowhere. Graphs: town."),
        (["town", "--set", "epochs"], "--set epochs: write KEY=VALUE"),
        (["town", "--systems", "transe", "--seeds", "0"], "0 seeds of each system: give 1 or more."),
        (
            ["town", "--systems", "transe", "--set", "epochs=many"],
            "setting epochs=many: must be a whole number from 1 to 10,000",
        ),
    ],
)
def test_train_systems_refuses(town, run, arguments, message):
    with pytest.raises(CommandError) as caught:
        run("train_systems", *arguments)
    assert str(caught.value) == message
    assert not System.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_train_systems_that_fails_is_an_error_and_goes_on_when_called_again(town, run, monkeypatch):
    from pooling.learning import loop

    original = loop.train_system

    def fail(*args: object, **kwargs: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(loop, "train_system", fail)
    with pytest.raises(CommandError) as caught:
        run("train_systems", "town", "--systems", "transe", *QUICK)
    assert str(caught.value) == (
        "train system town/transe: The checkpoint of transe could not be written: No space left on device. "
        "The last whole one, if there is one, is still there: free some disk space, then start the job again."
    )
    assert System.objects.get().state == SystemState.FAILED
    monkeypatch.setattr(loop, "train_system", original)
    run("train_systems", "town", "--systems", "transe", *QUICK)
    assert System.objects.get().state == SystemState.TRAINED


def test_score_runs_fills_the_rows_of_a_system_that_came_later(pool, run):
    make_system(pool.graph, "rescal")
    rows = Run.objects.get(system__name="transe").num_rank_rows
    out, _ = run("score_runs", "p", "--systems", "rescal")
    assert (
        out == f"rescal       {rows:,} rank rows, {Run.objects.get(system__name='rescal').num_questions:,} questions\n"
    )
    before = Run.objects.get(system__name="rescal").sha256
    out, _ = run("score_runs", "p")
    assert [line.split()[0] for line in out.splitlines()] == ["transe", "distmult", "complex", "rescal"]
    assert Run.objects.get(system__name="rescal").sha256 == before


def test_score_runs_stores_distributions_unless_it_is_told_not_to(pool, run):
    wanted = wanted_triples(pool, open_graph(pool.graph))
    for arguments, there in ((["--no-predictive"], False), ([], True)):
        run("score_runs", "p", "--systems", "transe", *arguments)
        assert has_predictive(Run.objects.get(system__name="transe"), wanted) == there


def test_score_runs_refuses_what_is_not_there(pool, run):
    for arguments, message in (
        (["q"], "There is no pool 'q'. Pools: p."),
        (["p", "--systems", "rotate"], "Graph town has no trained system rotate. Trained: transe, distmult, complex."),
    ):
        with pytest.raises(CommandError) as caught:
            run("score_runs", *arguments)
        assert str(caught.value) == message
