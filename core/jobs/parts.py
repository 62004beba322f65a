"""Divide the work of a job into parts: jobs of their own, which any idle worker takes.

The job that has parts does them too, one after another, and waits only for those that others have begun. So a single
worker finishes it alone, and nobody waits for a worker that never comes. A part that is done stays done if the job is
interrupted: the next attempt orders the same parts and finds it.
"""

import json
import time
from collections.abc import Sequence
from typing import Any

from django.db.models import F, QuerySet, Value
from django.db.models.functions import Concat

from core import clock
from core.callbacks import Tell
from core.enums import JobState
from core.errors import UserError
from core.jobs.execution import execute
from core.jobs.fencing import fenced, own_row, working
from core.jobs.progress import JobCancelled
from core.jobs.transitions import move_job
from core.models import Job

LOOK_EVERY = 0.3  # seconds, while others do what is left


class PartError(UserError):
    """A part of a job failed."""


def do_parts(kind: str, asked: Sequence[dict[str, Any]], sizes: Sequence[int], tell: Tell) -> list[Job]:
    """Have parts of the present job done, by this worker and idle others; return their rows in the order of `asked`.

    `asked` holds the params of each part, all different, and `sizes` the units of its work: `tell` hears how many of
    them are done. Parts that an earlier order of this job left are cancelled. Call `forget_parts` once the results are
    stored. PartError if a part fails; JobCancelled if the job was cancelled or its worker is to end.
    """
    at_work = working()
    if at_work is None:
        raise RuntimeError("only a job has parts")
    job, progress = at_work
    ids = _ordered(job, kind, asked)
    parts, size_of = Job.objects.filter(pk__in=ids), dict(zip(ids, sizes, strict=True))

    def look() -> None:
        tell(_units_done(parts, size_of), sum(sizes))

    finished = 0
    progress.each_beat = look  # while this worker is at a part
    try:
        while left := _left(job, parts):
            progress.check()
            look()
            if len(ids) - len(left) > finished:
                finished = len(ids) - len(left)
                with fenced():  # what is done stays done: the job got further
                    pass
            if not any(execute(pk, job.worker) for pk, state in left if state == JobState.QUEUED):
                time.sleep(LOOK_EVERY)
    finally:
        progress.each_beat = None
    look()
    done = parts.in_bulk()
    return [done[pk] for pk in ids]


def forget_parts(parts: Sequence[Job]) -> None:
    """Delete the rows of parts whose results are stored; the job keeps what they logged."""
    with fenced():
        for part in parts:
            if part.log and part.parent_id:
                Job.objects.filter(pk=part.parent_id).update(log=Concat(F("log"), Value(part.log)))
        Job.objects.filter(pk__in=[part.pk for part in parts]).delete()


def _ordered(job: Job, kind: str, asked: Sequence[dict[str, Any]]) -> list[int]:
    """Return the ids of the parts: rows of an earlier attempt, queued again if they ended undone, or new ones."""
    before = {_key(part.kind, part.params): part.pk for part in Job.objects.filter(parent=job)}
    keys = [_key(kind, params) for params in asked]
    kept = [before[key] for key in keys if key in before]
    again = {"cancel_requested": False, "error": "", "deaths": 0, "finished_at": None}
    with fenced(further=False):
        others = Job.objects.filter(parent=job).exclude(pk__in=kept)
        others.exclude(state=JobState.RUNNING).delete()
        others.update(cancel_requested=True)
        for pk in kept:
            for ended in (JobState.FAILED, JobState.CANCELLED):
                move_job(pk, ended, JobState.QUEUED, heartbeat_at=clock.now(), **again)
        made = {"kind": kind, "parent": job, "created_by": job.created_by, "heartbeat_at": clock.now()}
        return [
            before[key] if key in before else Job.objects.create(params=params, **made).pk
            for key, params in zip(keys, asked, strict=True)
        ]


def _key(kind: str, params: dict[str, Any]) -> str:
    return f"{kind} {json.dumps(params, sort_keys=True)}"


def _left(job: Job, parts: QuerySet[Job]) -> list[tuple[int, str]]:
    """Return (id, state) of the parts that are not over, oldest first; end the job if one is over but not done."""
    found = list(parts.order_by("id").values_list("pk", "state", "error"))
    undone = [(pk, error) for pk, state, error in found if state in (JobState.FAILED, JobState.CANCELLED)]
    if undone and not own_row(job).filter(cancel_requested=False).exists():
        raise JobCancelled
    for _, error in undone:
        raise PartError(error or "A part of this job was cancelled. Start the job again.")
    return [(pk, state) for pk, state, _ in found if state != JobState.DONE]


def _units_done(parts: QuerySet[Job], size_of: dict[int, int]) -> int:
    """Return how many units of the parts are done, those of running ones by their own progress."""
    found = parts.values_list("pk", "state", "done", "total")
    return sum(
        size_of[pk] if state == JobState.DONE else size_of[pk] * min(done, total) // total if total else 0
        for pk, state, done, total in found
    )
