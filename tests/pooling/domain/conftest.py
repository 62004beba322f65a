"""Pools that the tests of growing start from."""

from __future__ import annotations

import pytest

from pooling.models import Graph, Pool
from tests.factories import make_pool, make_system


@pytest.fixture
def small(trained: Graph) -> Pool:
    """Two of four systems, depth 2, a few seeds."""
    make_system(trained, "rescal")
    return make_pool(trained, sample=0.2, depth=2, systems=["distmult", "transe"])
