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

from core.checks import name_missing_servers, reach_servers, refuse_unknown_migrations, try_store
from tests import stores


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


def test_a_store_that_cannot_be_written_is_named_by_its_setting(settings, tmp_path: Path, monkeypatch) -> None:
    assert try_store() == []
    stores.use("s3", settings, tmp_path, monkeypatch)
    assert try_store() == [] and stores.objects() == []
    settings.ARTIFACT_STORE = "s3://bucket-of-nobody/x"
    (error,) = try_store()
    assert error.id == "core.E002" and error.msg.startswith(
        "The store of ARTIFACT_STORE (s3://bucket-of-nobody/x) has no such bucket, container or folder"
    )
    assert stores.SECRET not in f"{error}"


@pytest.mark.django_db
def test_servers_that_do_not_answer_are_named_by_their_settings(settings) -> None:
    assert reach_servers() == []
    address = "redis://:secret@127.0.0.1:1/0"  # nothing listens there
    settings.CELERY_BROKER_URL, settings.CELERY_BROKER_TRANSPORT_OPTIONS = address, {"socket_connect_timeout": 2}
    away = {"BACKEND": "core.cache.CacheThatMayFail", "LOCATION": address, "OPTIONS": {"socket_connect_timeout": 0.5}}
    settings.CACHES = {"default": away}
    broker, cache = reach_servers()
    assert broker.id == cache.id == "core.E003"
    assert broker.msg.startswith("The broker of CELERY_BROKER_URL does not answer: ")
    assert cache.msg.startswith("The cache of CACHE_URL does not answer: ")
    assert "secret" not in f"{broker} {cache}"


def test_a_database_that_is_away_fails_the_check_of_a_worker_before_it_starts(tmp_path: Path) -> None:
    environment = os.environ | {"TRIPLEPOOL_VAR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy"],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        timeout=300,
        env=environment | {"DATABASE_URL": "postgresql://triplepool:secret@127.0.0.1:1/triplepool"},
    )
    assert done.returncode == 1
    assert "(core.E003) The database of DATABASE_URL does not answer: " in done.stderr
    assert "secret" not in done.stderr


def test_settings_that_a_site_for_others_lacks_are_named(settings, monkeypatch) -> None:
    settings.CELERY_BROKER_URL, settings.CACHES = "filesystem://localhost", {"default": {"BACKEND": "x"}}
    settings.PRODUCTION = False
    assert name_missing_servers() == []
    settings.PRODUCTION = True
    database = settings.DATABASES["default"]
    monkeypatch.setitem(database, "ENGINE", "django.db.backends.sqlite3")
    assert [found.id for found in name_missing_servers()] == ["core.W001"]
    monkeypatch.setitem(database, "ENGINE", "django.db.backends.postgresql")
    assert [found.id for found in name_missing_servers()] == ["core.W002", "core.W003"]
    settings.CELERY_BROKER_URL, settings.CACHES["default"]["LOCATION"] = "redis://one/0", "redis://one/1"
    assert name_missing_servers() == []


@pytest.mark.parametrize(("command", "code"), [
    (["check", "--deploy"], 1), (["serve", "--bind", "127.0.0.1:1"], 1), (["work"], 1), (["check"], 0),
])  # fmt: skip
def test_commands_try_the_store_before_they_start(command: list[str], code: int, tmp_path: Path) -> None:
    environment = os.environ | {"TRIPLEPOOL_VAR": str(tmp_path), "ARTIFACT_STORE": f"file://{tmp_path}/nothing"}
    done = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        timeout=300,
        env=environment | {"DATABASE_URL": f"sqlite:///{tmp_path}/x.sqlite3"},
    )
    said = f"The folder of ARTIFACT_STORE (file://{tmp_path}/nothing) does not exist: mount or make it."
    assert (done.returncode, said in done.stderr) == (code, bool(code)), done.stderr


@pytest.mark.parametrize("program", ["import config.wsgi", "from core.tasks import on_worker_init; on_worker_init()"])
def test_web_server_and_worker_say_at_their_start_that_the_store_is_away(program: str, tmp_path: Path) -> None:
    """In a child: they still fork, and the store may come back."""
    environment = os.environ | {"TRIPLEPOOL_VAR": str(tmp_path), "ARTIFACT_STORE": f"file://{tmp_path}/nothing"}
    program = f"import config.celery, django; django.setup(); {program}; from core.files import bucket; "
    program += "print('went on', bucket._first_pid)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=300, env=environment)
    assert done.stdout == "went on 0\n", done.stderr
    assert done.stderr.count("does not exist: mount or make it.") == 1
