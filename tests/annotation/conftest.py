"""Fixtures of the annotation tests."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from pooling.models import Graph
from tests.annotation.world import World, make_graph, make_world


@pytest.fixture
def graph(db, tmp_path: Path) -> Graph:
    return make_graph(tmp_path / "tsv")


@pytest.fixture
def world(db, tmp_path: Path) -> World:
    return make_world(tmp_path / "tsv")


@pytest.fixture
def as_user():
    def sign_in(user: User | None) -> Client:
        client = Client()
        if user is not None:
            client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return sign_in
