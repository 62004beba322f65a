"""What an attempt writes once another has its job: nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.contrib.auth.models import User

from core.enums import JobState
from core.jobs.execution import execute
from core.jobs.fencing import attempt, fenced
from core.jobs.progress import JobCancelled, Progress
from core.jobs.registry import HANDLERS
from core.models import Job
from evaluation.enums import EvaluationJob
from tests.factories import make_job
from tests.postgres import own_database


def running(**fields) -> Job:
    return make_job(EvaluationJob.EXPORT, JobState.RUNNING, worker="host:1", attempts=1, **fields)


def write() -> None:
    User.objects.create(username="written")


def written() -> bool:
    return User.objects.filter(username="written").exists()


@pytest.mark.django_db
def test_outside_of_a_job_it_is_a_transaction():
    with fenced():
        write()
    assert written()


@pytest.mark.django_db
def test_the_attempt_that_has_the_job_writes():
    job = running()
    with attempt(job, Progress(job)), fenced():
        write()
    assert written()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "now",
    [
        {"state": JobState.QUEUED},
        {"state": JobState.DONE},
        {"state": JobState.CANCELLED},
        {"worker": "host:2", "attempts": 2},
        {"worker": "host:2"},
    ],
)
@pytest.mark.parametrize("when", ["before", "within"])
def test_an_attempt_that_lost_its_job_writes_nothing(now: dict[str, object], when: str):
    job = running()
    if when == "before":
        Job.objects.filter(pk=job.pk).update(**now)
    began = False
    with pytest.raises(JobCancelled), attempt(job, Progress(job)), fenced():
        began = True
        write()
        if when == "within":
            Job.objects.filter(pk=job.pk).update(**now)
    assert not written()
    assert began == (when == "within")


@pytest.mark.django_db
def test_progress_of_an_older_attempt_is_not_shown():
    job = running()
    old = Progress(job)
    Job.objects.filter(pk=job.pk).update(attempts=2, worker="host:2", stage="reading", done=5)
    old.report("writing", 9, 9)
    old.log("from the grave")
    job.refresh_from_db()
    assert (job.stage, job.done, job.log) == ("reading", 5, "")


@pytest.mark.django_db
def test_a_job_is_fenced_while_it_runs_and_no_longer(monkeypatch):
    job = make_job(EvaluationJob.EXPORT)

    def works(job: Job, progress: Progress) -> None:
        Job.objects.filter(pk=job.pk).update(worker="host:2", attempts=2)
        with fenced():
            write()

    monkeypatch.setitem(HANDLERS, EvaluationJob.EXPORT, works)
    assert execute(job.pk, "host:1")
    job.refresh_from_db()
    assert (job.state, job.worker, written()) == (JobState.RUNNING, "host:2", False)
    with fenced():
        write()
    assert written()


PAUSED = """
import time, django
django.setup()
from core.jobs.fencing import attempt, fenced
from core.jobs.progress import Progress
from core.models import Job
job = Job.objects.create(kind="train", state="running", worker="host:1", attempts=1)
with attempt(job, Progress(job)), fenced(brief=True):
    Job.objects.filter(pk=job.pk).update(stage="its own")
    print(job.pk, flush=True)
    time.sleep(60)
"""


@pytest.mark.postgres
def test_a_process_that_is_paused_within_a_brief_transaction_keeps_no_lock(migrated_postgres: str, tmp_path: Path):
    with own_database("paused", like=migrated_postgres, durable=False) as url:
        more = {"DATABASE_URL": url, "TRIPLEPOOL_VAR": str(tmp_path), "JOB_SILENT_SECONDS": "1"}
        env = os.environ | more | {"DJANGO_SETTINGS_MODULE": "config.settings"}
        command = [sys.executable, "-c", PAUSED]
        with subprocess.Popen(command, env=env, cwd=settings.BASE_DIR, stdout=subprocess.PIPE, text=True) as paused:
            try:
                assert paused.stdout is not None
                pk = int(paused.stdout.readline())
                with psycopg.connect(url, autocommit=True) as other:
                    other.execute("SET lock_timeout = '20s'")
                    other.execute("UPDATE core_job SET stage = stage || 'of the next' WHERE id = %s", [pk])
                    rows = other.execute("SELECT stage FROM core_job").fetchall()
            finally:
                paused.kill()
    assert rows == [("of the next",)]
