"""Start, cancel and retry jobs, and queue again those whose worker fell silent."""

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Concat

from core import clock
from core.database import held
from core.enums import LIVE, CoreAct, JobState
from core.jobs.registry import JOB_TYPES
from core.jobs.transitions import JobError, cancel_parts, move_job, tell_end
from core.models import Job
from core.people.audit_log import record

logger = logging.getLogger(__name__)

Subject = Any  # a graph, system or pool, or None: rows of the app above, which core does not import


def _live(kind: str, graph: Subject, system: Subject, pool: Subject, params: dict[str, Any]) -> QuerySet[Job]:
    """Return the jobs of the same kind, subject and parameters that are not over."""
    return Job.objects.filter(kind=kind, graph=graph, system=system, pool=pool, params=params, state__in=LIVE)


def live_jobs(about: Q) -> list[Job]:
    """Return the jobs `about` something that are not over, oldest first."""
    jobs = Job.objects.filter(about, state__in=LIVE).select_related("graph", "system__graph", "pool__graph")
    return list(jobs.defer("log", "params").order_by("id"))


def start_job(
    kind: str,
    *,
    graph: Subject = None,
    system: Subject = None,
    pool: Subject = None,
    params: dict[str, Any] | None = None,
    user: User | None = None,
) -> Job:
    """Return a new job, or the live one of this kind, subject and params; GoneError if the subject was deleted."""
    with transaction.atomic():
        held(*filter(None, (graph, system, pool)))  # two requests at once get one job
        live = _live(kind, graph, system, pool, params or {})
        if (job := live.first()) is None:
            subject = {"graph": graph, "system": system, "pool": pool}
            needs = (one := JOB_TYPES[kind]).needs(graph, system, pool)
            made = {"params": params or {}, "created_by": user, "heartbeat_at": clock.now(), "needs": needs}
            job = Job.objects.create(kind=kind, **subject, **made)
            if (act := one.act) is not None:
                about = str(system or graph or pool or "")
                record(user, act, pool=pool, about=about, **(params or {}))
        _send_on_commit(job)
    return job


def _send_on_commit(job: Job) -> None:
    transaction.on_commit(lambda: _send(job.pk, job.kind))


def _send(job_id: int, kind: str) -> None:
    try:
        wake(JOB_TYPES[kind].queue)
    except Exception as error:  # each broker has errors of its own
        # the row is the truth: it stays queued, and the next worker that has nothing to do looks for it
        logger.error("job %s: no message could be sent: %s", job_id, error)


def wake(queue: str) -> None:
    """Send a message that there may be work on a queue. One that finds none costs nothing."""
    from config.celery import app  # here, since most commands start no job, and Celery takes long to import

    app.send_task("core.work", kwargs={"queue": queue}, queue=queue)


def request_cancel(job: Job) -> None:
    """Cancel a queued job at once, a running one at its next step; JobError if it is over, or a part of another."""
    _check_is_whole(job)
    with transaction.atomic():
        if move_job(job.pk, JobState.QUEUED, JobState.CANCELLED, finished_at=clock.now()):
            tell_end(job, JobState.CANCELLED)
            return
    if not Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(cancel_requested=True):
        raise JobError(f"Job {job.pk} is over already: there is nothing to cancel.")
    cancel_parts(job.pk)


def _check_is_whole(job: Job) -> None:
    if job.parent_id is not None:
        raise JobError(f"Job {job.pk} is a part of job {job.parent_id}: cancel or start that one.")


def cancel_job(job: Job, user: User) -> None:
    """Cancel a job as a manager: the audit log says who did it. Raise JobError if the job is over."""
    with transaction.atomic():
        request_cancel(job)
        record(user, CoreAct.JOB_CANCELLED, pool=job.pool, about=str(job))


def retry_job(job: Job, user: User) -> None:
    """Start a job again as a manager: the audit log says who did it. Raise JobError as `retry` does."""
    with transaction.atomic():
        retry(job)
        record(user, CoreAct.JOB_RETRIED, pool=job.pool, about=str(job))


def retry(job: Job) -> None:
    """Queue a failed or cancelled job again; training goes on from its last checkpoint. Raise JobError for others."""
    _check_is_whole(job)
    fields: dict[str, Any] = {"cancel_requested": False, "error": "", "deaths": 0, "finished_at": None}
    fields["heartbeat_at"] = clock.now()
    with transaction.atomic():
        held(*filter(None, (job.graph, job.system, job.pool)))
        live = _live(job.kind, job.graph, job.system, job.pool, job.params).exclude(pk=job.pk)
        if (other := live.first()) is not None:
            raise JobError(f"Job {other.pk} does the same and is {other.state}: wait for its end.")
        if not any(move_job(job.pk, old, JobState.QUEUED, **fields) for old in (JobState.FAILED, JobState.CANCELLED)):
            raise JobError(f"Job {job.pk} is {job.state}: only a failed or cancelled job can be started again.")
        _send_on_commit(job)


def sweep() -> list[Job]:
    """Queue jobs again whose worker fell silent, and return them; one that only kills its workers has failed."""
    now = clock.now()
    silent = now - timedelta(seconds=settings.JOB_SILENT_SECONDS)
    taken = []
    for job in Job.objects.filter(state=JobState.RUNNING).filter(Q(heartbeat_at=None) | Q(heartbeat_at__lt=silent)):
        stamp = now.strftime("%H:%M:%S")
        # a beat in the meantime changes heartbeat_at: then the job is alive, and this UPDATE finds no row
        mine = Job.objects.filter(pk=job.pk, state=JobState.RUNNING, heartbeat_at=job.heartbeat_at)
        if job.cancel_requested:
            _end(mine, job, JobState.CANCELLED, now)
        elif job.deaths + 1 >= settings.JOB_MAX_DEATHS:
            error = f"Its worker died {job.deaths + 1} times without getting further. See the log, then start it again."
            _end(mine, job, JobState.FAILED, now, error=error)
        elif mine.update(
            state=JobState.QUEUED,
            heartbeat_at=now,
            deaths=job.deaths + 1,
            log=Concat(F("log"), Value(f"{stamp} worker {job.worker} fell silent; queued again\n")),
        ):
            taken.append(job)
    return taken


def _end(mine: QuerySet[Job], job: Job, state: JobState, now: datetime, **fields: str) -> None:
    """End a job whose worker fell silent, unless it is alive after all."""
    with transaction.atomic():
        if mine.update(state=state, finished_at=now, seconds_left=None, **fields):
            tell_end(job, state)


def give_back(workers: Iterable[str]) -> int:
    """Queue the jobs again of workers that were ended, and return their number; that counts as no death."""
    now = clock.now()
    given = 0
    for job in Job.objects.filter(state=JobState.RUNNING):
        if job.worker.rpartition(":")[0] in workers:
            line = f"{now:%H:%M:%S} worker {job.worker} was ended; queued again\n"
            back = {"state": JobState.QUEUED, "heartbeat_at": now, "log": Concat(F("log"), Value(line))}
            mine = Job.objects.filter(pk=job.pk, state=JobState.RUNNING, worker=job.worker, attempts=job.attempts)
            given += mine.filter(cancel_requested=False).update(**back)
    return given
