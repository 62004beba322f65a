"""A database that another version made is refused before anything in it changes."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from core.checks import refuse_unknown_migrations


@pytest.mark.django_db
def test_migrations_that_this_version_lacks_are_named() -> None:
    assert refuse_unknown_migrations(databases=["default"]) == []
    MigrationRecorder(connection).record_applied("pooling", "0002_audit")
    (error,) = refuse_unknown_migrations(databases=["default"])
    assert (error.id, error.msg) == (
        "core.E001",
        "The database was made by another version of TriplePool (pooling.0002_audit). Nothing was changed.",
    )
    assert refuse_unknown_migrations(databases=None) == []


@pytest.mark.django_db
def test_migrations_of_other_packages_are_their_own_affair() -> None:
    MigrationRecorder(connection).record_applied("axes", "9999_later")
    assert refuse_unknown_migrations(databases=["default"]) == []


def test_migrate_leaves_a_database_from_before_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "triplepool.sqlite3"
    with sqlite3.connect(file) as old:
        old.execute("CREATE TABLE django_migrations (id integer PRIMARY KEY, app text, name text, applied datetime)")
        for name in ("0001_initial", "0002_audit"):
            old.execute("INSERT INTO django_migrations VALUES (NULL, 'pooling', ?, '2026-01-01')", [name])
    old.close()
    environment = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate"],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        timeout=300,
        env={**environment, "TRIPLEPOOL_VAR": str(tmp_path)},
    )
    assert done.returncode == 1
    assert "pooling.0002_audit" in done.stderr
    with sqlite3.connect(file) as after:
        assert after.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall() == [
            ("django_migrations",)
        ]
