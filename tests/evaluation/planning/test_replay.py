from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, sem
from scipy.stats import t as student

from core.errors import UserError
from evaluation.labels.pool_table import EvaluationError
from evaluation.measures.registry import parse_measure
from evaluation.planning.replay import (
    Ranker,
    Truth,
    known_pool,
    read_truth,
    replay_orders,
    spread,
    triples_for_positives,
    triples_until_stable,
)
from evaluation.sections.metrics import metrics
from evaluation.statistics.correlation import merit
from pooling.graphs.opening import closed_world_triples
from pooling.models import Graph, Pool, PooledTriple
from pooling.orders import ORDERS
from pooling.orders.batch import replay
from tests.factories import judge, make_pool, make_systems, names_of

MEASURES = ["micro_mr", "macro_mrr", "map@20"]
ANSWERS = {"Y": "positive", "N": "negative", "?": "undecided"}


def draw(pool: Pool) -> dict[int, str]:
    """Answers of all triples for people but one, and of two filtered ones, by id."""
    rng = np.random.default_rng(3)
    people = pool.triples.filter(reason="").order_by("id").values_list("pk", flat=True)
    filtered = pool.triples.exclude(reason="").order_by("id").values_list("pk", flat=True)
    given = {pk: str(rng.choice(["Y", "N", "N", "N", "?"])) for pk in people[1:]}
    return {**given, **dict(zip(filtered[:2], "YN", strict=True))}


def write(pool: Pool, answers: dict[int, str], path: Path, *more: str) -> Path:
    rows = {t.pk: names_of(pool.graph, (t.head, t.relation, t.tail)) for t in pool.triples.all()}
    path.write_text("".join("\t".join([*rows[pk], answer]) + "\n" for pk, answer in answers.items()) + "".join(more))
    return path


@pytest.fixture
def truth(pool: Pool) -> Truth:
    return Truth({pk: ANSWERS[answer] for pk, answer in draw(pool).items()}, [])  # type: ignore[misc]


def means_with(pool: Pool, truth: Truth, judged: list[int]) -> dict[str, dict[str, float]]:
    """Of every system, with judgements in the database of these triples and of the filtered ones with a label."""
    pool.judgements.all().delete()
    filtered = pool.triples.exclude(reason="").values_list("pk", flat=True)
    for triple in pool.triples.filter(pk__in=truth.verdicts.keys() & {*judged, *filtered}):
        judge(triple, truth.verdicts[triple.pk])
    return metrics(pool, measures=MEASURES)["systems"]


def scipy_taus(now: dict[str, dict[str, float]], goal: dict[str, dict[str, float]]) -> list[float]:
    taus = []
    for name in MEASURES:
        higher = parse_measure(name).higher_is_better
        one, other = (merit(np.array([of[s][name] for s in of]), higher) for of in (now, goal))
        taus.append(kendalltau(one, other).statistic)
    return taus


def test_a_curve_equals_judging_in_the_database(pool: Pool, truth: Truth):
    everything = list(pool.triples.filter(reason="").values_list("pk", flat=True))
    goal = means_with(pool, truth, everything)
    known = known_pool(pool, truth)
    judged = replay(ORDERS["random"], known.stock.pool, known.label, seed=4)
    curve = Ranker(known, MEASURES).curve(judged)
    yes = [truth.verdicts.get(known.stock.triple_id[i]) == "positive" for i in judged.tolist()]
    assert curve.found.tolist() == [sum(yes[:count]) for count in range(len(yes) + 1)]
    different = 0
    for step in (0, 7, 30, 55, 80, 100):
        count = round(step * len(judged) / 100)
        ids = [int(known.stock.triple_id[i]) for i in judged[:count].tolist()]
        expected = scipy_taus(means_with(pool, truth, ids), goal)
        np.testing.assert_allclose(curve.tau[:, step], expected, atol=1e-12)
        different += min(expected) < 1
    assert different > 1
    assert curve.tau[:, 100].tolist() == [1, 1, 1]


def test_nothing_is_written(pool: Pool, truth: Truth):
    before = PooledTriple.objects.count()
    replay_orders(pool, truth, ["hedge"], measures=MEASURES)
    assert (pool.judgements.count(), PooledTriple.objects.count()) == (0, before)


def test_the_summary_is_over_the_seeds(pool: Pool, truth: Truth):
    heard: list[tuple[int, int]] = []
    content = replay_orders(
        pool,
        truth,
        ["random", "hedge"],
        measures=MEASURES,
        batch=3,
        whole_groups=True,
        seeds=[5, 6, 7],
        shares=[0, 20, 100],
        tell=lambda done, total: heard.append((done, total)),
    )
    known = known_pool(pool, truth)
    n, ranker = len(known.label), Ranker(known, MEASURES)
    curves = [
        ranker.curve(replay(ORDERS["random"], known.stock.pool, known.label, batch=3, whole_groups=True, seed=seed))
        for seed in (5, 6, 7)
    ]
    assert {key: content[key] for key in ("pool", "triples", "batch", "whole_groups", "seeds", "shares")} == {
        "pool": "p",
        "triples": n,
        "batch": 3,
        "whole_groups": True,
        "seeds": [5, 6, 7],
        "shares": [0, 20, 100],
    }
    assert content["positives"] == list(truth.verdicts.values()).count("positive") - 1  # one is filtered
    assert content["systems"] == content["runs"] == ["transe", "distmult", "complex"]
    assert content["judged"] == [0, round(n / 5), n]
    found = content["orders"]["random"]
    at = round(n / 5)
    assert found["recall"] == [spread([c.found[i] / c.found[-1] for c in curves]).json() for i in (0, at, n)]
    assert found["tau"] == {
        name: [spread([c.tau[i, step] for c in curves]).json() for step in (0, 20, 100)]
        for i, name in enumerate(MEASURES)
    }
    assert found["triples_for_positives"] == spread([triples_for_positives(c.found) for c in curves]).json()
    assert found["triples_until_stable"] == {
        name: spread([triples_until_stable(c.tau[i], known.steps) for c in curves]).json()
        for i, name in enumerate(MEASURES)
    }
    assert found != content["orders"]["hedge"]
    assert heard[-1] == (6 * n, 6 * n)
    assert [done for done, _ in heard] == sorted(done for done, _ in heard)


def test_spread_is_students_interval():
    values = [0.1, 0.4, 0.5, 0.7]
    low, high = student.interval(0.95, 3, loc=np.mean(values), scale=sem(values))
    np.testing.assert_allclose(spread(values), (0.425, low, high))
    assert spread([0.3])[0] == 0.3
    assert spread([0.3]).json() == {"mean": 0.3, "low": None, "high": None}
    assert spread([0.3, math.nan]).json() == {"mean": None, "low": None, "high": None}


@pytest.mark.parametrize(
    ("found", "expected"), [([0, 1, 1, 2, 3, 4, 5], 5), ([0, 5, 5, 5, 5, 5, 5], 1), ([0, 0, 0, 0, 0, 0, 1], 6)]
)
def test_triples_for_positives(found, expected):
    assert triples_for_positives(np.array(found)) == expected


@pytest.mark.parametrize(
    ("tau", "expected"),
    [
        ([0.9, 1.0, 0.95, 1.0], 0),
        ([1.0, 0.8, 0.9, 1.0], 20),
        ([0.2, 1.0, 1.0, 0.89], math.nan),
        ([math.nan, 0.9, 1.0, 1.0], 10),
        ([math.nan] * 4, math.nan),
        ([0.5, 0.9 - 1e-12, 1.0, 1.0], 10),
    ],
)
def test_triples_until_stable(tau, expected):
    found = triples_until_stable(np.array(tau), np.array([0, 10, 20, 30]))
    np.testing.assert_array_equal(found, expected)


# -- truth --------------------------------------------------------------------------------------------------------


def test_the_truth_of_a_file_is_its_majority_and_what_is_skipped(pool: Pool, tmp_path: Path):
    answers = draw(pool)
    first, second, third = list(answers)[:3]
    repeated = "".join(
        "\t".join([*names_of(pool.graph, pool.triples.values_list("head", "relation", "tail").get(pk=pk)), answer])
        + "\n"
        for pk, answer in ((first, "Y"), (first, "Y"), (second, "Y"), (second, "N"))
    )
    answers |= {first: "N", second: "?"}
    seed = "\t".join([*names_of(pool.graph, pool.seeds.values_list("head", "relation", "tail").first()), "Y"])
    path = write(pool, answers, tmp_path / "labels.tsv", repeated, "nobody\tknows\tp7\tY\n", seed)
    truth = read_truth(pool, str(path))
    assert truth.verdicts == {pk: ANSWERS[a] for pk, a in answers.items()} | {first: "positive", second: "undecided"}
    line = len(answers) + 5
    assert truth.notes == [
        f"labels.tsv:{line}: the graph does not have head 'nobody'",
        f"labels.tsv:{line + 1}: is a seed triple, positive by definition",
    ]
    assert truth.verdicts[third] == ANSWERS[answers[third]]
    assert not pool.judgements.exists()


def test_a_file_that_is_not_there(pool: Pool, tmp_path: Path):
    with pytest.raises(UserError, match="No such file"):
        read_truth(pool, str(tmp_path / "none.tsv"))


def test_a_truth_without_a_positive_is_refused(pool: Pool, truth: Truth):
    nothing = Truth(dict.fromkeys(truth.verdicts, "negative"), [])  # type: ignore[misc]
    people = pool.triples.filter(reason="").count()
    with pytest.raises(EvaluationError) as caught:
        known_pool(pool, nothing)
    assert str(caught.value) == (
        f"The truth has no positive among the {people} triples that people judge in pool p: there is nothing to find. "
        "Give the labels of this very pool."
    )


def test_depth_can_be_that_of_the_runs(pool: Pool, truth: Truth):
    own = known_pool(pool, truth).stock.pool
    pool.triples.update(depth=7)
    assert known_pool(pool, truth).stock.pool.depth.tolist() == [7] * own.size
    by_runs = known_pool(pool, truth, depth_of_runs=True).stock.pool
    assert by_runs.depth.tolist() == own.depth.tolist()  # the runs are those that made the pool
    assert by_runs.group.tolist() == own.group.tolist()
    pool.triples.filter(pk=int(known_pool(pool, truth).stock.triple_id[0])).update(provenance=b"")
    without = known_pool(pool, truth, depth_of_runs=True).stock.pool
    assert without.depth.tolist() == [without.ranks.max() + 1, *own.depth[1:].tolist()]  # after all that a run holds


def test_a_triple_without_a_label_stays_unjudged(pool: Pool, truth: Truth):
    known = known_pool(pool, truth)
    first = int(known.stock.triple_id[0])
    assert first not in truth.verdicts
    assert known.label[0] == -1
    assert known.full[known.place[0]] == 1  # UNJUDGED


@pytest.mark.django_db
def test_the_closed_world_is_the_truth_of_the_family(tmp_path: Path):
    from pooling.graphs.bundled import FamilyOptions, family_tree
    from pooling.graphs.imports import import_graph

    graph: Graph = import_graph("family", family_tree(FamilyOptions(families=1)), options={})
    make_systems(graph, ("distmult", "transe"))
    pool = make_pool(graph, name="f", sample=0.05)
    truth = read_truth(pool, "closed-world")
    facts = {tuple(t) for t in closed_world_triples(graph).tolist()}
    people = pool.triples.filter(reason="").values_list("pk", "head", "relation", "tail")
    assert truth.verdicts == {pk: "positive" if tuple(t) in facts else "negative" for pk, *t in people}
    assert set(truth.verdicts.values()) == {"positive", "negative"}
