"""A pool of the town with labels, for the tests of evaluation."""

from __future__ import annotations

from pathlib import Path

import pytest

from pooling.models import Graph, Pool
from tests.factories import judge_all, make_pool, make_systems, make_town


@pytest.fixture
def town(db, tmp_path: Path) -> Graph:
    return make_town(tmp_path / "town")


@pytest.fixture
def pool(town: Graph) -> Pool:
    """Built by three systems, not labelled."""
    make_systems(town)
    return make_pool(town)


@pytest.fixture
def labelled(pool: Pool) -> Pool:
    judge_all(pool)
    return pool
