"""Fixtures of the annotation tests."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Item
from annotation.people.accounts import add_person
from pooling.models import Graph
from tests.annotation.factories import World, items_of, make_graph, make_world


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
            client.force_login(user, backend="config.sign_in.Accounts")
        return client

    return sign_in


@pytest.fixture
def manager(world: World, as_user: Callable[[User | None], Client]) -> Client:
    return as_user(world.manager)


@pytest.fixture
def items(world: World) -> list[Item]:
    return items_of(world)


@pytest.fixture
def item(items: list[Item]) -> Item:
    return items[0]


@pytest.fixture
def dan(world: World) -> User:
    """A fourth annotator, for items that need two more people."""
    return add_person("dan", "annotator", world.campaign, consented=True)[0]
