"""Two real workers on Redis, RabbitMQ and the broker of the local mode: the idle one takes what waits, at once."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings
from kombu import Connection

from core.jobs.worker import stop_worker
from tests.postgres import own_database

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

BROKERS = [
    pytest.param("redis://127.0.0.1:6379/11", marks=pytest.mark.redis, id="redis"),
    pytest.param("amqp://127.0.0.1:5672//", marks=pytest.mark.rabbitmq, id="rabbitmq"),
    pytest.param("", id="files"),
]
NEXT = 10  # jobs that come while a worker is busy


class Two:
    """A site with two toy workers of one process each."""

    def __init__(self, folder: Path, database: str, broker: str) -> None:
        self.broker, self.database, self.queue = broker, database, f"toy-{uuid4().hex[:8]}"
        self.environment = {
            **os.environ,
            "DATABASE_URL": database,
            "TRIPLEPOOL_VAR": str(folder),
            "TOY_QUEUE": self.queue,
            "OMP_NUM_THREADS": "1",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        self.environment.pop("CELERY_BROKER_URL", None)
        if broker:
            self.environment["CELERY_BROKER_URL"] = broker
        self.workers: list[subprocess.Popen[bytes]] = []

    def run(self, *command: str) -> str:
        done = subprocess.run(
            [sys.executable, *command], cwd=settings.BASE_DIR, env=self.environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    def start_worker(self, name: str) -> None:
        what = f"-A config worker --queues {self.queue} --concurrency 1 --loglevel WARNING"
        quiet = ["--without-gossip", "--without-mingle", "--hostname", f"{name}@here"]
        command = [sys.executable, "-m", "tests.core.jobs.toy", "--quiet", *what.split(), *quiet]
        self.workers.append(
            subprocess.Popen(command, cwd=settings.BASE_DIR, env=self.environment, process_group=0, stdout=2)
        )

    def start_jobs(self, *seconds: float) -> list[int]:
        return [int(pk) for pk in self.run("-m", "tests.core.jobs.toy", "start", *map(str, seconds)).split()]

    def rows(self, query: str) -> list[tuple]:
        import psycopg

        with psycopg.connect(self.database) as connection:
            return connection.execute(query).fetchall()

    def job(self, pk: int) -> tuple[str, str, int, int, datetime, datetime]:
        query = "SELECT state, worker, attempts, deaths, created_at, started_at FROM core_job WHERE id ="
        return self.rows(f"{query} {pk}")[0]

    def wait(self, condition: Callable[[], bool], seconds: float, what: str) -> float:
        began = time.monotonic()
        while not condition():
            assert time.monotonic() < began + seconds, f"{what} did not happen in {seconds} s"
            time.sleep(0.05)
        return time.monotonic() - began


@pytest.fixture
def two(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Two]:
    with own_database("two") as url:
        site = Two(tmp_path, url, request.param)
        site.run("manage.py", "migrate", "-v0")
        yield site
        for worker in site.workers:
            stop_worker(worker, patience=0)
    shutil.rmtree(tmp_path, ignore_errors=True)
    if site.broker:
        with Connection(site.broker) as connection:
            connection.default_channel.queue_delete(site.queue)


@pytest.mark.parametrize("two", BROKERS, indirect=True)
def test_an_idle_worker_takes_a_job_at_once_and_a_stopped_one_gives_its_job_back(two: Two):
    for name in ("a", "b"):
        two.start_worker(name)
    two.wait(lambda: len(two.rows("SELECT name FROM core_worker")) == 2, 120, "the start of the workers")
    (long,) = two.start_jobs(600)
    two.wait(lambda: two.job(long)[0] == "running", 10, "the start of the long job")
    busy = two.job(long)[1].partition("@")[0]

    waits = []
    for pk in two.start_jobs(*[0.1] * NEXT):  # the busy worker holds one of their messages
        two.wait(lambda pk=pk: two.job(pk)[0] == "done", 60, f"job {pk}")
        waits.append(two.job(pk))
    assert {row[1].partition("@")[0] for row in waits} == {"b" if busy == "a" else "a"}
    # one after the other: each waits for those before it
    first = (waits[0][5] - waits[0][4]).total_seconds()
    between = [(b[5] - a[5]).total_seconds() for a, b in pairwise(waits)]
    print(f"{two.broker or 'files'}: first after {first:.2f} s, then {max(between):.2f} s apart at most")
    assert first < 2 and max(between) < 2

    time.sleep(1.5)
    (alone,) = two.start_jobs(0.1)
    two.wait(lambda: two.job(alone)[0] == "done", 60, "the job that came alone")
    _, _, _, _, created, started = two.job(alone)
    print(f"alone after {(started - created).total_seconds():.2f} s")
    assert (started - created).total_seconds() < 2

    stopped = two.workers[busy == "b"]
    stopped.send_signal(signal.SIGTERM)
    took = two.wait(lambda: two.job(long)[1].partition("@")[0] != busy, 30, "the next worker")
    state, _, attempts, deaths, _, _ = two.job(long)
    print(f"given back and taken after {took:.2f} s")
    assert (state, attempts, deaths) == ("running", 2, 0)
    assert stopped.wait(timeout=30) == 0
    log = two.rows(f"SELECT log FROM core_job WHERE id = {long}")[0][0]
    assert "is asked to end; queued again" in log and "fell silent" not in log
