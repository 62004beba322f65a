"""Validation triples and their scores: what is drawn, what is stored, and that it is the model's own."""

from __future__ import annotations

import numpy as np
import pytest

from core.callbacks import Watch
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool, System
from pooling.runs import validation
from pooling.runs.distributions import read_tail_scores, store_predictive
from pooling.runs.files import RunError
from pooling.runs.score import scorer_of
from pooling.runs.validation import has_validation, read_validation, store_validation, validation_triples
from tests.factories import make_system
from tests.pooling.runs.test_distributions import system  # noqa: F401 - a fixture


def test_corrupted_triples_have_a_tail_of_their_relation_and_are_no_fact(town: Graph):
    graph = open_graph(town)
    triples, positive = validation_triples(graph, np.random.default_rng(0))
    assert sorted(map(tuple, triples[positive].tolist())) == sorted(map(tuple, graph.valid.tolist()))
    facts = {tuple(t) for split in (graph.train, graph.valid, graph.test) for t in split.tolist()}
    tails = {(r, t) for split in (graph.train, graph.valid) for _, r, t in split.tolist()}
    questions = {(h, r) for h, r, _ in graph.valid.tolist()}
    corrupted = [tuple(t) for t in triples[~positive].tolist()]
    assert 0 < len(corrupted) <= len(graph.valid)
    for head, relation, tail in corrupted:
        assert (head, relation, tail) not in facts and (relation, tail) in tails and (head, relation) in questions


def test_triples_are_the_same_for_every_system(town: Graph):
    graph = open_graph(town)
    one, other = (validation_triples(graph, np.random.default_rng(5))[0].tolist() for _ in range(2))
    assert one == other != validation_triples(graph, np.random.default_rng(6))[0].tolist()


def test_a_large_validation_set_is_drawn_from(town: Graph, monkeypatch):
    monkeypatch.setattr(validation, "MOST", 3)
    graph = open_graph(town)
    triples, positive = validation_triples(graph, np.random.default_rng(1))
    assert positive.sum() == 3 and set(map(tuple, triples[positive].tolist())) <= set(map(tuple, graph.valid.tolist()))


@pytest.mark.parametrize("chunk", [1 << 26, 1])
def test_scores_are_the_models_own_and_the_run_keeps_the_rest(system: System, chunk: int, monkeypatch):  # noqa: F811
    monkeypatch.setattr("pooling.scoring.ranking.BUFFER_FLOATS", chunk)
    graph = open_graph(system.graph)
    before = store_predictive(system, graph.test)
    assert not has_validation(before)
    with pytest.raises(RunError, match="no validation scores yet"):
        read_validation(before)
    told: list[tuple[int, int]] = []
    run = store_validation(system, Watch(lambda *at: told.append(at)))
    held, scorer = read_validation(run), scorer_of(system, graph)
    questions = {(h, r) for h, r, _ in graph.valid.tolist()}
    assert told[-1] == (len(questions), len(questions))

    def own(triples: np.ndarray) -> list[float]:
        asked = [(np.array([0]), np.array([h]), np.array([r]), t) for h, r, t in triples.tolist()]
        return [float(scorer.scores(side, head, relation)[0, tail]) for side, head, relation, tail in asked]

    assert has_validation(run) and held.score.dtype == np.float32
    assert held.score.tolist() == own(held.triples)
    assert store_validation(system).sha256 == run.sha256
    assert read_tail_scores(run, graph.test).tolist() == own(graph.test)


def test_a_stopped_pass_leaves_the_run_as_it_was(system: System):  # noqa: F811
    before = system.run.sha256
    with pytest.raises(InterruptedError):
        store_validation(system, Watch(stop=lambda: True))
    system.run.refresh_from_db()
    assert system.run.sha256 == before


def test_scores_that_are_not_finite_name_the_system(system: System, monkeypatch):  # noqa: F811
    class Broken:
        num_entities, device, label = 27, __import__("torch").device("cpu"), "DistMult"

        def in_order(self, order):
            return lambda side, entity, relation, out: out.fill_(float("nan"))

    monkeypatch.setattr(validation, "scorer_of", lambda system, graph: Broken())
    with pytest.raises(RunError, match=r"DistMult: the scores of the .* are not finite: train it anew"):
        store_validation(system)


def test_scores_of_triples_that_a_run_lacks_are_refused(system: System):  # noqa: F811
    graph = open_graph(system.graph)
    run = store_predictive(system, graph.test[:1])
    absent = np.array([[0, 0, tail] for tail in range(graph.num_entities)])
    with pytest.raises(RunError, match="lacks scores of"):
        read_tail_scores(run, absent)


def test_a_system_without_a_run_and_an_imported_one_are_refused(town: Graph):
    fresh = make_system(town, "transe")
    with pytest.raises(RunError, match="has no run yet"):
        store_validation(fresh)
    fresh.kind = "imported"
    with pytest.raises(RunError, match="was imported"):
        store_validation(fresh)


def test_a_scoring_job_stores_them_beside_the_distributions(pool: Pool):
    from core.jobs.execution import execute
    from pooling.enums import PoolingJob
    from tests.factories import make_job

    scored = System.objects.get(graph=pool.graph, name="complex")
    execute(make_job(PoolingJob.SCORE, pool=pool, system=scored).pk, "w")
    assert has_validation(System.objects.get(pk=scored.pk).run)
