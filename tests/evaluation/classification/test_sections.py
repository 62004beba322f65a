"""The page Triple classification against the models' own scores, question by question."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics

from core.jobs.execution import execute
from evaluation.classification import sections
from evaluation.classification.judged import OUTSIDE, find_runs, score_missing
from evaluation.classification.kernel import LEAST, relation_thresholds
from evaluation.classification.sections import ANALYSIS
from evaluation.labels.pool_table import pool_table, whole_table
from evaluation.measures.label_state import LabelState
from evaluation.sections.compared import compared_of
from evaluation.sections.section import Section, Table
from evaluation.sections.settings import Settings
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Pool, System
from pooling.runs import score as runs
from pooling.runs.validation import read_validation, store_validation
from pooling.systems.shown_names import shown_name
from tests.evaluation.cases import columns_of, context_of, sections_of, without_positives
from tests.evaluation.max_k.test_stored_runs import import_own, store

NAMES = ["transe", "distmult", "complex"]


@pytest.fixture
def ready(labelled: Pool) -> Pool:
    store(labelled, *NAMES)
    for name in NAMES:
        store_validation(System.objects.get(graph=labelled.graph, name=name))
    return labelled


def table_of(sections: dict[str, Section], key: str) -> Table:
    return next(table for section in sections.values() for table in section.tables if table.key == key)


def own_scores(pool: Pool, name: str, triples: np.ndarray) -> np.ndarray:
    """The score of each triple, one question at a time, from the model itself."""
    scorer = runs.scorer_of(System.objects.get(graph=pool.graph, name=name), open_graph(pool.graph))
    asked = [(np.array([0]), np.array([h]), np.array([r]), int(t)) for h, r, t in triples.tolist()]
    return np.array([float(scorer.scores(s, h, r)[0, t]) for s, h, r, t in asked])


def judged_of(pool: Pool, assumed: bool) -> dict[tuple[int, int, int], bool]:
    """Seeds and what people said, from the rows of the database."""
    found = dict.fromkeys(pool.seeds.values_list("head", "relation", "tail"), True)
    rows = pool.triples.values_list("head", "relation", "tail", "reason", "judgement__verdict")
    for head, relation, tail, reason, verdict in rows:
        if verdict in ("positive", "negative"):
            found[head, relation, tail] = verdict == "positive"
        elif reason and assumed:
            found.setdefault((head, relation, tail), False)
    return found


@pytest.mark.parametrize("assumed", ["judged", "unjudged"])
def test_figures_are_those_of_scikit_learn_on_the_models_own_scores(ready: Pool, assumed: str):
    truth = judged_of(ready, assumed == "judged")
    triples, positive = np.array(list(truth)), np.array(list(truth.values()))
    assert positive.any() and not positive.all()
    found = columns_of(table_of(sections_of(ANALYSIS, context_of(ready, assumed=assumed)), "classification"))
    graph = open_graph(ready.graph)
    for name in NAMES:
        score = own_scores(ready, name, triples)
        seen = read_validation(System.objects.get(name=name).run)
        of_validation = own_scores(ready, name, seen.triples)
        thresholds = relation_thresholds(of_validation, seen.positive, seen.triples[:, 1], graph.num_relations)
        margin = score - thresholds.value[triples[:, 1]]
        called = margin >= 0
        expected = {
            "accuracy": metrics.accuracy_score(positive, called),
            "f1": metrics.f1_score(positive, called, zero_division=0),
            "precision": metrics.precision_score(positive, called, zero_division=0),
            "recall": metrics.recall_score(positive, called, zero_division=0),
            "ap": metrics.average_precision_score(positive, margin),
            "own": int(thresholds.own[np.unique(triples[:, 1])].sum()),
            "validation": float(((of_validation >= thresholds.value[seen.triples[:, 1]]) == seen.positive).mean()),
        }
        assert {key: found[key][name] for key in expected} == pytest.approx(expected)


def test_relations_are_shown_by_their_labels(ready: Pool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(GraphArrays, "relation_name", lambda graph, relation: f"label {relation}")
    keys = open_graph(ready.graph).relations
    rows = table_of(sections_of(ANALYSIS, context_of(ready)), "by-relation").rows
    assert rows and all(
        row[0] == {"value": row[0]["value"], "label": f"label {keys.index(row[0]['value'])}"} for row in rows
    )


def test_one_answer_for_every_triple_is_told_beside(ready: Pool):
    section = sections_of(ANALYSIS, context_of(ready))["classification"]
    truth = judged_of(ready, True)
    share = sum(truth.values()) / len(truth)
    assert f"{share:.3f}" in section.notes[1] and f"{1 - share:.3f}" in section.notes[1]
    accuracy = columns_of(section.tables[0])["accuracy"]
    worse = [name for name in NAMES if accuracy[name] <= max(share, 1 - share)]
    assert section.finding.startswith(shown_name(max(NAMES, key=lambda name: accuracy[name])))
    told, named = section.finding.partition("%")[2], worse if len(worse) < len(NAMES) else []
    assert all((shown_name(name) in told) == (name in named) for name in NAMES)
    assert ("None is better" in told) == (len(worse) == len(NAMES))


@pytest.mark.parametrize(("better", "told"), [(0, "None is better than"), (1, "are no better than"), (len(NAMES), "")])
def test_systems_are_named_that_are_no_better_than_one_answer(ready: Pool, monkeypatch, better: int, told: str):
    monkeypatch.setattr(sections, "_accuracies", lambda *_: [1.0] * better + [0.0] * (len(NAMES) - better))
    finding = sections_of(ANALYSIS, context_of(ready))["classification"].finding
    rest = finding.partition("triples are right.")[2]
    assert told in rest if told else rest == ""
    assert sum(shown_name(name) in rest for name in NAMES) == (len(NAMES) - 1 if better == 1 else 0)


def test_halves_are_decided_by_the_thresholds_of_the_other(ready: Pool):
    found = columns_of(table_of(sections_of(ANALYSIS, context_of(ready, assumed="judged", seed=3)), "halves"))
    table = pool_table(ready)
    chosen = context_of(ready).labels.state
    kept = np.isin(chosen, [LabelState.POSITIVE, LabelState.NEGATIVE, LabelState.ASSUMED_NEGATIVE])
    triples, positive = table.triples[kept], chosen[kept] == LabelState.POSITIVE
    questions = sorted({(h, r) for h, r, _ in triples.tolist()})
    order = np.random.default_rng([3, 0]).permutation(len(questions))
    first = {q for q, at in zip(questions, order.tolist(), strict=True) if at < len(questions) // 2}
    inside = np.array([(h, r) in first for h, r, _ in triples.tolist()])
    for name in NAMES:
        score, called = own_scores(ready, name, triples), np.zeros(len(triples), bool)
        for here in (inside, ~inside):
            other = score[~here], positive[~here], triples[~here, 1]
            of = relation_thresholds(*other, table.graph.num_relations, LEAST)
            called[here] = score[here] >= of.value[triples[here, 1]]
        assert found["accuracy"][name] == pytest.approx(metrics.accuracy_score(positive, called))


def test_relations_add_up_to_the_whole(ready: Pool):
    sections = sections_of(ANALYSIS, context_of(ready))
    rows = table_of(sections, "by-relation").rows
    counts = np.array([[row[1], row[2]] for row in rows])
    truth = judged_of(ready, True)
    assert counts.sum(axis=0).tolist() == [sum(truth.values()), len(truth) - sum(truth.values())]
    weighted = (np.array([row[3] for row in rows]) * counts.sum(axis=1)).sum() / len(truth)
    assert columns_of(table_of(sections, "classification"))["accuracy"]["transe"] == pytest.approx(weighted)


def test_systems_without_scores_are_named_with_a_button_that_scores_them(labelled: Pool):
    store(labelled, "transe", "complex")
    store_validation(System.objects.get(name="transe"))
    assert find_runs(labelled, pool_table(labelled)).missing == ["distmult", "complex"]
    sections = sections_of(ANALYSIS, context_of(labelled))
    assert [row[0] for row in sections["absent"].tables[0].rows] == ["distmult", "complex"]
    assert [(action.route, action.fields) for action in sections["absent"].actions] == [("classification-score", {})]
    assert [row[0] for row in table_of(sections, "classification").rows] == ["transe"]
    jobs = score_missing(labelled)
    assert [job.system.name for job in jobs if job.system] == ["distmult", "complex"]
    for job in jobs:
        execute(job.pk, "w")
    assert find_runs(labelled, pool_table(labelled)).missing == []
    assert "absent" not in sections_of(ANALYSIS, context_of(labelled))
    assert score_missing(labelled) == []


def test_an_imported_run_is_left_out_with_the_reason(ready: Pool, tmp_path: Path):
    import_own(ready, tmp_path)
    absent = sections_of(ANALYSIS, context_of(ready))["absent"]
    assert absent.tables[0].rows == [("outside", OUTSIDE)]
    assert absent.actions == [] and "scored once more" not in absent.text
    whole, chosen = (ANALYSIS.context(ready, Settings(systems=names)) for names in ((), ("transe", "complex")))
    assert "outside" in whole_table(ready).systems and "outside" not in whole.systems
    assert compared_of(whole)["lacking"] == {}  # a run that is not shown does not narrow what is compared
    assert "absent" not in {section.key for section in ANALYSIS.parts[0].compute(chosen)}


@pytest.mark.parametrize("labels", ["seeds", "full-test"])
def test_without_negatives_there_is_nothing_to_tell_apart(ready: Pool, labels: str):
    assert list(sections_of(ANALYSIS, context_of(ready, labels))) == ["one-sided"]


def test_without_positives_neither(ready: Pool):
    context = context_of(ready)
    assert list(sections_of(ANALYSIS, context_of(ready, without_positives(context.labels)))) == ["one-sided"]


# -- families of seeds --------------------------------------------------------------------------------------------

SEEDS = ["transe-s1", "transe", "transe-s2"]  # the chosen one first


def store_all(pool: Pool, *names: str) -> None:
    store(pool, *names)
    for name in names:
        store_validation(System.objects.get(graph=pool.graph, name=name))


def test_a_family_has_its_chosen_seed_with_mean_and_deviation(with_seeds: Pool):
    store_all(with_seeds, *SEEDS, "distmult", "complex")
    each, folded = (sections_of(ANALYSIS, context_of(with_seeds, seeds=seeds)) for seeds in ("each", "families"))
    for key in ("classification", "halves"):
        one, other = table_of(folded, key), {row[0]: row for row in table_of(each, key).rows}
        assert [row[0] for row in one.rows] == ["transe-s1", "distmult", "complex"]
        for i in (i for i, column in enumerate(one.columns) if column.kind == "value"):
            single = [other[seed][i] for seed in SEEDS]
            found = one.rows[0][i]
            assert isinstance(found, dict) and (found["value"], found["n"]) == (single[0], 3)
            assert (found["mean"], found["sd"]) == (
                pytest.approx(np.mean(single)),
                pytest.approx(np.std(single, ddof=1)),
            )
            assert not any(isinstance(row[i], dict) for row in one.rows[1:])


def test_a_family_has_no_mean_while_a_seed_lacks_its_scores(with_seeds: Pool):
    store_all(with_seeds, "transe-s1", "transe", "distmult", "complex")
    sections = sections_of(ANALYSIS, context_of(with_seeds, seeds="families"))
    assert [row[0] for row in sections["absent"].tables[0].rows] == ["transe-s2"]
    row = table_of(sections, "classification").rows[0]
    assert row[0] == "transe-s1" and not any(isinstance(value, dict) for value in row)


def test_without_scores_of_a_shown_system_only_that_is_said(with_seeds: Pool):
    store_all(with_seeds, "transe")
    assert list(sections_of(ANALYSIS, context_of(with_seeds, seeds="families"))) == ["absent"]
