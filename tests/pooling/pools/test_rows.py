"""Rows of pooled triples: what is written is what is read, on both databases."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.postgres import printed_on_postgres

PROGRAM = """
import json, django
django.setup()
from tests.pooling.pools.test_rows import written_twice
print(json.dumps(written_twice()))
"""
FIRST = [[0, 1, 2, 1, "", [[0, 0, 1], [1, 1, 300]]], [2, 0, 1, 3, "types", [[255, 1, 100]]], [70_000, 1, 2, 9, "", []]]
SECOND = [
    [0, 1, 2, 1, "", [[0, 0, 1], [1, 1, 300]]],  # not written again
    [2, 0, 1, 2, "category-head", [[0, 0, 2], [255, 1, 100]]],
    [70_000, 1, 2, 9, "", []],
    [1, 1, 1, 5, "", [[2, 0, 5]]],
    [0, 0, 0, 7, "types", [[2, 1, 7]]],
]


def written_twice() -> list[object]:
    """Write the first triples of two pools, then the second ones over them; the rows after each."""
    from django.db import transaction

    from pooling.pools.rows import read_rows, write_rows

    pools = [empty_pool(name) for name in "ab"]  # two pools hold the same triples, and are two
    told: list[object] = []
    ids: list[list[int]] = [[], []]
    for rows, chosen in ((FIRST, [0, 1, 2]), (SECOND, [1, 3, 4])):
        gathered, reason = gathered_of(rows)
        for pool, before in zip(pools, ids, strict=True):
            with transaction.atomic():
                write_rows(pool, gathered, reason, np.array(chosen))
            after = read_rows(pool)[0].tolist()
            assert after == [*before, *after[len(before) :]]  # who was there has the same id
            before[:] = after
            told.append(stored_of(pool))
    return told


def empty_pool(name: str = "p"):
    from pooling.models import Graph, Pool

    counts = dict.fromkeys(("num_entities", "num_relations", "num_train", "num_valid", "num_test"), 1)
    graph = Graph.objects.create(name=f"of {name}", source="tsv", artifact="graphs/0", **counts)
    return Pool.objects.create(graph=graph, name=name, origin="built", depth=9, seed_source="s")


def gathered_of(rows):
    from pooling.pools.kernels.gathering import PROVENANCE, Gathered

    findings = np.array([tuple(f) for row in rows for f in row[5]], dtype=PROVENANCE)
    indptr = np.cumsum([0, *(len(row[5]) for row in rows)])
    triples = np.array([row[:3] for row in rows], dtype=np.int32)
    reason = np.array([row[4] for row in rows], dtype=object)
    return Gathered(triples, np.array([row[3] for row in rows]), findings, indptr), reason


def stored_of(pool) -> list[list[object]]:
    from pooling.pools.rows import read_rows

    _, gathered, reason = read_rows(pool)
    findings = [list(f) for f in gathered.findings.tolist()]
    start = gathered.indptr.tolist()
    return [
        [*triple, depth, why, findings[start[i] : start[i + 1]]]
        for i, (triple, depth, why) in enumerate(
            zip(gathered.triples.tolist(), gathered.depth.tolist(), reason.tolist(), strict=True)
        )
    ]


@pytest.mark.django_db
def test_written_rows_are_read_back_and_written_over_in_their_place():
    assert written_twice() == [FIRST, FIRST, SECOND, SECOND]


@pytest.mark.postgres
def test_postgresql_writes_the_same(tmp_path: Path, migrated_postgres: str):
    printed = printed_on_postgres(PROGRAM, like=migrated_postgres, var=tmp_path)
    assert json.loads(printed) == [FIRST, FIRST, SECOND, SECOND]


@pytest.mark.django_db
def test_an_empty_pool_is_read_as_one():
    from pooling.pools.rows import read_rows

    ids, gathered, reason = read_rows(empty_pool())
    assert (len(ids), gathered.triples.shape, gathered.indptr.tolist(), len(reason)) == (0, (0, 3), [0], 0)
