"""Fixtures of the tests of the annotation API."""

import pytest
from django.test import Client


@pytest.fixture
def ann(world, as_user) -> Client:
    return as_user(world.ann)
