"""The town of tests/factories.py for the tests of pooling."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from pooling.models import Graph, Pool
from tests.factories import make_pool, make_system, make_systems, make_town
from tests.kept import keep


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def town(db, tmp_path: Path) -> Graph:
    keep("town", lambda: make_town(tmp_path / "town"))
    return Graph.objects.get(name="town")


@pytest.fixture
def trained(town: Graph) -> Graph:
    """The town with three trained systems."""
    keep("trained", lambda: make_systems(town))
    return town


@pytest.fixture
def pool(trained: Graph) -> Pool:
    keep("pool", lambda: make_pool(trained))
    return Pool.objects.get(name="p")


@pytest.fixture
def small(trained: Graph) -> Pool:
    """Two of four systems, depth 2, a few seeds."""
    make_system(trained, "rescal")
    return make_pool(trained, sample=0.2, depth=2, systems=["distmult", "transe"])
