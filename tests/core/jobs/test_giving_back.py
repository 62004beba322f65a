"""An interruption is no failure: a worker that is to end gives its job back, and a job that gets further goes on."""

from __future__ import annotations

import os
import signal
import time
from datetime import timedelta

import pytest
from django.utils import timezone

from core.enums import JobState
from core.jobs.execution import execute
from core.jobs.fencing import fenced
from core.jobs.lifecycle import give_back, request_cancel, sweep
from core.jobs.progress import LEAVING, Progress
from core.jobs.registry import HANDLERS
from core.models import Job
from core.tasks import work
from evaluation.enums import EvaluationJob
from tests.factories import make_job

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def stay():
    yield
    LEAVING.clear()


@pytest.fixture
def does(monkeypatch):
    """Put a function in the place of what the EXPORT jobs do."""
    return lambda function: monkeypatch.setitem(HANDLERS, EvaluationJob.EXPORT, function)


def leave(job: Job, progress: Progress) -> None:
    LEAVING.set()
    progress.report("working", 1, 2)


def test_a_job_whose_worker_is_to_end_goes_back_to_the_queue_as_often_as_that_happens(does, settings):
    does(leave)
    job = make_job(EvaluationJob.EXPORT)
    for times in range(1, 2 * settings.JOB_MAX_DEATHS):
        LEAVING.clear()
        assert execute(job.pk, f"w:{times}")
        job.refresh_from_db()
        assert (job.state, job.attempts, job.deaths, job.error) == ("queued", times, 0, "")
    assert job.log.count("is asked to end; queued again\n") == times
    assert sweep() == []


def test_a_job_that_somebody_cancelled_does_not_go_back(does):
    def cancelled(job: Job, progress: Progress) -> None:
        request_cancel(job)
        leave(job, progress)

    does(cancelled)
    job = make_job(EvaluationJob.EXPORT)
    execute(job.pk, "w:1")
    job.refresh_from_db()
    assert job.state == "cancelled"


def test_a_job_that_another_worker_has_by_now_stays_its(does):
    def lost(job: Job, progress: Progress) -> None:
        Job.objects.filter(pk=job.pk).update(worker="other:1", attempts=2)
        leave(job, progress)

    does(lost)
    job = make_job(EvaluationJob.EXPORT)
    execute(job.pk, "w:1")
    job.refresh_from_db()
    assert (job.state, job.worker) == ("running", "other:1")


def test_sigterm_stops_the_job_of_a_process_and_it_takes_no_other(does):
    seen = []

    def killed(job: Job, progress: Progress) -> None:
        seen.append(job.pk)
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(100):
            progress.report("working", 1, 2)
            time.sleep(0.01)

    does(killed)
    before = signal.getsignal(signal.SIGTERM)
    job, next_job = make_job(EvaluationJob.EXPORT), make_job(EvaluationJob.EXPORT)
    try:
        work(queue="cpu")
        work(queue="cpu")
        after = signal.getsignal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen == [job.pk] and after != before  # a second one does not kill it
    assert set(Job.objects.values_list("state", flat=True)) == {"queued"}
    assert next_job.attempts == 0


def test_sigterm_kills_a_process_again_once_its_job_is_over(does):
    does(lambda job, progress: None)
    before = signal.getsignal(signal.SIGTERM)
    make_job(EvaluationJob.EXPORT)
    work(queue="cpu")
    assert signal.getsignal(signal.SIGTERM) == before


def test_the_jobs_of_workers_that_were_killed_go_back(does):
    mine = make_job(EvaluationJob.EXPORT, JobState.RUNNING, worker="a@here:7", attempts=1, deaths=2)
    cancelled = make_job(EvaluationJob.EXPORT, JobState.RUNNING, worker="a@here:8", cancel_requested=True)
    other = make_job(EvaluationJob.EXPORT, JobState.RUNNING, worker="aa@here:7")
    assert give_back(["a@here"]) == 1
    states = dict(Job.objects.values_list("pk", "state"))
    assert states == {mine.pk: "queued", cancelled.pk: "running", other.pk: "running"}
    mine.refresh_from_db()
    assert mine.deaths == 2 and mine.log.endswith("worker a@here:7 was ended; queued again\n")


@pytest.mark.parametrize(("further", "state"), [(True, "queued"), (False, "failed")])
def test_a_job_that_kills_its_worker_five_times_has_failed_unless_it_got_further(does, settings, further, state):
    class Killed(BaseException):
        pass

    def dies(job: Job, progress: Progress) -> None:
        with fenced(further=further):
            pass
        raise Killed

    does(dies)
    job = make_job(EvaluationJob.EXPORT)
    for _ in range(settings.JOB_MAX_DEATHS):
        with pytest.raises(Killed):
            execute(job.pk, "w:1")
        Job.objects.update(heartbeat_at=timezone.now() - timedelta(hours=1))
        sweep()
    job.refresh_from_db()
    assert (job.state, job.attempts) == (state, settings.JOB_MAX_DEATHS)
