"""The page Open world of a pool: β counted from the graph, reported values from the models' own scores."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import pool_table
from evaluation.measures.label_state import LabelState
from evaluation.open_world import pool_world
from evaluation.open_world.kernels.theory import expected_metric
from evaluation.open_world.sections import ANALYSIS
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from pooling.systems.shown_names import shown_name
from tests.evaluation.cases import columns_of, context_of, nothing_returned, reciprocal_ranks, sections_of
from tests.evaluation.oracle import sides

MEASURES = {"mrr": "micro_mrr", "hits-10": "micro_hits@10", "log-mrr": "micro_log_mrr", "p-mrr": "micro_p_mrr"}


@pytest.fixture
def positives(labelled: Pool) -> tuple[set, set]:
    """Seeds, and positives that are no test triple."""
    table = pool_table(labelled)
    state = label_set(labelled, table, "current").state
    of = [tuple(triple) for triple in table.triples[state == LabelState.POSITIVE].tolist()]
    seeds = {tuple(triple) for triple in table.triples[table.is_seed].tolist()}
    return seeds, set(of) - seeds


def questions_of_seeds(seeds: set) -> set:
    return {question for seed in seeds for question, _ in sides(seed)}


def test_share_of_each_relation_is_counted_from_triples(labelled: Pool, positives, monkeypatch):
    monkeypatch.setattr(pool_world, "LEAST_JUDGED", 1)
    seeds, new = positives
    graph = open_graph(labelled.graph)
    asked = questions_of_seeds(seeds)
    of_new = [question for triple in new for question, _ in sides(triple) if question in asked]
    of_test = [question for t in graph.test.tolist() for question, _ in sides(tuple(t)) if question in asked]
    assert of_new and len(of_test) > 2 * len(seeds), "unsampled test answers count too"
    found = columns_of(sections_of(ANALYSIS, context_of(labelled))["share"].tables[0])
    assert found["new"]["all relations"] == len(of_new)
    assert found["test"]["all relations"] == len(of_test)
    share = len(of_new) / (len(of_new) + len(of_test))
    assert found["beta"]["all relations"] == pytest.approx(share)
    assert found["questions"]["all relations"] == len(asked)
    assert sum(n for name, n in found["new"].items() if name != "all relations") == len(of_new)


def test_relations_with_few_judged_are_one_group(labelled: Pool, monkeypatch):
    every = columns_of(sections_of(ANALYSIS, context_of(labelled))["share"].tables[0])
    monkeypatch.setattr(pool_world, "LEAST_JUDGED", 10**6)
    monkeypatch.setattr("evaluation.open_world.sections.LEAST_JUDGED", 10**6)
    section = sections_of(ANALYSIS, context_of(labelled))["share"]
    found = columns_of(section.tables[0])
    assert len(found["new"]) == 2 and section.chart is None
    assert found["beta"]["all relations"] == every["beta"]["all relations"]
    group = next(name for name in found["new"] if "with fewer than" in name)
    assert found["judged"][group] == found["judged"]["all relations"]


@pytest.mark.parametrize("key", MEASURES)
def test_reported_and_completed_are_the_measures_of_the_registry(labelled: Pool, key: str):
    table, name = pool_table(labelled), MEASURES[key]
    columns = columns_of(sections_of(ANALYSIS, context_of(labelled))[f"metric-{key}"].tables[0])
    for column, labels in (("sparse", "seeds"), ("every", "current")):
        values = label_set(labelled, table, labels, "original").values([name])[name].mean()
        assert list(columns[column].values()) == pytest.approx(values.tolist())


def test_strength_is_of_the_seeds_with_the_new_answers_filtered_out(labelled: Pool, positives):
    seeds, new = positives
    own = {(question, entity) for seed in seeds for question, entity in sides(seed)}
    ranks = [found for q, e, found in reciprocal_ranks(labelled, seeds | new) if (q, e) in own]
    columns = columns_of(sections_of(ANALYSIS, context_of(labelled))["metric-mrr"].tables[0])
    for system, told in columns["completed"].items():
        assert told == pytest.approx(np.mean([found[system] for found in ranks]))
        assert told >= columns["sparse"][system]
    assert any(columns["completed"][s] > columns["sparse"][s] for s in columns["sparse"])


def test_expected_is_the_mean_over_seeds_of_the_theory(labelled: Pool, positives, monkeypatch):
    monkeypatch.setattr(pool_world, "LEAST_JUDGED", 1)
    seeds, new = positives
    sections = sections_of(ANALYSIS, context_of(labelled))
    relations = open_graph(labelled.graph).relations
    beta = columns_of(sections["share"].tables[0])["beta"]
    test = {tuple(t) for t in open_graph(labelled.graph).test.tolist()}
    answers: dict = {}
    for triple in test | new:
        for question, _ in sides(triple):
            answers[question] = answers.get(question, 0) + 1
    columns = columns_of(sections["metric-mrr"].tables[0])
    overall = beta["all relations"]
    for system, told in columns["expected"].items():
        of = [
            expected_metric(
                answers[question],
                beta.get(relations[seed[1]], overall),  # where nothing is judged, that of the pool
                columns["completed"][system],
                "mrr",
            )
            for seed in seeds
            for question, _ in sides(seed)
        ]
        assert told == pytest.approx(float(np.mean(of)))
        assert columns["difference"][system] == pytest.approx(columns["sparse"][system] - told)


def test_a_system_that_returned_nothing_reports_nothing(labelled: Pool):
    cut = nothing_returned(label_set(labelled, pool_table(labelled), "current"), 1)
    columns = columns_of(sections_of(ANALYSIS, context_of(labelled, cut))["metric-p-mrr"].tables[0])
    system = list(columns["sparse"])[1]
    assert {columns[key][system] for key in ("sparse", "expected", "completed", "every")} == {0.0}


@pytest.mark.parametrize(
    ("labels", "words"),
    [("seeds", "No candidate is judged under seeds only"), ("full-test", "has no judged candidates")],
)
def test_where_nothing_is_judged_it_says_so(labelled: Pool, labels: str, words: str):
    [section] = sections_of(ANALYSIS, context_of(labelled, labels)).values()
    assert words in section.text and not section.tables


def test_an_unlabelled_pool_says_so(pool: Pool):
    [section] = sections_of(ANALYSIS, context_of(pool)).values()
    assert "label some candidates" in section.text and not section.tables


def test_what_is_said_is_what_the_tables_have(labelled: Pool, monkeypatch):
    monkeypatch.setattr(pool_world, "LEAST_JUDGED", 1)
    sections = sections_of(ANALYSIS, context_of(labelled))
    shares = columns_of(sections["share"].tables[0])
    of = {key: shares[key]["all relations"] for key in ("questions", "candidates", "judged", "new", "test", "beta")}
    assert sections["share"].finding == (
        f"At least {100 * of['beta']:.1f} % of the right answers are missing: {of['new']} new ones beside {of['test']}"
        " of the test set."
    )
    assert (
        sections["share"]
        .notes[0]
        .startswith(
            f"This is a lower bound. {of['candidates'] - of['judged']} of {of['candidates']} candidates are not judged"
        )
    )
    assert shares["per_question"]["all relations"] == pytest.approx((of["new"] + of["test"]) / of["questions"])
    own = [value for name, value in shares["beta"].items() if name != "all relations" and "fewer" not in name]
    assert len(set(own)) > 1 and own == sorted(own, reverse=True)
    for key, label in (("mrr", "MRR"), ("p-mrr", "p-MRR")):
        section = sections[f"metric-{key}"]
        columns = columns_of(section.tables[0])
        most = max(columns["sparse"], key=lambda s: columns["completed"][s] - columns["sparse"][s])
        completed = columns["completed"][most]
        assert section.finding == (
            f"{shown_name(most)} loses most: {completed - columns['sparse'][most]:.3f} of {completed:.3f} {label};"
            f" theory expects {completed - columns['expected'][most]:.3f}."
        )
