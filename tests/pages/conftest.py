from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from tests.pages.world import make_world


@pytest.fixture(autouse=True)
def _no_cache_between_tests():
    from django.core.cache import cache

    cache.clear()


@pytest.fixture
def world(db, tmp_path: Path) -> dict:
    """A site with everything once; the persons of each role are in it by the name of the role."""
    return make_world(tmp_path / "tsv")


@pytest.fixture
def sign_in(world: dict):
    """A client signed in as somebody of this role; None is a stranger."""

    def client_of(role: str | None) -> Client:
        client = Client()
        if role is not None:
            client.force_login(world[role])
        return client

    return client_of
