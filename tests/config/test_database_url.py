"""A wrong DATABASE_URL is one line that says what to write, without the password."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings


def check(folder: Path, url: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DATABASE_URL": url, "TRIPLEPOOL_VAR": str(folder), "DEBUG": "1"}
    command = [sys.executable, "manage.py", "check"]
    return subprocess.run(
        command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    "url",
    [
        "mysql://ada:s3cret@host/name",
        "postgress://ada:s3cret@host/name",
        "postgresql://ada:s3cret/more@host/name",
        "postgresql://ada:s3cret@host:port/name",
        "s3cret",
    ],
)
def test_what_is_no_address_of_a_database_is_refused_in_one_line(tmp_path: Path, url: str):
    done = check(tmp_path, url)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert "DATABASE_URL" in done.stderr and "s3cret" not in done.stderr


def test_an_empty_one_is_sqlite(tmp_path: Path):
    assert check(tmp_path, "").returncode == 0
    assert (tmp_path / "triplepool.sqlite3").exists()
