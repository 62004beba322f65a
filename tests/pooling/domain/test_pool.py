"""Pools, from seeds to filtered triples."""

from tests.factories import *


def test_try(pool):
    from pooling.domain.pool import pool_counts

    print(pool_counts(pool))
    print({r.key: r.category for r in pool.graph.relations.all()})
    assert 0
