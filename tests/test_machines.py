"""Machines that share a database and a store, but no disk, do what one machine does: the same bytes.

Each step is a process of its own; machines are artifact folders.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings

from core.version import SOURCE, source_digest, words
from tests import stores

BROKER = "redis://127.0.0.1:6379/10"  # several machines: with a folder as broker, a worker is the site
pytestmark = pytest.mark.django_db  # `migrated` is a copy of the tests' database, which only such tests make


class Site:
    def __init__(self, folder: Path, migrated: Path, store: str) -> None:
        folder.mkdir()
        shutil.copy(migrated, folder / "db.sqlite3")
        self.folder = folder
        self.env = os.environ | {
            "DATABASE_URL": f"sqlite:///{folder / 'db.sqlite3'}",
            "TRIPLEPOOL_VAR": str(folder),
            "ARTIFACT_STORE": store,
            "OMP_NUM_THREADS": "1",
        }

    def run(self, machine: str, step: str) -> subprocess.CompletedProcess[str]:
        """`machine`: its artifact folder."""
        env = self.env | {"ARTIFACT_ROOT": str(self.folder / machine)}
        command = [sys.executable, "-m", "tests.machines", step]
        return subprocess.run(
            command, env=env, cwd=django_settings.BASE_DIR, capture_output=True, text=True, timeout=300
        )

    def does(self, machine: str, step: str) -> dict[str, Any]:
        done = self.run(machine, step)
        assert done.returncode == 0, done.stderr[-3000:]
        told = done.stdout + done.stderr
        assert stores.SECRET not in told
        return json.loads(done.stdout.splitlines()[-1])["found"]

    def works(self, machine: str, code: Path) -> str:
        """Let workers of `code` work until none has had a job for a while; return what they said."""
        env = self.env | {"ARTIFACT_ROOT": str(self.folder / machine), "CELERY_BROKER_URL": BROKER}
        command = [sys.executable, "manage.py", "work", "--processes", "1", "--max-idle", "8"]
        done = subprocess.run(command, env=env, cwd=code, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout + done.stderr


DONE = {"state": "done", "error": ""}


@pytest.fixture(scope="module")
def one_machine(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    site = Site(tmp_path_factory.mktemp("one") / "site", migrated, "")
    found = [site.does("artifacts", step) for step in ("begin", "train", "build", "measure", "download")]
    assert found[1:3] == [DONE, DONE]
    return {"figures": found[3], "files": found[4]}


@pytest.mark.slow
def test_machines_without_a_shared_disk_make_what_one_machine_makes(
    one_machine, migrated: Path, settings, tmp_path: Path, monkeypatch
):
    """One is killed while it trains, another goes on, a third scores, a fourth measures, and the web machine sends."""
    stores.use("s3", settings, tmp_path, monkeypatch)
    site = Site(tmp_path / "site", migrated, settings.ARTIFACT_STORE)
    site.does("web", "begin")
    assert site.run("first", "train_and_die").returncode == -signal.SIGKILL
    shutil.rmtree(site.folder / "first")
    assert site.does("second", "train_on") == {"epoch": 4, **DONE}
    assert site.does("third", "build") == DONE
    assert site.does("fourth", "measure") == one_machine["figures"]
    shutil.rmtree(site.folder / "fourth")
    assert site.does("web", "download") == one_machine["files"]


def test_a_store_that_is_gone_is_tried_again_and_then_fails_the_job_in_words(
    migrated: Path, settings, tmp_path: Path, monkeypatch
):
    stores.use("file", settings, tmp_path, monkeypatch)
    site = Site(tmp_path / "site", migrated, settings.ARTIFACT_STORE)
    site.does("web", "begin")
    Path(settings.ARTIFACT_STORE.removeprefix("file://")).rename(tmp_path / "unmounted")
    told = site.run("first", "train_until_it_ends")
    words = f"The folder of ARTIFACT_STORE ({settings.ARTIFACT_STORE}) does not exist: mount or make it."
    assert json.loads(told.stdout.splitlines()[-1])["found"] == {
        "tries": settings.JOB_MAX_DEATHS,
        "told_at_once": f"{words} It is tried again in 30 s.",
        "state": "failed",
        "error": words,
    }, told.stderr[-3000:]


@pytest.mark.slow
@pytest.mark.redis
def test_a_worker_of_another_version_leaves_the_jobs_of_the_site(migrated: Path, tmp_path: Path):
    """Its code differs by a comment; the worker with the code of the site then does the job."""
    other = tmp_path / "other"
    for name in (*SOURCE, "triplepool"):
        shutil.copytree(django_settings.BASE_DIR / name, other / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("manage.py", "pyproject.toml"):
        shutil.copy(django_settings.BASE_DIR / name, other)
    site = Site(tmp_path / "site", migrated, "")
    site.does("artifacts", "begin")
    with (other / "core" / "clock.py").open("a") as file:
        file.write("# another version\n")
    said = site.works("artifacts", other)
    with sqlite3.connect(site.folder / "db.sqlite3") as database:
        (own,) = database.execute("select version from core_siteversion").fetchone()
        assert database.execute("select state from core_job").fetchall() == [("queued",)]
    assert words(f"{own.partition('+')[0]}+{source_digest(other)}", own) in " ".join(said.split())
    site.works("artifacts", django_settings.BASE_DIR)
    with sqlite3.connect(site.folder / "db.sqlite3") as database:
        assert database.execute("select state from core_job").fetchall() == [("done",)]
