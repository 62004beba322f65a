"""Drawing seeds, and the report of how they compare with the test set."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from pooling.errors import PoolError
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool
from pooling.pools.build import create_pool
from pooling.pools.seeds import draw_seeds, seed_array, seed_report

RELATIONS = [12, 7, 1]  # test triples of each relation


@pytest.fixture
def graph() -> GraphArrays:
    """20 test triples of three relations, some train triples; every triple is another."""
    rows = [(i, r, (i + 1 + r) % 20) for r, n in enumerate(RELATIONS) for i in range(n)]
    train = np.array([(i, i % 2, (i + 9) % 20) for i in range(20)], dtype=np.int32)
    names = [f"e{i}" for i in range(20)]
    return GraphArrays(
        names,
        [""] * 20,
        [()] * 20,
        ["a", "b", "c"],
        ["N-N"] * 3,
        [""] * 3,
        [""] * 3,
        train,
        np.zeros((0, 3), np.int32),
        np.array(rows, dtype=np.int32),
    )


def rows(triples: np.ndarray) -> list[tuple[int, ...]]:
    return list(map(tuple, triples.tolist()))


@pytest.mark.parametrize(
    ("asked", "size", "words"),
    [
        ({}, 1, "sample 0.05 of test, seed 42"),
        ({"sample": 0.5, "seed": 1}, 10, "sample 0.5 of test, seed 1"),
        ({"sample": 0.001, "seed": 0}, 1, "sample 0.001 of test, seed 0"),
        ({"count": 7}, 7, "sample of 7 test triples, seed 42"),
        ({"count": 20, "stratify": "relation"}, 20, "sample of 20 test triples, stratified by relation, seed 42"),
        (
            {"sample": 0.5, "stratify": "relation,popularity"}, 10,
            "sample 0.5 of test, stratified by relation and popularity, seed 42",
        ),
    ],
)  # fmt: skip
def test_a_sample_is_from_test_as_large_as_asked_and_told_in_words(graph, asked, size, words):
    seeds, source = draw_seeds(graph, **asked)
    assert (len(seeds), len(set(rows(seeds))), source) == (size, size, words)
    assert set(rows(seeds)) <= set(rows(graph.test))
    assert rows(draw_seeds(graph, **asked)[0]) == rows(seeds)
    if size < len(graph.test):
        assert rows(draw_seeds(graph, **{**asked, "seed": 7})[0]) != rows(seeds)


def test_stratified_by_relation_each_has_its_share(graph):
    for seed in range(5):
        seeds, _ = draw_seeds(graph, count=10, stratify="relation", seed=seed)
        assert Counter(seeds[:, 1].tolist()) == {0: 6, 1: 4}  # 6, 3.5 and 0.5: the first of equal remainders
    counts = [Counter(draw_seeds(graph, count=10, seed=seed)[0][:, 1].tolist()) for seed in range(5)]
    assert any(count != {0: 6, 1: 4} for count in counts)


def test_more_seeds_are_none_of_those_there_are(graph):
    first, _ = draw_seeds(graph, count=12, seed=1)
    more, _ = draw_seeds(graph, count=8, seed=1, without=first)
    assert set(rows(first)).isdisjoint(rows(more))
    assert set(rows(first)) | set(rows(more)) == set(rows(graph.test))
    rest, source = draw_seeds(graph, sample=0.9, without=first)
    assert (len(rest), source) == (8, "sample 0.9 of test, seed 42")  # of all test triples, as many as are left
    with pytest.raises(PoolError, match=r"^Every test triple is a seed already.$"):
        draw_seeds(graph, count=1, without=graph.test)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"sample": 0.0}, "Sample 0.0: give a share of the test triples above 0 and at most 1."),
        ({"sample": float("nan")}, "Sample nan: give a share of the test triples above 0 and at most 1."),
        ({"count": 0}, "Count 0: give 1 to 20, the number of test triples to sample from."),
        ({"count": 21}, "Count 21: give 1 to 20, the number of test triples to sample from."),
        ({"sample": 0.1, "count": 2}, "A sample has a share or a count of the test triples, not both: leave one away."),
        ({"stratify": "colour"}, "Stratify by 'colour': choose relation or relation,popularity, or leave it out."),
        ({"seed": -1}, "Seed -1: give a whole number from 0."),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(graph, asked, message):
    with pytest.raises(PoolError) as caught:
        draw_seeds(graph, **asked)
    assert str(caught.value) == message


def test_a_graph_without_test_triples_has_no_seeds(graph):
    from dataclasses import replace

    with pytest.raises(PoolError, match=r"^The graph has no test triples to sample seeds from.$"):
        draw_seeds(replace(graph, test=np.zeros((0, 3), np.int32)))


def test_a_pool_has_the_seeds_that_were_asked_for(trained: Graph):
    pool = create_pool(trained, name="p", count=9, stratify="relation", seed=3)
    expected, source = draw_seeds(open_graph(trained), count=9, stratify="relation", seed=3)
    assert (rows(seed_array(pool)), pool.seed_source) == (rows(expected), source)
    with pytest.raises(PoolError, match=r"^Count 35: "):
        create_pool(trained, name="q", count=35)
    assert list(Pool.objects.values_list("name", flat=True)) == ["p"]


def test_the_report_compares_relation_shares(trained: Graph):
    pool, graph = create_pool(trained, name="p", count=9, seed=3), open_graph(trained)
    report = seed_report(pool)
    every = np.concatenate([graph.train, graph.valid, graph.test])
    of = {
        "seeds": Counter(seed_array(pool)[:, 1].tolist()),
        "test": Counter(graph.test[:, 1].tolist()),
        "whole": Counter(every[:, 1].tolist()),
    }
    assert (report.seeds, report.test, report.whole) == (9, 34, len(every))
    assert {row.relation for row in report.rows} == {graph.relations[r] for r in of["test"]}
    for row in report.rows:
        r = graph.relations.index(row.relation)
        assert (row.seeds, row.test, row.whole) == (of["seeds"][r], of["test"][r], of["whole"][r])
        assert (row.seeds_share, row.test_share) == pytest.approx((row.seeds / 9, row.test / 34))
        assert row.whole_share == pytest.approx(row.whole / len(every))
        assert row.points == pytest.approx(100 * (row.seeds / 9 - row.test / 34))
    differences = [abs(row.difference) for row in report.rows]
    assert differences == sorted(differences, reverse=True)

    def nats(p: Counter[int], q: Counter[int]) -> float:
        every = range(graph.num_relations)
        return float(stats.entropy([p[r] + 1 for r in every], [q[r] + 1 for r in every]))

    assert report.test_from_seeds == pytest.approx(nats(of["test"], of["seeds"]), rel=1e-12)
    assert report.whole_from_test == pytest.approx(nats(of["whole"], of["test"]), rel=1e-12)
    assert report.test_from_seeds != pytest.approx(report.whole_from_test)


def test_the_report_of_a_pool_without_seeds_is_of_test_alone(trained: Graph):
    pool = create_pool(trained, name="p", count=1)
    pool.seeds.all().delete()
    report = seed_report(pool)
    assert report.seeds == 0 and np.isnan(report.test_from_seeds)
    assert [row.seeds_share for row in report.rows] == [0.0] * len(report.rows)
