from __future__ import annotations

from pathlib import Path

import pytest
from django.core.cache import cache
from django.test import Client

from tests.pages.world import make_graph, make_person


@pytest.fixture(autouse=True)
def _no_cache_between_tests():
    cache.clear()


@pytest.fixture
def graph(db, tmp_path: Path):
    return make_graph(tmp_path / "tsv")


@pytest.fixture
def manager(db) -> Client:
    client = Client()
    client.force_login(make_person("boss", site="manager"))
    return client
