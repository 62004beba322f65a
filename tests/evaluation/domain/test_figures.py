"""Figures equal a direct computation from the scores, and are computed once for a version of the labels."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import kendalltau

from evaluation.domain import figures
from evaluation.domain.table import pool_table, systems_with_runs, version
from evaluation.models import Figure
from pooling.domain.graph import open_graph
from pooling.domain.job import execute
from pooling.enums import JobKind
from pooling.models import Pool
from tests.evaluation.domain.oracle import Oracle, positives_of, seeds_of
from tests.factories import judge, make_job

NAMES = ("micro_mr", "micro_mrr", "micro_hits@3", "macro_mr", "macro_mrr", "macro_hits@3")


@pytest.mark.parametrize("labels", ["seeds", "current", "full-test"])
def test_values_equal_a_direct_computation_from_the_scores(labelled: Pool, labels: str):
    test = set(map(tuple, open_graph(labelled.graph).test.tolist()))
    positives = {"seeds": seeds_of(labelled), "current": positives_of(labelled), "full-test": test}[labels]
    content = figures.metrics(labelled, labels, NAMES)
    assert list(content["systems"]) == ["transe", "distmult", "complex"]
    for system in systems_with_runs(labelled):
        expected = Oracle(labelled, system, full_test=labels == "full-test").measures(positives)
        assert content["systems"][system.name] == pytest.approx(expected, rel=1e-12)
    assert content["n"]["micro_mrr"] == 2 * len(positives)
    assert content["counts"]["positive"] == len(positives)


def test_correlations_are_tau_of_the_two_orders(labelled: Pool):
    content = figures.correlations(labelled, "seeds", "current")
    values = [figures.metrics(labelled, key)["systems"] for key in ("seeds", "current")]
    for name, row in content["measures"].items():
        one, other = ([of[s][name] for s in of] for of in values)
        expected = kendalltau(one, other).statistic
        assert row["tau"] == (pytest.approx(expected) if np.isfinite(expected) else None), name


def test_depth_curve_ends_at_the_current_labels_and_begins_at_the_seeds(labelled: Pool):
    content = figures.depth(labelled)
    assert content["depths"] == list(range(labelled.depth + 1))
    for at, labels in ((0, "seeds"), (2, "depth:2"), (-1, "current")):
        expected = figures.metrics(labelled, labels, figures.CURVE_MEASURES)["systems"]
        for i, system in enumerate(content["systems"]):
            for name in figures.CURVE_MEASURES:
                assert content["means"][name][at][i] == pytest.approx(expected[system][name])


def test_shares_of_the_first_candidates_by_the_ranking(labelled: Pool):
    content = figures.shares(labelled, k=3)
    seeds, positives = seeds_of(labelled), positives_of(labelled)
    verdicts = dict(labelled.judgements.values_list("triple_id", "verdict"))
    pooled = {(t.head, t.relation, t.tail): t for t in labelled.triples.all()}
    questions = {q for h, r, t in positives for q in ((0, r, h), (1, r, t))}

    def kind(triple: tuple[int, int, int]) -> str:
        if triple in seeds:
            return "original"
        row = pooled.get(triple)
        if row is None:
            return "not_pooled"
        judged = {"positive": "new", "negative": "negative", "undecided": "unjudged"}
        return (
            judged[verdicts[row.pk]]
            if row.pk in verdicts
            else "assumed_negative"
            if row.reason
            else "unjudged"
        )

    for system in systems_with_runs(labelled):
        oracle = Oracle(labelled, system)
        kinds = [
            kind((given, relation, e) if side == 0 else (e, relation, given))
            for side, relation, given in questions
            for e in oracle.ranking((side, relation, given))[:3]
        ]
        expected = {name: kinds.count(name) / len(kinds) for name in content["systems"][system.name]}
        assert content["systems"][system.name] == pytest.approx(expected)
        assert content["positions"] == len(kinds)


def test_t_tests_are_of_all_pairs_and_their_values(labelled: Pool):
    from scipy.stats import ttest_rel

    from evaluation.domain.labelset import label_set
    from evaluation.kernels.values import values

    table = pool_table(labelled)
    current = label_set(labelled, table, "current")
    found = values(current.prepared, current.state, ["macro_mrr"])["macro_mrr"].per_unit
    row = figures.t_tests(labelled)["measures"]["macro_mrr"]
    pairs = list(zip(*row["pairs"], strict=True))
    assert sorted(pairs) == [(0, 1), (0, 2), (1, 2)]
    for (one, other), p in zip(pairs, row["p"], strict=True):
        assert p == pytest.approx(ttest_rel(found[one], found[other]).pvalue)
    assert row["curve"] == sorted(row["p"], reverse=True)
    assert row["clustered"] is None


def test_every_figure_is_json_without_nan(labelled: Pool):
    for key in figures.QUICK:
        json.loads(json.dumps(figures.figure(labelled, key).content, allow_nan=False))


# -- kept -------------------------------------------------------------------------------------------------------


@pytest.fixture
def computed(monkeypatch) -> list[str]:
    """Keys in the order in which figures were computed."""
    keys: list[str] = []

    def counted(key, compute):
        return lambda pool: keys.append(key) or compute(pool)

    for key, compute in list(figures.QUICK.items()):
        monkeypatch.setitem(figures.QUICK, key, counted(key, compute))
    return keys


def test_a_figure_is_computed_once_for_a_version(labelled: Pool, computed):
    first = figures.figure(labelled, "metrics:current")
    again = figures.figure(labelled, "metrics:current")
    assert (again.pk, again.content, again.computed_at) == (first.pk, first.content, first.computed_at)
    assert computed == ["metrics:current"]
    assert first.version == version(labelled)


def test_a_label_makes_every_figure_old_and_nothing_else_does(labelled: Pool, computed):
    for _ in range(2):
        for key in figures.QUICK:
            figures.figure(labelled, key)
    assert computed == list(figures.QUICK)
    triple = labelled.triples.filter(judgement__verdict="negative")[0]
    before = figures.figure(labelled, "metrics:current").content
    judge(triple, "positive")
    after = figures.figure(labelled, "metrics:current").content
    assert after["counts"]["positive"] == before["counts"]["positive"] + 1
    assert computed == [*figures.QUICK, "metrics:current"]
    assert Figure.objects.count() == len(figures.QUICK)


def test_a_label_of_another_pool_changes_nothing_here(labelled: Pool, computed):
    from tests.factories import make_pool

    other = make_pool(labelled.graph, name="other")  # the same seeds: no run is extended
    figures.figure(labelled, "metrics:current")
    judge(other.triples.all()[0], "positive")
    figures.figure(labelled, "metrics:current")
    assert computed == ["metrics:current"]


@pytest.mark.django_db(transaction=True)
def test_stability_is_a_job_and_kept(labelled: Pool, monkeypatch):
    monkeypatch.setattr(figures, "REPEATS", 2)
    job = make_job(JobKind.EVALUATE, pool=labelled)
    execute(job.pk, "w")
    job.refresh_from_db()
    assert (job.state, job.error, job.percent) == ("done", "", 100)
    kept = figures.kept_figure(labelled, "stability:current")
    assert kept is not None and kept.version == version(labelled)
    assert len(kept.content["sizes"]) == 20
    monkeypatch.setattr(figures, "stability", lambda *args: pytest.fail("it was computed again"))
    assert figures.compute_stability(labelled).pk == kept.pk


def test_a_pool_without_new_labels_has_figures_all_the_same(pool: Pool):
    content = {key: figures.figure(pool, key).content for key in figures.QUICK}
    assert (
        content["metrics:seeds"]["systems"]["transe"]["micro_mrr"]
        == (content["metrics:current"]["systems"]["transe"]["micro_mrr"])
    )
    assert content["correlations:seeds:current"]["measures"]["micro_mrr"]["tau"] == pytest.approx(1)
