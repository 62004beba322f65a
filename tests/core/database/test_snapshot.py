"""One moment of a database that others write to."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from django.db.utils import ConnectionHandler

from core import database


def test_what_is_read_in_one_moment_does_not_see_what_comes_in_it(db, tmp_path: Path, monkeypatch):
    file = tmp_path / "one.sqlite3"
    with sqlite3.connect(file) as other:
        other.execute("PRAGMA journal_mode=WAL")
        other.execute("CREATE TABLE words (word)")
    own = ConnectionHandler({"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": file}})["default"]
    monkeypatch.setattr(database, "connection", own)

    def words() -> int:
        with own.cursor() as cursor:
            return cursor.execute("SELECT count(*) FROM words").fetchone()[0]

    with database.one_moment():
        assert words() == 0
        with sqlite3.connect(file) as other:
            other.execute("INSERT INTO words VALUES (1)")  # whoever writes does not wait
        assert words() == 0
    assert words() == 1
    own.close()
