"""Let a job write only while it is its own: an attempt that was paused, and whose job went to another, writes nothing.

A worker that falls silent loses its job (`lifecycle.sweep`), and it cannot know: its process may only be paused. So
every transaction of a job's work ends with a write to the job's row, which only the attempt that has the job can do.
Files go to a folder of the attempt's own, which others learn of by such a transaction.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet

from core import clock
from core.enums import JobState
from core.jobs.progress import JobCancelled, Progress
from core.models import Job

# what this process is at work on
_attempt: ContextVar[tuple[Job, Progress] | None] = ContextVar("attempt", default=None)


def own_row(job: Job) -> QuerySet[Job]:
    """Return the row of a running job as long as this attempt has it; empty once it is over or another's."""
    return Job.objects.filter(pk=job.pk, state=JobState.RUNNING, worker=job.worker, attempts=job.attempts)


@contextmanager
def attempt(job: Job, progress: Progress) -> Iterator[None]:
    """Let `fenced` in this block ask for this attempt, as its row was when it was claimed."""
    token = _attempt.set((job, progress))
    try:
        yield
    finally:
        _attempt.reset(token)


def working() -> tuple[Job, Progress] | None:
    """Return the job that this process is at work on, as its row was when it was claimed; None outside of jobs."""
    return _attempt.get()


@contextmanager
def fenced(*, further: bool = True, brief: bool = False) -> Iterator[None]:
    """Open a transaction in which the present attempt keeps its job; outside of jobs, a usual transaction.

    What it writes is kept for the next attempt, so the job got further: deaths of earlier workers count no more. Give
    further=False for a write that every attempt starts with, and brief=True if the block computes nothing: PostgreSQL
    then ends the session of a process that is paused within it, whose locks the next attempt would wait for. Raise
    JobCancelled, with nothing written, if the job went to another attempt or is over.
    """
    at_work = working()
    job = at_work[0] if at_work else None
    with transaction.atomic():
        if job is not None and not own_row(job).exists():
            raise JobCancelled
        if job is not None and brief and connection.vendor == "postgresql":
            _end_if_idle(settings.JOB_SILENT_SECONDS)
        yield
        # last, so that the row is locked for no longer than the commit takes
        if job is not None:
            written: dict[str, Any] = {"heartbeat_at": clock.now()} | ({"deaths": 0} if further else {})
            if not own_row(job).update(**written):
                raise JobCancelled


def _end_if_idle(seconds: float) -> None:
    """Let PostgreSQL end the session if this transaction asks nothing for so long."""
    with connection.cursor() as cursor:
        limit = f"{round(seconds * 1000)}ms"
        cursor.execute("SELECT set_config('idle_in_transaction_session_timeout', %s, true)", [limit])
