"""What the inner tests of single sign-on have besides tests/conftest.py."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="session")
def django_db_modify_db_settings() -> None:
    """Let the tests' database be the file that the outer test gave; `migrate` adds the tables of allauth alone."""
    from django.db import connection

    if path := os.environ.get("TEST_DATABASE"):
        connection.settings_dict["TEST"]["NAME"] = path
