"""The folder of a local installation, its database and its key are its owner's alone."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from config.folders import make_private

ASK = """
import django
django.setup()
from django.db import connection
connection.cursor().execute("CREATE TABLE t (x)")
connection.cursor().execute("INSERT INTO t VALUES (1)")
import os
print(sorted(os.listdir(os.environ["TRIPLEPOOL_VAR"])))
for name in ("triplepool.sqlite3", "triplepool.sqlite3-wal", "triplepool.sqlite3-shm", "secret_key", "."):
    print(name, oct(os.stat(os.path.join(os.environ["TRIPLEPOOL_VAR"], name)).st_mode & 0o777))
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("before", ["new", "readable by all"])
def test_database_key_and_folder_are_private(tmp_path: Path, before: str):
    folder = tmp_path / "var"
    if before != "new":
        folder.mkdir(mode=0o755)
        for name in ("triplepool.sqlite3", "secret_key"):
            (folder / name).write_text("" if "sqlite" in name else "x" * 50)
            (folder / name).chmod(0o644)
    environment = {key: value for key, value in os.environ.items() if key not in ("DATABASE_URL", "ARTIFACT_ROOT")}
    done = subprocess.run(
        [sys.executable, "-c", ASK], cwd=settings.BASE_DIR, env=environment | {"TRIPLEPOOL_VAR": str(folder)},
        capture_output=True, text=True, timeout=300, umask=0o022,
    )  # fmt: skip
    assert done.stdout.splitlines()[1:] == [
        "triplepool.sqlite3 0o600", "triplepool.sqlite3-wal 0o600", "triplepool.sqlite3-shm 0o600",
        "secret_key 0o600", ". 0o700",
    ], done.stderr  # fmt: skip


def test_a_folder_of_others_stays_as_it_is(tmp_path: Path):
    """It has no database of ours, or everybody may write to it."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o755)
    make_private(tmp_path / "shared")
    (tmp_path / "everybody").mkdir()
    (tmp_path / "everybody" / "secret_key").write_text("x")
    (tmp_path / "everybody").chmod(0o1777)
    make_private(tmp_path / "everybody")
    assert (mode(tmp_path / "shared"), mode(tmp_path / "everybody")) == (0o755, 0o1777)
    assert mode(tmp_path / "everybody" / "secret_key") == 0o600


def test_parents_that_are_made_are_nobody_elses_to_change(tmp_path: Path):
    before = os.umask(0)
    try:
        make_private(tmp_path / "one" / "two" / "var")
    finally:
        os.umask(before)
    made = [tmp_path / "one", tmp_path / "one" / "two", tmp_path / "one" / "two" / "var"]
    assert [mode(folder) for folder in made] == [0o755, 0o755, 0o700]
