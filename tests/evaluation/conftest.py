"""A pool of the town with labels, for the tests of evaluation."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from django.core.cache import cache

from evaluation.analyses import stability, tukey_hsd
from evaluation.labels import pool_table
from pooling.models import Graph, Pool, System
from pooling.runs import files
from tests.evaluation.rank_world import world  # noqa: F401 - a fixture
from tests.factories import judge_all, make_pool, make_system, make_systems, make_town
from tests.kept import keep

FILTERS = ("category-head", "category-tail", "types")  # without self-answer: figures of tests are of this pool


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _nothing_in_memory():
    """Row ids come back in every test: what was read for the last one must not be taken for this one's."""
    pool_table._tables.clear()
    files._cache.clear()
    cache.clear()


@pytest.fixture
def town(db, tmp_path: Path) -> Graph:
    keep("town", lambda: make_town(tmp_path / "town"))
    return Graph.objects.get(name="town")


@pytest.fixture
def pool(town: Graph) -> Pool:
    """Built by three systems, not labelled."""
    keep("pool", lambda: (make_systems(town), make_pool(town, filters=FILTERS)))
    return Pool.objects.get(name="p")


@pytest.fixture
def labelled(pool: Pool) -> Pool:
    keep("labelled", lambda: judge_all(pool))
    return pool


@pytest.fixture
def few_repeats(monkeypatch) -> None:
    """Subsets and permutations by the handful, for tests that look at no number of theirs."""
    monkeypatch.setattr(stability, "REPEATS", 4)
    monkeypatch.setattr(tukey_hsd, "PERMUTATIONS", 200)


@pytest.fixture
def with_seeds(town: Graph) -> Pool:
    """Labelled, and built by three seeds of TransE, of which the second is the best by validation, and two others."""

    def make() -> None:
        for seed, mrr in enumerate((0.2, 0.4, 0.3)):
            make_system(town, "transe", seed=seed)
            System.objects.filter(kind="transe", seed=seed).update(validation_mrr=mrr)
        make_systems(town, ["distmult", "complex"])
        judge_all(make_pool(town, filters=FILTERS))

    keep("with_seeds", make)
    return Pool.objects.get(name="p")
