"""Parts of a job: done by whoever is idle, never twice, and ended with the job."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from core.enums import LIVE, JobState
from core.jobs import parts as module
from core.jobs.execution import execute
from core.jobs.lifecycle import request_cancel, retry
from core.jobs.parts import do_parts, forget_parts
from core.jobs.progress import LEAVING, Progress
from core.jobs.registry import HANDLERS
from core.jobs.transitions import JobError
from core.models import Job
from evaluation.enums import EvaluationJob
from pooling.enums import PoolingJob
from tests.factories import make_job

WHOLE, PART = EvaluationJob.EXPORT, PoolingJob.SCORE_SHARD
pytestmark = pytest.mark.django_db


class Bench:
    """A job of three parts; `act` is called within each part, `told` holds what the job heard of its progress."""

    def __init__(self) -> None:
        self.act: Callable[[Job, Progress], None] = lambda part, progress: None
        self.done: list[int] = []
        self.told: list[tuple[int, int]] = []
        self.numbers = [0, 1, 2]
        self.forgets = True

    def whole(self, job: Job, progress: Progress) -> None:
        asked = [{"n": n} for n in self.numbers]
        found = do_parts(PART, asked, [10] * len(asked), lambda *told: self.told.append(told))
        assert [part.params["n"] for part in found] == self.numbers
        if self.forgets:
            forget_parts(found)

    def part(self, job: Job, progress: Progress) -> None:
        self.act(job, progress)
        progress.check()
        progress.log(f"part {job.params['n']} is done")
        self.done.append(job.params["n"])


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    made = Bench()
    monkeypatch.setitem(HANDLERS, WHOLE, made.whole)
    monkeypatch.setitem(HANDLERS, PART, made.part)
    monkeypatch.setattr(module, "LOOK_EVERY", 0.0)
    yield made
    LEAVING.clear()


def states(job: Job) -> list[str]:
    return list(Job.objects.filter(parent=job).order_by("id").values_list("state", flat=True))


def test_one_worker_does_all_parts_and_then_the_rest(bench: Bench):
    job = make_job(WHOLE)
    execute(job.pk, "host:1")
    job.refresh_from_db()
    assert (job.state, bench.done) == (JobState.DONE, [0, 1, 2])
    assert bench.told == [(0, 30), (10, 30), (20, 30), (30, 30)]
    assert not Job.objects.filter(parent=job).exists()
    assert [line.split(" ", 1)[1] for line in job.log.splitlines()] == [f"part {n} is done" for n in range(3)]


def test_another_worker_takes_parts_and_none_is_done_twice(bench: Bench):
    def let_another(part: Job, progress: Progress) -> None:
        if part.params["n"] == 0:
            last = Job.objects.filter(kind=PART).latest("id")
            assert execute(last.pk, "other:1")

    bench.act = let_another
    bench.forgets = False
    job = make_job(WHOLE)
    execute(job.pk, "host:1")
    assert bench.done == [2, 0, 1]
    assert Job.objects.get(pk=job.pk).state == JobState.DONE


def test_the_job_waits_for_a_part_that_another_worker_has(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    def taken_by_another(part: Job, progress: Progress) -> None:
        Job.objects.filter(kind=PART, state=JobState.QUEUED).update(state=JobState.RUNNING, worker="other:1")

    waited = []

    def end(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 2:
            Job.objects.filter(worker="other:1").update(state=JobState.DONE)

    bench.act = taken_by_another
    monkeypatch.setattr(module.time, "sleep", end)
    job = make_job(WHOLE)
    execute(job.pk, "host:1")
    assert Job.objects.get(pk=job.pk).state == JobState.DONE
    assert (bench.done, len(waited)) == ([0], 2)


def test_a_part_that_fails_ends_the_job_with_its_words_and_started_again_only_the_rest_is_done(bench: Bench):
    def fail(part: Job, progress: Progress) -> None:
        if part.params["n"] == 1:
            raise module.PartError("The disk is full.")

    bench.act = fail
    job = make_job(WHOLE)
    execute(job.pk, "host:1")
    job.refresh_from_db()
    assert (job.state, job.error) == (JobState.FAILED, "The disk is full.")
    assert states(job) == [JobState.DONE, JobState.FAILED, JobState.CANCELLED]
    bench.act = lambda part, progress: None
    retry(job)
    execute(job.pk, "host:2")
    assert Job.objects.get(pk=job.pk).state == JobState.DONE
    assert bench.done == [0, 1, 2]


def test_cancelling_the_job_ends_its_parts(bench: Bench):
    def cancel(part: Job, progress: Progress) -> None:
        request_cancel(part.parent)
        part.refresh_from_db()
        assert part.cancel_requested  # its own heartbeat reads this
        progress.stop()

    bench.act = cancel
    job = make_job(WHOLE)
    execute(job.pk, "host:1")
    assert Job.objects.get(pk=job.pk).state == JobState.CANCELLED
    assert states(job) == [JobState.CANCELLED] * 3
    assert bench.done == []


def test_a_worker_that_is_to_end_gives_back_the_part_and_the_job(bench: Bench):
    bench.act = lambda part, progress: LEAVING.set() if part.params["n"] == 1 else None
    job = make_job(WHOLE)
    execute(job.pk, "host:1")
    assert Job.objects.get(pk=job.pk).state == JobState.QUEUED
    assert states(job) == [JobState.DONE, JobState.QUEUED, JobState.QUEUED]
    LEAVING.clear()
    bench.act = lambda part, progress: None
    execute(job.pk, "host:2")
    assert bench.done == [0, 1, 2]


def test_cancelling_a_job_that_waits_again_ends_its_parts(bench: Bench):
    bench.act = lambda part, progress: LEAVING.set()
    job = make_job(WHOLE)
    execute(job.pk, "host:1")
    job.refresh_from_db()
    request_cancel(job)
    assert Job.objects.get(pk=job.pk).state == JobState.CANCELLED
    assert states(job) == [JobState.CANCELLED] * 3


def test_parts_of_an_older_order_are_dropped(bench: Bench):
    bench.act = lambda part, progress: LEAVING.set() if part.params["n"] == 1 else None
    job = make_job(WHOLE)
    execute(job.pk, "host:1")
    LEAVING.clear()
    bench.act, bench.numbers = lambda part, progress: None, [7, 0]
    execute(job.pk, "host:1")
    assert Job.objects.get(pk=job.pk).state == JobState.DONE
    assert bench.done == [0, 7]
    assert not Job.objects.filter(kind=PART, state__in=LIVE).exists()


def test_an_attempt_that_lost_the_job_ends_and_leaves_the_parts_to_the_other(bench: Bench):
    def take(part: Job, progress: Progress) -> None:
        Job.objects.filter(pk=part.parent_id).update(worker="other:1", attempts=2)

    bench.act = take
    job = make_job(WHOLE)
    execute(job.pk, "host:1")
    job.refresh_from_db()
    assert (job.state, job.worker) == (JobState.RUNNING, "other:1")
    assert states(job) == [JobState.DONE, JobState.QUEUED, JobState.QUEUED]


def test_a_finished_part_counts_as_getting_further(bench: Bench):
    seen = []
    bench.act = lambda part, progress: seen.append(Job.objects.get(pk=part.parent_id).deaths)
    job = make_job(WHOLE, deaths=3)
    execute(job.pk, "host:1")
    assert seen == [3, 0, 0]


def test_a_part_is_neither_cancelled_nor_started_again_by_itself(bench: Bench):
    job = make_job(WHOLE)
    part = make_job(PART, parent=job, params={"n": 0})
    with pytest.raises(JobError, match=f"part of job {job.pk}"):
        request_cancel(part)
    Job.objects.filter(pk=part.pk).update(state=JobState.FAILED)
    part.refresh_from_db()
    with pytest.raises(JobError, match=f"part of job {job.pk}"):
        retry(part)
    assert not part.can_retry


def test_outside_of_a_job_there_are_no_parts(bench: Bench):
    with pytest.raises(RuntimeError, match="only a job"):
        do_parts(PART, [{"n": 0}], [1], lambda done, total: None)
