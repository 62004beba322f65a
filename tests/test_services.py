"""The whole pipeline on PostgreSQL and Redis, with a worker of its own: every step a command, as in production."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis
from django.conf import settings

from tests.postgres import own_database

pytestmark = [pytest.mark.postgres, pytest.mark.redis, pytest.mark.slow]

BROKER = "redis://127.0.0.1:6379/13"


class Site:
    def __init__(self, folder: Path, database: str) -> None:
        self.folder, self.database = folder, database
        self.environment = {
            **os.environ,
            "DATABASE_URL": self.database,
            "CELERY_BROKER_URL": BROKER,
            "OMP_NUM_THREADS": "1",
            "TRIPLEPOOL_VAR": str(folder / "var"),
            "ARTIFACT_ROOT": str(folder / "artifacts"),
            "ALLOWED_HOSTS": "triplepool.example",
            "SECRET_KEY": "only for this test",
            "WORKER_PROCESSES": "1",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }

    def run(self, *command: str) -> str:
        """Standard output of a management command; its exit code must be 0."""
        done = subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=settings.BASE_DIR,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, f"{command}: {done.stderr[-3000:]}"
        return done.stdout

    def count(self, table: str) -> int:
        with psycopg.connect(self.database) as connection:
            row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
            return int(row[0]) if row else 0


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with own_database("services") as url:
        yield Site(tmp_path, url)


@pytest.fixture
def worker(site: Site) -> Iterator[subprocess.Popen[bytes]]:
    """A Celery worker that no command started."""
    broker = redis.Redis.from_url(BROKER)
    broker.delete("cpu", "gpu")
    site.run("migrate", "-v0")
    command = [
        sys.executable,
        "-m",
        "celery",
        "-A",
        "config",
        "worker",
        "--queues",
        "cpu,gpu",
        "--concurrency",
        "1",
        "--loglevel",
        "WARNING",
    ]
    with (site.folder / "worker.log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=settings.BASE_DIR, env=site.environment, stdout=log, stderr=log, process_group=0
        )
    try:
        end = time.monotonic() + 300
        while not site.count("core_worker"):
            assert process.poll() is None and time.monotonic() < end, (site.folder / "worker.log").read_text()
            time.sleep(0.2)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
        broker.delete("cpu", "gpu")
        broker.close()


def test_the_pipeline_on_postgresql_and_redis_with_a_worker_elsewhere(site: Site, worker, tmp_path: Path):
    site.run("import_graph", "fam", "--family-tree", "--families", "2", "--people", "16", "--seed", "3")
    trained = json.loads(
        site.run(
            "train_systems", "fam", "--systems", "transe,distmult", "--set", "epochs=2", "embedding_dim=8", "--json"
        )
    )
    assert {name: system["epochs"] for name, system in trained.items()} == {"transe": 2, "distmult": 2}
    counts = json.loads(site.run("build_pool", "fam", "--name", "p", "--sample", "0.1", "--depth", "3", "--json"))
    assert counts["pooled"] == counts["filtered"] + counts["to_people"] > 0
    assert site.count("core_job") == 3
    assert worker.poll() is None  # it did the jobs: no command had to start one of its own
    with psycopg.connect(site.database) as connection:
        jobs = connection.execute("SELECT DISTINCT state, attempts FROM core_job").fetchall()
        assert jobs == [("done", 1)]

    out = site.run("open_campaign", "p")
    assert out.startswith(f"p: campaign open, {counts['to_people']:,} items in ")
    site.run("simulate_annotators", "p", "--truth", "closed-world", "--annotators", "3", "--error-rate", "0.1")
    report = json.loads(site.run("pool_report", "p", "--json"))
    states = [report[key] for key in ("positive", "negative", "assumed_negative", "unjudged")]
    assert sum(states) == report["seeds"] + report["pooled"]
    assert (report["unjudged"], report["assumed_negative"]) == (0, counts["filtered"])
    assert report["positive"] > report["seeds"]

    evaluated = json.loads(site.run("evaluate", "p", "--json", "--measures", "micro_mrr,macro_mrr,map@20,judged@10"))
    assert (evaluated["labels"], list(evaluated["systems"])) == ("current", ["transe", "distmult"])
    assert all(0 < value <= 1 for row in evaluated["systems"].values() for value in row.values())

    frozen = site.run("freeze_qrels", "p", "v1")
    assert frozen.startswith(f"p/v1: {report['positive']:,} positive, {report['negative']:,} negative, ")
    by_qrels = json.loads(
        site.run(
            "evaluate", "p", "--json", "--labels", "qrels:v1", "--measures", "micro_mrr,macro_mrr,map@20,judged@10"
        )
    )
    assert by_qrels["systems"] == evaluated["systems"]
    site.run("export_test_set", "p", str(tmp_path / "out"), "--qrels", "v1")
    back = site.run("import_graph", "completed", "--tsv", str(tmp_path / "out"))
    assert f"{report['positive']:,} test triple" in back
    assert redis.Redis.from_url(BROKER).llen("gpu") == 0
