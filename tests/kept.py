"""What many tests start from is made once in a session; after that its rows and files are put back as they were."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from django.apps import apps
from django.conf import settings
from django.db import connection
from django.utils import timezone

OURS = ("core", "pooling", "annotation", "evaluation", "auth")


class Kept(NamedTuple):
    rows: dict[str, list[tuple[Any, ...]]]  # by table
    folder: TemporaryDirectory[str]


_kept: dict[tuple[Any, ...], Kept] = {}


def keep(name: str, make: Callable[[], object]) -> None:
    """Make it, or put back what `make` made where the database stood as it does now."""
    if connection.vendor != "sqlite" or not connection.in_atomic_block:
        make()  # there, numbers of rows are others each time
        return
    key = (name, timezone.now().date(), _numbers())  # after midnight, what was made is not of today
    if key in _kept:
        _put_back(_kept[key])
        return
    make()
    folder = TemporaryDirectory(prefix="triplepool-kept-")
    shutil.copytree(settings.ARTIFACT_ROOT, folder.name, dirs_exist_ok=True)
    _kept[key] = Kept({table: rows for table in _tables() if (rows := _read(f'SELECT * FROM "{table}"'))}, folder)


def _tables() -> list[str]:
    models = [model for app in OURS for model in apps.get_app_config(app).get_models(include_auto_created=True)]
    return [model._meta.db_table for model in models if model._meta.db_table != "auth_permission"]


def _read(query: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        return cursor.cursor.execute(query).fetchall()  # as SQLite has it


def _numbers() -> tuple[Any, ...]:
    """Rows and largest number of every table, of deleted rows too."""
    counts = ", ".join(f'(SELECT count(*) FROM "{table}")' for table in _tables())
    return (*_read(f"SELECT {counts}"), *sorted(_read("SELECT name, seq FROM sqlite_sequence")))


def _put_back(kept: Kept) -> None:
    with connection.cursor() as cursor:
        for table, rows in kept.rows.items():
            marks = ", ".join("?" * len(rows[0]))
            cursor.cursor.executemany(f'INSERT OR REPLACE INTO "{table}" VALUES ({marks})', rows)
    shutil.copytree(kept.folder.name, Path(settings.ARTIFACT_ROOT), dirs_exist_ok=True)
