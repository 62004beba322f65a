"""A real worker, or one of its processes, killed with kill -9 in training or while it waits: jobs go on."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings

from core.jobs.worker import start_worker, stop_worker
from pooling.scoring.checkpoints import read_checkpoint

pytestmark = pytest.mark.slow

ELSEWHERE = ("DATABASE_URL", "CELERY_BROKER_URL", "ARTIFACT_ROOT")  # not in the folder of a site
EPOCHS, BATCH = 24, 32  # an epoch takes some 0.3 s: time enough to kill the worker in the middle of training
PREPARE = f"""
import django; django.setup()
from django.core.management import call_command
from pooling.graphs.opening import get_graph
from core.jobs.lifecycle import start_job
from pooling.training.train import create_systems
from pooling.enums import PoolingJob
call_command("import_graph", "umls", "--pykeen", "UMLS", verbosity=0)
asked = {{"epochs": "{EPOCHS}", "batch_size": "{BATCH}"}}
(system,) = create_systems(get_graph("umls"), ["distmult"], asked, device="cpu")
print(start_job(PoolingJob.TRAIN, system=system).pk)
"""


class Site:
    """A database, an artifact folder and a broker of their own, with real worker processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []

    def row(self, query: str) -> dict[str, object]:
        database = sqlite3.connect(self.folder / "triplepool.sqlite3", timeout=30)
        try:
            database.row_factory = sqlite3.Row
            found = database.execute(query).fetchone()
            return dict(found) if found else {}
        finally:
            database.close()

    def write(self, statement: str) -> None:
        with contextlib.closing(sqlite3.connect(self.folder / "triplepool.sqlite3", timeout=30)) as database, database:
            database.execute(statement)

    def set_epochs(self, number: int) -> None:
        self.write(f"UPDATE pooling_system SET settings = json_set(settings, '$.epochs', {number})")

    @property
    def job(self) -> dict[str, object]:
        return self.row("SELECT * FROM core_job")

    @property
    def system(self) -> dict[str, object]:
        return self.row("SELECT * FROM pooling_system")

    def start(self) -> subprocess.Popen[bytes]:
        self.workers.append(start_worker())
        return self.workers[-1]

    def wait(self, condition: Callable[[], bool], seconds: float, what: str) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"{what} did not happen in {seconds} s; job: {self.job}"
            time.sleep(0.1)


def group_members(group: int) -> list[int]:
    """Processes of a process group that still live (a zombie lives no more)."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, rest = stat.read_text().rpartition(")")
        except OSError:
            continue
        state, _, pgrp = rest.split()[:3]
        if int(pgrp) == group and state != "Z":
            found.append(int(stat.parent.name))
    return found


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, migrated: Path) -> Path:
    """The folder of a site with a graph and a queued training, of which each test has a copy."""
    folder = tmp_path_factory.mktemp("prepared")
    shutil.copy(migrated, folder / "triplepool.sqlite3")
    own = {"TRIPLEPOOL_VAR": str(folder), "DJANGO_SETTINGS_MODULE": "config.settings"}
    env = {name: value for name, value in os.environ.items() if name not in ELSEWHERE} | own
    command = [sys.executable, "-c", PREPARE]
    made = subprocess.run(command, cwd=settings.BASE_DIR, env=env, capture_output=True, text=True, timeout=300)
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture
def site(tmp_path: Path, monkeypatch, prepared: Path) -> Iterator[Site]:
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    for name in ELSEWHERE:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TRIPLEPOOL_VAR", str(tmp_path))
    monkeypatch.setenv("JOB_HEARTBEAT_SECONDS", "0.5")
    monkeypatch.setenv("JOB_SILENT_SECONDS", "8")
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "config.settings")
    site = Site(tmp_path)
    yield site
    for worker in site.workers:
        stop_worker(worker, patience=0)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_worker_killed_in_training_is_noticed_and_its_job_goes_on(site: Site):
    first = site.start()
    site.wait(lambda: site.system["epochs_done"] >= 2, 300, "the second epoch")  # type: ignore[operator]
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    site.wait(lambda: not group_members(first.pid), 60, "the end of every process")
    job = site.job
    assert (job["state"], job["attempts"]) == ("running", 1)
    left = read_checkpoint(site.folder / "artifacts" / str(site.system["artifact"]) / "checkpoint.pt")
    assert 2 <= left["epoch"] < EPOCHS

    second = site.start()
    site.wait(lambda: site.job["state"] == "done", 300, "the end of training")
    job, system = site.job, site.system
    assert (job["attempts"], job["error"], system["state"]) == (2, "", "trained")
    log = [line.partition(" ")[2] for line in str(job["log"]).splitlines()]
    assert [line.partition(" with ")[0].partition(", validation")[0] for line in log] == [
        "training distmult",
        "it needs about 1 MB of memory",
        f"worker {log[2].split()[1]} fell silent; queued again",
        "attempt 2, going on from what the last one left",
        "training distmult",
        "it needs about 1 MB of memory",
        f"best epoch {system['best_epoch']}",
    ]
    history = json.loads(str(system["history"]))
    assert [row["epoch"] for row in history] == list(range(1, EPOCHS + 1))
    # with the seconds that the killed worker measured: those epochs were not trained again
    assert history[: left["epoch"]] == left["history"]

    stop_worker(second)
    site.wait(lambda: not group_members(second.pid), 60, "the end of every process")
    assert site.row("SELECT * FROM core_worker")["name"].startswith("local-")  # type: ignore[attr-defined]
    assert site.row("SELECT count(*) AS n FROM core_worker")["n"] == 1  # the killed one could not sign off


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_worker_that_is_stopped_in_training_leaves_no_process(site: Site):
    site.set_epochs(5000)
    worker = site.start()
    site.wait(lambda: site.system["epochs_done"] >= 1, 300, "the first epoch")  # type: ignore[operator]
    stop_worker(worker, patience=25)
    site.wait(lambda: not group_members(worker.pid), 60, "the end of every process")
    job = site.job
    assert (worker.returncode, job["state"], job["attempts"], job["deaths"]) == (0, "queued", 1, 0)
    folder = site.folder / "artifacts" / str(site.system["artifact"])
    assert read_checkpoint(folder / "within.pt")["epoch"] == read_checkpoint(folder / "checkpoint.pt")["epoch"] >= 1


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_work_gives_its_job_back_when_it_is_stopped_and_ends_when_it_is_idle(site: Site):
    site.set_epochs(80)
    command = [sys.executable, "manage.py", "work", "--processes", "1", "--max-idle", "3"]
    first = subprocess.Popen(command, cwd=settings.BASE_DIR)
    try:
        site.wait(lambda: site.system.get("epochs_done", 0) >= 1, 300, "the first epoch")  # type: ignore[operator]
        first.send_signal(signal.SIGTERM)
        assert first.wait(timeout=90) == 0
        assert (site.job["state"], site.job["deaths"]) == ("queued", 0)
        assert site.row("SELECT count(*) AS n FROM core_worker")["n"] == 0
    finally:
        first.kill()
    second = subprocess.run(command, cwd=settings.BASE_DIR, timeout=600, capture_output=True, text=True)
    assert second.returncode == 0 and "No job for 3 s. Ending." in second.stdout
    assert (site.job["state"], site.job["attempts"], site.system["state"]) == ("done", 2, "trained")
    names = {str(site.job["worker"]).partition("@")[0]}
    assert all(name.startswith("cpu-gpu-") for name in names)


def processes_of(worker: subprocess.Popen[bytes]) -> set[int]:
    return set(group_members(worker.pid)) - {worker.pid}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_worker_whose_waiting_process_is_killed_ends_and_the_next_does_the_jobs(site: Site):
    site.set_epochs(1)
    first = site.start()
    site.wait(lambda: site.job["state"] == "done", 300, "the end of training")
    # the first of them has the lock; which one it is cannot be seen
    for pid in processes_of(first):
        os.kill(pid, signal.SIGKILL)
    assert first.wait(timeout=60) == 1
    site.wait(lambda: not group_members(first.pid), 60, "the end of every process")
    assert site.row("SELECT count(*) AS n FROM core_worker")["n"] == 0  # commands that need one see it at once

    site.write("UPDATE core_job SET state = 'queued', attempts = 0, heartbeat_at = '2001-01-01 00:00:00'")
    site.start()
    site.wait(lambda: site.job["state"] == "done", 300, "the end of the second job")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_worker_whose_training_process_is_killed_lives_and_takes_the_job_up_again(site: Site):
    worker = site.start()
    site.wait(lambda: site.system["epochs_done"] >= 1, 300, "the first epoch")  # type: ignore[operator]
    os.kill(int(str(site.job["worker"]).rpartition(":")[2]), signal.SIGKILL)
    site.wait(lambda: site.job["state"] == "done", 300, "the end of training")
    assert (site.job["attempts"], site.job["deaths"], worker.poll()) == (2, 0, None)  # it got further since
