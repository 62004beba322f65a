"""Jobs: the row is the truth, whatever a broker delivers, repeats or loses."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from config.celery import app
from core.enums import JobState
from core.errors import UserError
from core.files.bucket import StoreError
from core.jobs.execution import execute
from core.jobs.fencing import fenced
from core.jobs.lifecycle import request_cancel, retry, start_job, sweep
from core.jobs.progress import JobCancelled, Progress
from core.jobs.queues import live_workers
from core.jobs.registry import HANDLERS, JOB_TYPES
from core.jobs.transitions import JobError, move_job
from core.models import Job, Worker
from core.tasks import work as task
from evaluation.enums import EvaluationJob
from pooling.enums import PoolingJob, PoolState, SystemState
from pooling.models import Graph, Pool, System
from tests.factories import make_job, make_system


@pytest.fixture
def sent(monkeypatch) -> list[str]:
    """Return the queue of every message that would have gone to the broker."""
    messages: list[str] = []

    def send_task(name: str, kwargs: dict[str, str], queue: str) -> None:
        assert (name, kwargs) == ("core.work", {"queue": queue})
        messages.append(queue)

    monkeypatch.setattr(app, "send_task", send_task)
    return messages


@pytest.fixture
def work(monkeypatch):
    """Put a function in the place of what the EXPORT jobs do."""

    def use(function) -> None:
        monkeypatch.setitem(HANDLERS, EvaluationJob.EXPORT, function)

    use(lambda job, progress: None)
    return use


def again(job: Job) -> Job:
    job.refresh_from_db()
    return job


@pytest.fixture
def no_time_passes(monkeypatch) -> None:
    """So that what was silent for 25 seconds is not silent for 31 on a busy machine."""
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)


def silence(job: Job, seconds: float = 3600) -> None:
    Job.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - timedelta(seconds=seconds))


# -- starting ---------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_message_goes_out_only_when_the_row_is_committed(sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks() as callbacks:
        job = start_job(EvaluationJob.EXPORT)
    assert sent == []
    for callback in callbacks:
        callback()
    assert sent == ["cpu"]
    assert (job.state, job.attempts, job.params) == ("queued", 0, {})


@pytest.mark.django_db
def test_training_scoring_and_pooling_go_to_the_gpu_queue(sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        for kind in JOB_TYPES:
            start_job(kind)
    assert dict(zip(JOB_TYPES, sent, strict=True)) == {
        "train": "gpu",
        "build-pool": "gpu",
        "extend-pool": "gpu",
        "score": "gpu",
        "score-system": "gpu",
        "score-shard": "gpu",
        "import-graph": "cpu",
        "import-run": "cpu",
        "filter-pool": "cpu",
        "open-campaign": "cpu",
        "release-triples": "cpu",
        "send-webhooks": "cpu",
        "evaluate": "cpu",
        "export": "cpu",
        "open-world": "gpu",
    }


@pytest.mark.django_db
@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.RUNNING])
def test_a_live_job_of_the_same_kind_and_subject_is_taken(state, sent):
    first = start_job(EvaluationJob.EXPORT, params={"qrels": "v1"})
    Job.objects.update(state=state)
    assert start_job(EvaluationJob.EXPORT, params={"qrels": "v1"}).pk == first.pk
    assert Job.objects.count() == 1


@pytest.mark.django_db
def test_other_params_kind_or_subject_make_another_job(town: Graph, sent):
    system = make_system(town, "transe", trained=False)
    made = [
        start_job(EvaluationJob.EXPORT, params={"qrels": "v1"}),
        start_job(EvaluationJob.EXPORT, params={"qrels": "v2"}),
        start_job(EvaluationJob.EXPORT),
        start_job(EvaluationJob.EVALUATE),
        start_job(PoolingJob.TRAIN, system=system),
        start_job(PoolingJob.SCORE, system=system),
    ]
    assert len({job.pk for job in made}) == 6


@pytest.mark.django_db
@pytest.mark.parametrize("state", [JobState.DONE, JobState.FAILED, JobState.CANCELLED])
def test_a_job_that_is_over_is_not_taken_again(state, sent):
    first = start_job(EvaluationJob.EXPORT)
    Job.objects.update(state=state)
    assert start_job(EvaluationJob.EXPORT).pk != first.pk


@pytest.mark.django_db
def test_a_broker_that_is_down_leaves_a_queued_job(monkeypatch, django_capture_on_commit_callbacks, caplog):
    def refuse(*args: object, **kwargs: object) -> None:
        raise ConnectionError("no broker")

    monkeypatch.setattr(app, "send_task", refuse)
    with django_capture_on_commit_callbacks(execute=True):
        job = start_job(EvaluationJob.EXPORT)
    assert again(job).state == "queued"
    assert f"job {job.pk}: no message could be sent: no broker" in caplog.text


# -- doing ------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_job_is_done_once_however_many_messages_come(work):
    done = []
    work(lambda job, progress: done.append((job.pk, job.attempts)))
    job = make_job(EvaluationJob.EXPORT)
    task(queue="cpu")
    task(queue="cpu")
    assert execute(job.pk, "other") is False
    assert done == [(job.pk, 1)]
    assert (again(job).state, job.attempts, job.error) == ("done", 1, "")
    assert job.started_at is not None and job.finished_at is not None
    assert re.fullmatch(r".+:\d+", job.worker)


CLAIM_ALL = """
import sys, time
import django; django.setup()
from core.jobs.execution import execute
from core.jobs.fencing import fenced
from core.jobs.registry import HANDLERS
from core.models import Job
from evaluation.enums import EvaluationJob
def work(job, progress):
    time.sleep(0.01)
    open(sys.argv[1], "a").write(f"{job.pk}\\n")
HANDLERS[EvaluationJob.EXPORT] = work
ids = list(Job.objects.order_by("id").values_list("pk", flat=True))
print("ready", flush=True); sys.stdin.readline()
print(sum(execute(pk, sys.argv[2]) for pk in ids))
"""


def test_two_workers_that_claim_at_once_do_each_job_once(tmp_path, monkeypatch, migrated):
    """Two processes on a database file: in the tests' own, in memory, threads lock each other out."""
    shutil.copy(migrated, tmp_path / "triplepool.sqlite3")
    for name in ("DATABASE_URL", "CELERY_BROKER_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TRIPLEPOOL_VAR", str(tmp_path))
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "config.settings")
    base = {"cwd": settings.BASE_DIR, "text": True}
    prepare = (
        "import django; django.setup(); from django.core.management import call_command as call\n"
        "call('migrate', verbosity=0)\n"
        "from core.models import Job\n"
        "Job.objects.bulk_create(Job(kind='export') for _ in range(30))"
    )
    subprocess.run([sys.executable, "-c", prepare], check=True, timeout=300, **base)
    done = tmp_path / "done"
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", CLAIM_ALL, str(done), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **base
        )
        for name in ("a", "b")
    ]
    try:
        for worker in workers:
            assert worker.stdout is not None and worker.stdout.readline() == "ready\n"
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write("go\n")
            worker.stdin.flush()
        claimed = [int(worker.communicate(timeout=300)[0]) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
    assert sorted(int(line) for line in done.read_text().split()) == list(range(1, 31))
    assert sum(claimed) == 30


@pytest.mark.django_db
def test_a_message_for_a_job_that_is_gone_does_nothing(work):
    assert execute(12345, "w") is False


@pytest.mark.django_db
def test_a_person_reads_the_message_of_a_user_error_and_no_trace(work):
    def fail(job: Job, progress: Progress) -> None:
        raise UserError("Pool p is empty.")

    work(fail)
    job = make_job(EvaluationJob.EXPORT)
    execute(job.pk, "w")
    assert (again(job).state, job.error, job.log) == ("failed", "Pool p is empty.", "")


@pytest.mark.django_db
def test_any_other_error_is_named_and_its_trace_is_in_the_log(work):
    def fail(job: Job, progress: Progress) -> None:
        raise ZeroDivisionError("by nought")

    work(fail)
    job = make_job(EvaluationJob.EXPORT)
    execute(job.pk, "w")
    assert (again(job).state, job.error) == ("failed", "ZeroDivisionError: by nought")
    assert 'raise ZeroDivisionError("by nought")' in job.log


@pytest.mark.django_db
@pytest.mark.parametrize("error", [OperationalError("terminating connection"), InterfaceError("already closed")])
def test_a_job_whose_database_went_away_has_not_failed_and_is_queued_again(work, sent, error, settings):
    def lose(job: Job, progress: Progress) -> None:
        raise error

    work(lose)
    job = make_job(EvaluationJob.EXPORT)
    for attempt in range(1, settings.JOB_MAX_DEATHS + 1):
        assert execute(job.pk, "w")
        assert (again(job).state, job.attempts, job.error) == ("running", attempt, "")
        assert f"the database went away: {error}\n" in job.log
        taken = [job.pk] if attempt < settings.JOB_MAX_DEATHS else []
        assert [one.pk for one in sweep()] == taken
    assert again(job).state == "failed"  # not for ever
    work(lambda job, progress: None)
    other = make_job(EvaluationJob.EXPORT)
    execute(other.pk, "w")
    assert again(other).state == "done"


@pytest.mark.django_db
def test_a_job_whose_store_is_away_is_tried_again_after_a_while_and_fails_in_the_words_of_the_store(
    work, sent, settings
):
    def lose(job: Job, progress: Progress) -> None:
        silence(job)  # the time until the next try begins now, not with the last heartbeat
        raise StoreError("The store does not answer.")

    work(lose)
    job = make_job(EvaluationJob.EXPORT)
    for attempt in range(1, settings.JOB_MAX_DEATHS):
        assert execute(job.pk, "w")
        assert (again(job).state, job.attempts, job.error) == ("running", attempt, "")
        assert job.log.endswith(" The store does not answer. It is tried again in 30 s.\n")
        assert sweep() == []
        silence(job)
        assert [one.pk for one in sweep()] == [job.pk]
    assert execute(job.pk, "w")
    assert (again(job).state, job.attempts, job.error) == ("failed", 5, "The store does not answer.")


@pytest.mark.django_db
def test_a_job_whose_store_and_database_are_away_is_left_to_the_sweep(work, sent):
    def refuse(run: Any, sql: str, *args: Any) -> Any:
        if sql.startswith("UPDATE"):
            raise OperationalError("the connection is closed")
        return run(sql, *args)

    def lose(job: Job, progress: Progress) -> None:
        away.enter_context(connection.execute_wrapper(refuse))
        raise StoreError("The store does not answer.")

    work(lose)
    job = make_job(EvaluationJob.EXPORT)
    with contextlib.ExitStack() as away:
        assert execute(job.pk, "w")
    connection.set_rollback(False)  # nothing was written, so the test's transaction is whole
    assert (again(job).state, job.error) == ("running", "")


@pytest.mark.django_db
def test_a_store_that_is_away_again_after_the_job_got_further_does_not_fail_it(work, sent, settings):
    def get_further(job: Job, progress: Progress) -> None:
        with fenced():
            pass
        raise StoreError("The store does not answer.")

    work(get_further)
    job = make_job(EvaluationJob.EXPORT, deaths=settings.JOB_MAX_DEATHS - 1)
    execute(job.pk, "w")
    assert (again(job).state, job.deaths) == ("running", 0)


@pytest.mark.django_db
def test_a_cancelled_job_does_not_wait_for_its_store(work, sent):
    def lose(job: Job, progress: Progress) -> None:
        request_cancel(job)
        raise StoreError("The store does not answer.")

    work(lose)
    job = make_job(EvaluationJob.EXPORT)
    execute(job.pk, "w")
    assert again(job).state == "failed"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("error", "system_state"), [(ValueError("x"), SystemState.FAILED), (JobCancelled(), SystemState.CANCELLED)]
)
def test_a_system_whose_training_ended_does_not_say_that_it_trains(monkeypatch, town, error, system_state):
    def fail(job: Job, progress: Progress) -> None:
        System.objects.filter(pk=job.system_id).update(state=SystemState.TRAINING)
        raise error

    monkeypatch.setitem(HANDLERS, PoolingJob.TRAIN, fail)
    system = make_system(town, "transe", trained=False)
    execute(make_job(PoolingJob.TRAIN, system=system).pk, "w")
    system.refresh_from_db()
    assert system.state == system_state


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("error", "pool_state"),
    [
        (ValueError("not finite"), PoolState.FAILED),
        (UserError("empty"), PoolState.FAILED),
        (JobCancelled(), PoolState.CANCELLED),
    ],
)
def test_a_pool_that_is_not_built_does_not_say_that_it_is_being_built(monkeypatch, town, error, pool_state):
    def fail(job: Job, progress: Progress) -> None:
        raise error

    monkeypatch.setitem(HANDLERS, PoolingJob.BUILD_POOL, fail)
    pool = Pool.objects.create(graph=town, name="p", origin="built", depth=5)
    execute(make_job(PoolingJob.BUILD_POOL, pool=pool).pk, "w")
    pool.refresh_from_db()
    assert pool.state == pool_state


# -- progress ---------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_log_lines_are_stamped_and_appended():
    progress = Progress(job := make_job(EvaluationJob.EXPORT))
    progress.log("one")
    progress.log("two")
    assert re.fullmatch(r"\d\d:\d\d:\d\d one\n\d\d:\d\d:\d\d two\n", again(job).log)


@pytest.mark.django_db
def test_progress_is_written_at_most_once_a_second_but_the_end_always(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("core.jobs.progress.time.monotonic", lambda: clock[0])
    progress = Progress(job := make_job(EvaluationJob.EXPORT))
    seen = []
    for at, done in ((100.0, 0), (100.5, 10), (102.0, 20), (102.1, 80)):
        clock[0] = at
        progress.report("scoring", done, 80, "questions")
        seen.append((again(job).done, job.seconds_left))
    assert seen == [(0, None), (0, None), (20, 6.0), (80, 0.0)]
    assert (job.stage, job.total, job.unit, job.percent) == ("scoring", 80, "questions", 100)


@pytest.mark.django_db
def test_report_and_check_raise_after_stop():
    progress = Progress(make_job(EvaluationJob.EXPORT))
    progress.check()
    progress.stop()
    assert progress.should_stop()
    with pytest.raises(JobCancelled):
        progress.report("x", 1, 2)


# -- cancelling and starting again ------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_queued_job_is_cancelled_at_once_and_never_done(work):
    work(lambda job, progress: pytest.fail("it was done"))
    job = make_job(EvaluationJob.EXPORT)
    request_cancel(job)
    assert (again(job).state, job.cancel_requested) == ("cancelled", False)
    assert job.finished_at is not None
    assert execute(job.pk, "w") is False


@pytest.mark.django_db(transaction=True)
def test_a_running_job_is_cancelled_at_its_next_step(work, settings):
    settings.JOB_HEARTBEAT_SECONDS = 0.02

    def loop(job: Job, progress: Progress) -> None:
        request_cancel(job)
        for _ in range(5000):
            progress.report("looping", 1, 2)
            threading.Event().wait(0.02)
        pytest.fail("nobody stopped it")

    work(loop)
    job = make_job(EvaluationJob.EXPORT)
    assert execute(job.pk, "w") is True
    assert (again(job).state, job.cancel_requested, job.error) == ("cancelled", True, "")


@pytest.mark.django_db
@pytest.mark.parametrize("state", [JobState.DONE, JobState.FAILED, JobState.CANCELLED])
def test_what_is_over_cannot_be_cancelled(state):
    job = make_job(EvaluationJob.EXPORT, state)
    with pytest.raises(JobError) as caught:
        request_cancel(job)
    assert str(caught.value) == f"Job {job.pk} is over already: there is nothing to cancel."


@pytest.mark.django_db
@pytest.mark.parametrize("state", [JobState.FAILED, JobState.CANCELLED])
def test_a_failed_or_cancelled_job_starts_again(state, work, sent, django_capture_on_commit_callbacks):
    job = make_job(
        EvaluationJob.EXPORT, state, error="x", attempts=5, deaths=4, cancel_requested=True, finished_at=timezone.now()
    )
    with django_capture_on_commit_callbacks(execute=True):
        retry(job)
    assert sent == ["cpu"]
    fields = (again(job).state, job.error, job.deaths, job.cancel_requested, job.finished_at)
    assert fields == ("queued", "", 0, False, None)
    assert execute(job.pk, "w") is True
    assert again(job).state == "done"


@pytest.mark.django_db
@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.RUNNING])
def test_a_job_does_not_start_again_beside_one_that_does_the_same(state, sent):
    failed, live = make_job(EvaluationJob.EXPORT, JobState.FAILED), make_job(EvaluationJob.EXPORT, state)
    make_job(EvaluationJob.EXPORT, state, params={"qrels": "other"})
    with pytest.raises(JobError) as caught:
        retry(failed)
    assert str(caught.value) == f"Job {live.pk} does the same and is {state}: wait for its end."
    assert (again(failed).state, sent) == (JobState.FAILED, [])


@pytest.mark.django_db
@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.RUNNING, JobState.DONE])
def test_no_other_job_starts_again(state, sent):
    job = make_job(EvaluationJob.EXPORT, state)
    with pytest.raises(JobError) as caught:
        retry(job)
    assert str(caught.value) == (f"Job {job.pk} is {state}: only a failed or cancelled job can be started again.")
    assert again(job).state == state


def test_moves_that_are_not_in_the_table_are_refused():
    with pytest.raises(ValueError, match="a job cannot go from done to running"):
        move_job(1, JobState.DONE, JobState.RUNNING)


# -- workers that die -------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_silent_job_is_queued_again_exactly_once(sent):
    job = make_job(PoolingJob.TRAIN, JobState.RUNNING, attempts=1, worker="host:7")
    silence(job)
    assert [j.pk for j in sweep()] == [job.pk]
    assert sweep() == []
    assert sent == []  # an idle worker looks for it
    assert (again(job).state, job.attempts, job.deaths) == ("queued", 1, 1)
    assert re.fullmatch(r"\d\d:\d\d:\d\d worker host:7 fell silent; queued again\n", job.log)


@pytest.mark.django_db
def test_the_next_attempt_says_that_it_is_one(work):
    job = make_job(EvaluationJob.EXPORT, attempts=1)
    execute(job.pk, "w")
    assert again(job).attempts == 2
    assert re.fullmatch(r"\S+ attempt 2, going on from what the last one left\n", job.log)


@pytest.mark.django_db
def test_a_job_whose_heart_beats_is_left_alone(sent, settings, no_time_passes):
    job = make_job(PoolingJob.TRAIN, JobState.RUNNING, attempts=1)
    silence(job, settings.JOB_SILENT_SECONDS - 1)
    assert sweep() == []
    assert (again(job).state, sent) == ("running", [])


@pytest.mark.django_db
def test_a_beat_between_look_and_update_keeps_the_job(sent, monkeypatch):
    """Two sweepers, or a worker that was only slow: the UPDATE finds another heartbeat and no row."""
    job = make_job(EvaluationJob.EXPORT, JobState.RUNNING, attempts=1)
    silence(job)
    seen = list(Job.objects.all())
    Job.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now())

    class Late:
        def filter(self, *args: object, **kwargs: object):
            return seen if args else Job._base_manager.filter(**kwargs)

        def __iter__(self):
            return iter(seen)

        def exists(self) -> bool:
            return True

    class Manager:
        def filter(self, *args: object, **kwargs: object):
            return Late() if kwargs == {"state": JobState.RUNNING} else Job._base_manager.filter(**kwargs)

    monkeypatch.setattr(Job, "objects", Manager())
    assert sweep() == []
    monkeypatch.undo()
    assert again(job).state == "running"


@pytest.mark.django_db
def test_a_job_that_kills_its_workers_is_given_up(sent, town, settings):
    system = make_system(town, "transe", trained=False)
    System.objects.update(state=SystemState.TRAINING)
    job = make_job(PoolingJob.TRAIN, JobState.RUNNING, attempts=9, deaths=settings.JOB_MAX_DEATHS - 1, system=system)
    silence(job)
    assert sweep() == []
    assert (again(job).state, job.error) == (
        "failed",
        "Its worker died 5 times without getting further. See the log, then start it again.",
    )
    system.refresh_from_db()
    assert (system.state, sent) == (SystemState.FAILED, [])


@pytest.mark.django_db
def test_a_silent_job_that_somebody_cancelled_is_not_taken_up(sent):
    job = make_job(EvaluationJob.EXPORT, JobState.RUNNING, attempts=1, cancel_requested=True)
    silence(job)
    assert sweep() == []
    assert (again(job).state, sent) == ("cancelled", [])


@pytest.mark.django_db(transaction=True)
def test_an_attempt_that_lost_its_row_stops_and_does_not_end_it(work, settings):
    """Its machine slept, the sweeper gave the job to another: the sleeper wakes up and must leave."""
    settings.JOB_HEARTBEAT_SECONDS = 0.02
    stopped: list[int] = []

    def sleep(job: Job, progress: Progress) -> None:
        Job.objects.filter(pk=job.pk).update(worker="another", attempts=2)
        for _ in range(5000):
            if progress.should_stop():
                stopped.append(job.pk)
                progress.check()
            threading.Event().wait(0.02)

    work(sleep)
    job = make_job(EvaluationJob.EXPORT)
    execute(job.pk, "w")
    assert (again(job).state, job.worker, job.attempts, stopped) == ("running", "another", 2, [job.pk])
    assert job.finished_at is None


@pytest.mark.django_db(transaction=True)
def test_the_heart_beats_while_the_work_runs(work, settings):
    settings.JOB_HEARTBEAT_SECONDS = 0.02
    beats = []

    def watch(job: Job, progress: Progress) -> None:
        silence(job)
        for _ in range(500):
            threading.Event().wait(0.1)
            with contextlib.suppress(OperationalError):  # a database in memory locks its readers out
                at = Job.objects.get(pk=job.pk).heartbeat_at
                if at > timezone.now() - timedelta(seconds=60):
                    return beats.append(at)

    work(watch)
    execute(make_job(EvaluationJob.EXPORT).pk, "w")
    assert len(beats) == 1


@pytest.mark.django_db
def test_live_workers_are_those_that_were_seen_lately(settings):
    now = timezone.now()
    Worker.objects.create(name="alive", queues="cpu", seen_at=now)
    Worker.objects.create(name="dead", queues="cpu", seen_at=now - timedelta(seconds=settings.JOB_SILENT_SECONDS + 1))
    assert [worker.name for worker in live_workers()] == ["alive"]
