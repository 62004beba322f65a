"""The rank table: complete systems only, from memory while nothing changed, a version that changes when it must."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.labels import pool_table as tables
from evaluation.labels.pool_table import pool_table, ranks_version, systems_with_runs, version
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool
from pooling.pools.build import create_pool
from pooling.runs.files import RunError
from pooling.runs.score import score_for_pool, score_system
from pooling.training.upkeep import archive
from tests.evaluation.oracle import Oracle, sides
from tests.factories import judge, make_pool, make_system, progress_of


def test_positions_of_the_pool_are_those_among_its_candidates(pool: Pool):
    table = pool_table(pool)
    ranks = table.pool.table
    for i, system in enumerate(systems_with_runs(pool)):
        oracle = Oracle(pool, system)
        for row in range(ranks.rows):
            triple = tuple(table.triples[ranks.triple[row]].tolist())
            side = int(ranks.side[ranks.question[row]])
            question, entity = sides(triple)[side]
            assert ranks.entity[row] == entity
            assert ranks.strict[i, row] == 1 + oracle.ranking(question).index(entity)
            assert ranks.candidates[ranks.question[row]] == len(oracle.ranking(question))


def test_what_is_known_of_the_triples(pool: Pool):
    table, graph = pool_table(pool), open_graph(pool.graph)
    triples = list(map(tuple, table.triples.tolist()))
    seeds = set(pool.seeds.values_list("head", "relation", "tail"))
    pooled = {(t.head, t.relation, t.tail): t for t in pool.triples.all()}
    test = set(map(tuple, graph.test.tolist()))
    assert set(triples) == test | set(pooled)
    assert len(set(triples)) == len(triples)
    for i, triple in enumerate(triples):
        row = pooled.get(triple)
        assert (table.is_seed[i], table.is_test[i]) == (triple in seeds, triple in test)
        assert table.pooled_id[i] == (row.pk if row else 0)
        assert table.depth[i] == (row.depth if row else 0)
        assert table.filtered[i] == bool(row and row.reason)
    assert table.position_of == {row.pk: triples.index(t) for t, row in pooled.items()}


def test_a_system_without_all_rank_rows_is_left_out(pool: Pool):
    late = make_system(pool.graph, "rescal")
    graph = open_graph(pool.graph)
    score_system(late, seeds=np.zeros((0, 3), np.int32), triples=graph.test)
    assert (pool_table(pool).systems, pool_table(pool).left_out) == (["transe", "distmult", "complex"], ["rescal"])
    score_for_pool(late, pool, progress_of(pool))
    assert (pool_table(pool).systems, pool_table(pool).left_out) == (["transe", "distmult", "complex", "rescal"], [])


def test_without_a_complete_run_there_is_no_table(town: Graph):
    system = make_system(town, "transe")
    pool = create_pool(town, name="p")
    with pytest.raises(RunError) as caught:
        pool_table(pool)
    assert str(caught.value) == (
        "No system has the rank rows that pool p needs: train systems on town, then have its systems scored on its "
        "overview, or by score_runs p."
    )
    score_system(system, seeds=np.zeros((0, 3), np.int32), triples=open_graph(town).test[:3])
    with pytest.raises(RunError) as caught:
        pool_table(pool)
    assert str(caught.value) == (
        "No system has the rank rows that pool p needs (incomplete: transe). Run score_runs p."
    )


def test_the_table_is_built_once_until_ranks_change(pool: Pool, monkeypatch):
    built: list[str] = []
    build = tables._build
    monkeypatch.setattr(tables, "_build", lambda p: built.append(p.name) or build(p))
    first = pool_table(pool)
    judge(pool.triples.all()[0], "positive")
    assert pool_table(pool) is first
    assert built == ["p"]
    make_pool(pool.graph, name="other", seed=9)  # extends the runs
    assert pool_table(pool) is not first
    assert built == ["p", "p"]


def test_the_version_changes_with_a_label_a_run_and_a_pooled_triple_and_only_then(pool: Pool):
    seen = [version(pool), version(pool)]
    assert seen[0] == seen[1]
    triple = pool.triples.order_by("id")[0]
    judge(triple, "positive")
    seen.append(version(pool))
    judge(triple, "negative")
    seen.append(version(pool))
    ranks = ranks_version(pool)
    pool.triples.order_by("-id")[0].delete()
    seen.append(version(pool))
    assert ranks_version(pool) != ranks
    ranks = ranks_version(pool)
    score_for_pool(make_system(pool.graph, "rescal"), pool, progress_of(pool))
    seen.append(version(pool))
    assert ranks_version(pool) != ranks
    assert len(set(seen)) == 5


def test_an_archived_system_stays_where_a_pool_uses_it_and_leaves_the_others(pool: Pool):
    used = list(systems_with_runs(pool))
    added = make_system(pool.graph, "rescal")
    score_for_pool(added, pool, progress_of(pool))
    assert systems_with_runs(pool) == [*used, added]
    ranks = ranks_version(pool)
    for system in (used[0], added):
        archive(system, None)
    assert systems_with_runs(pool) == used
    assert pool_table(pool).systems == [system.name for system in used]
    assert ranks_version(pool) != ranks
