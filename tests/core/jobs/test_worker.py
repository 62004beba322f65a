"""The local worker that a command starts when nobody else's is alive."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import timedelta

import pytest
from django.utils import timezone

from core.enums import JobState
from core.jobs import worker
from core.jobs.worker import MAX_DEATHS, WorkerError, failures, stop_worker, wait_for, worker_for_a_while
from core.management.commands.serve import stop_web
from core.models import Job, SiteVersion, Worker
from evaluation.enums import EvaluationJob
from pooling.enums import PoolingJob
from tests.factories import make_job

pytestmark = pytest.mark.django_db


class Process:
    """Stands for a Celery worker."""

    def __init__(self) -> None:
        self.returncode: int | None = None
        self.stopped = False

    def poll(self) -> int | None:
        return self.returncode


@pytest.fixture
def started(monkeypatch) -> list[Process]:
    processes: list[Process] = []

    def start() -> Process:
        processes.append(Process())
        return processes[-1]

    monkeypatch.setattr(worker, "start_worker", start)
    monkeypatch.setattr(worker, "stop_worker", lambda process: setattr(process, "stopped", True))
    return processes


def test_without_a_live_worker_one_is_started_and_stopped(started):
    with worker_for_a_while() as look_after:
        look_after()
        assert [p.stopped for p in started] == [False]
    assert [p.stopped for p in started] == [True]


def test_a_live_worker_is_enough(started):
    Worker.objects.create(name="w", queues="cpu,gpu", seen_at=timezone.now())
    with worker_for_a_while() as look_after:
        look_after()
    assert started == []


@pytest.mark.parametrize(("queues", "version", "number"), [("cpu", "", 1), ("gpu", "", 0), ("gpu", "older", 1)])
def test_a_live_worker_is_enough_only_if_it_takes_these_jobs(started, queues, version, number):
    """Otherwise the command would wait for ever."""
    SiteVersion.objects.update_or_create(pk=1, defaults={"version": "newer"})
    Worker.objects.create(name="w", queues=queues, version=version, seen_at=timezone.now())
    with worker_for_a_while({"gpu"}):
        pass
    assert len(started) == number


def test_a_worker_that_was_killed_a_moment_ago_is_replaced_when_it_is_found_silent(started, settings):
    row = Worker.objects.create(name="w", queues="cpu,gpu", seen_at=timezone.now())
    with worker_for_a_while() as look_after:
        look_after()
        assert started == []
        row.seen_at -= timedelta(seconds=settings.JOB_SILENT_SECONDS + 1)
        row.save()
        look_after()
        look_after()
        assert len(started) == 1
    assert started[0].stopped


def test_a_worker_that_dies_is_started_again_but_not_for_ever(started):
    with pytest.raises(WorkerError) as caught, worker_for_a_while() as look_after:
        for _ in range(MAX_DEATHS + 1):
            started[-1].returncode = 3
            look_after()
    assert str(caught.value) == (
        "The local worker ended 4 times (exit code 3); the jobs wait. "
        "Start it by hand to see why: celery -A config worker --queues cpu,gpu"
    )
    assert len(started) == MAX_DEATHS + 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_ended_ends_its_worker(started, number):
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), worker_for_a_while():
        os.kill(os.getpid(), number)
    assert started[0].stopped
    assert signal.getsignal(number) == before


def test_wait_for_tells_every_second_until_all_are_over():
    jobs = [make_job(EvaluationJob.EXPORT), make_job(EvaluationJob.EVALUATE, JobState.DONE)]
    told: list[list[str]] = []

    def tell(rows: list[Job]) -> None:
        told.append([row.state for row in rows])
        Job.objects.filter(pk=jobs[0].pk).update(state=["running", "failed"][len(told) - 1 > 0], error="x")

    rows = wait_for(jobs, tell, every=0)
    assert told == [["queued", "done"], ["running", "done"], ["failed", "done"]]
    assert [row.pk for row in rows] == [job.pk for job in jobs]


def test_failures_names_each_job_that_did_not_end_well(town):
    jobs = [
        make_job(EvaluationJob.EXPORT, JobState.DONE, graph=town),
        make_job(PoolingJob.TRAIN, JobState.FAILED, graph=town, error="no memory"),
        make_job(PoolingJob.SCORE, JobState.CANCELLED, graph=town),
    ]
    assert failures(jobs) == ["train system town: no memory", "score run town: cancelled"]


@pytest.mark.parametrize("stop", [stop_worker, stop_web])
def test_a_second_signal_ends_a_slow_process_without_a_traceback(stop):
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE, process_group=0)
    assert process.stdout is not None and process.stdout.readline() == b"\n"
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    started = time.monotonic()
    try:
        stop(process, patience=30)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        process.stdout.close()
    assert process.returncode == -signal.SIGKILL and time.monotonic() - started < 10
