"""Jobs: the row is the truth. A worker claims a row, beats its heart, and the sweeper takes up the silent."""

import contextlib
import logging
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Concat
from django.utils import timezone

from config.celery import app as celery_app
from core.database.row_locks import held
from core.enums import LIVE, AuditAct, JobKind, JobState
from core.errors import UserError
from core.people.audit_log import record
from pooling.enums import PoolState, SystemState
from pooling.models import Graph, Job, Pool, System, Worker

logger = logging.getLogger(__name__)

Handler = Callable[[Job, "Progress"], None]
HANDLERS: dict[str, Handler] = {}

# The moves a job may make: state now -> states it may take. Every move is an UPDATE on the state it leaves.
MOVES = {
    JobState.QUEUED: {JobState.RUNNING, JobState.CANCELLED},
    JobState.RUNNING: {JobState.DONE, JobState.FAILED, JobState.CANCELLED, JobState.QUEUED},
    JobState.FAILED: {JobState.QUEUED},
    JobState.CANCELLED: {JobState.QUEUED},
    JobState.DONE: set(),
}
QUEUES = {
    JobKind.TRAIN: "gpu",
    JobKind.SCORE: "gpu",
    JobKind.BUILD_POOL: "gpu",
    JobKind.EXTEND_POOL: "gpu",
    JobKind.OPEN_WORLD: "gpu",
    JobKind.EVALUATE: "cpu",
    JobKind.EXPORT: "cpu",
}
# what starting a job of a kind is called in the audit log; the others follow from these
_ACTS = {
    JobKind.TRAIN: AuditAct.SYSTEMS_TRAINED,
    JobKind.OPEN_WORLD: AuditAct.SYSTEMS_TRAINED,
    JobKind.BUILD_POOL: AuditAct.POOL_BUILT,
    JobKind.EXPORT: AuditAct.TEST_SET_EXPORTED,
}


class JobError(UserError):
    """A job cannot do what was asked of it."""


class JobCancelled(Exception):  # noqa: N818 - not an error: somebody asked for it
    """Raised inside a job when its cancel flag was seen, or when another worker took it over."""


def handles(kind: JobKind) -> Callable[[Handler], Handler]:
    """Register the function that does the work of a kind of job. It must be safe to run twice."""

    def register(handler: Handler) -> Handler:
        HANDLERS[kind] = handler
        return handler

    return register


def _move(job_id: int, old: JobState, new: JobState, **fields: Any) -> bool:
    if new not in MOVES[old]:
        raise ValueError(f"a job cannot go from {old} to {new}")
    return Job.objects.filter(pk=job_id, state=old).update(state=new, **fields) == 1


def _lock_subject(graph: Graph | None, system: System | None, pool: Pool | None) -> None:
    """Who starts a job of the same subject at the same time waits here, and then sees this one's; so does who deletes.

    GoneError where it was deleted.
    """
    held(*(row for row in (graph, system, pool) if row is not None))


def _live(
    kind: str, graph: Graph | None, system: System | None, pool: Pool | None, params: dict[str, Any]
) -> QuerySet[Job]:
    """Jobs that do the same and are not over."""
    return Job.objects.filter(kind=kind, graph=graph, system=system, pool=pool, params=params, state__in=LIVE)


def live_jobs(subject: Graph | System | Pool) -> QuerySet[Job]:
    """Jobs that are not over, of a subject or of what belongs to it, oldest first."""
    if isinstance(subject, Graph):
        own = Q(graph=subject) | Q(system__graph=subject) | Q(pool__graph=subject)
    elif isinstance(subject, Pool):
        own = Q(pool=subject)
    else:
        own = Q(system=subject) | Q(pk__in=_extensions_by(subject))
    return Job.objects.filter(own, state__in=LIVE).order_by("id")


def _extensions_by(system: System) -> list[int]:
    """Live jobs that add the system to a pool: only their params name it. (SQLite cannot search in JSON lists.)"""
    live = Job.objects.filter(kind=JobKind.EXTEND_POOL, pool__graph=system.graph_id, state__in=LIVE)
    return [pk for pk, params in live.values_list("pk", "params") if system.name in params["systems"]]


def start_job(
    kind: JobKind,
    *,
    graph: Graph | None = None,
    system: System | None = None,
    pool: Pool | None = None,
    params: dict[str, Any] | None = None,
    user: User | None = None,
) -> Job:
    """Make the row and, once it is committed, send its message. A live job of the same
    kind, subject and params is it. GoneError where the subject was deleted."""
    with transaction.atomic():
        _lock_subject(graph, system, pool)  # two that ask at once get one job
        live = _live(kind, graph, system, pool, params or {})
        if (job := live.first()) is None:
            job = Job.objects.create(
                kind=kind,
                graph=graph,
                system=system,
                pool=pool,
                params=params or {},
                created_by=user,
                heartbeat_at=timezone.now(),
            )
            if kind in _ACTS:
                about = str(system or graph or pool or "")
                record(user, _ACTS[kind], pool=pool, about=about, **(params or {}))
        _send_on_commit(job)
    return job


def _send_on_commit(job: Job) -> None:
    transaction.on_commit(lambda: _send(job.pk, job.kind))


def _send(job_id: int, kind: str) -> None:
    try:
        celery_app.send_task("pooling.run_job", kwargs={"job_id": job_id}, queue=QUEUES[JobKind(kind)])
    except Exception as error:  # each broker has errors of its own
        # the row is the truth: it stays queued, and the sweeper sends again what nobody picked up
        logger.error("job %s: no message could be sent: %s", job_id, error)


def request_cancel(job: Job) -> None:
    """A queued job is cancelled at once, a running one at its next step."""
    if _move(job.pk, JobState.QUEUED, JobState.CANCELLED, finished_at=timezone.now()):
        _leave_subject(job, JobState.CANCELLED)
        return
    if not Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(cancel_requested=True):
        raise JobError(f"Job {job.pk} is over already: there is nothing to cancel.")


def cancel_job(job: Job, user: User) -> None:
    """What a manager does: the audit log says who did it; JobError where the job is over."""
    with transaction.atomic():
        request_cancel(job)
        record(user, AuditAct.JOB_CANCELLED, pool=job.pool, about=str(job))


def retry_job(job: Job, user: User) -> None:
    """The same for starting it again."""
    with transaction.atomic():
        retry(job)
        record(user, AuditAct.JOB_RETRIED, pool=job.pool, about=str(job))


def retry(job: Job) -> None:
    """Queue a failed or cancelled job again; training goes on from its last checkpoint."""
    fields: dict[str, Any] = {
        "cancel_requested": False,
        "error": "",
        "attempts": 0,
        "finished_at": None,
        "heartbeat_at": timezone.now(),
    }
    with transaction.atomic():
        _lock_subject(job.graph, job.system, job.pool)
        live = _live(job.kind, job.graph, job.system, job.pool, job.params).exclude(pk=job.pk)
        if (other := live.first()) is not None:
            raise JobError(f"Job {other.pk} does the same and is {other.state}: wait for its end.")
        moved = any(_move(job.pk, old, JobState.QUEUED, **fields) for old in (JobState.FAILED, JobState.CANCELLED))
        if not moved:
            raise JobError(f"Job {job.pk} is {job.state}: only a failed or cancelled job can be started again.")
        _send_on_commit(job)


class Progress:
    """What a job's work calls as it goes: reports are written at most once a second."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._stop = threading.Event()
        self._last_write = 0.0
        self._started: dict[str, float] = {}

    def report(self, stage: str, done: int, total: int, unit: str = "", seconds_left: float | None = None) -> None:
        """Write where the work stands; raises JobCancelled if somebody asked for the end."""
        self.check()
        now = time.monotonic()
        begun = self._started.setdefault(stage, now)
        if now - self._last_write < 1.0 and done < total:
            return
        self._last_write = now
        if seconds_left is None and done > 0:
            seconds_left = (now - begun) / done * (total - done)
        Job.objects.filter(pk=self.job.pk).update(
            stage=stage, done=done, total=total, unit=unit, seconds_left=seconds_left
        )

    def log(self, line: str) -> None:
        stamp = timezone.now().strftime("%H:%M:%S")
        Job.objects.filter(pk=self.job.pk).update(log=Concat(F("log"), Value(f"{stamp} {line}\n")))

    def should_stop(self) -> bool:
        return self._stop.is_set()

    def check(self) -> None:
        if self.should_stop():
            raise JobCancelled

    def stop(self) -> None:
        self._stop.set()


@contextlib.contextmanager
def _heartbeat(job: Job, progress: Progress, worker: str) -> Iterator[None]:
    """Beat in a thread of its own while the work runs, and carry the cancel flag back to it."""
    over = threading.Event()
    own = Job.objects.filter(pk=job.pk, state=JobState.RUNNING, worker=worker, attempts=job.attempts)

    def beat() -> None:
        while not over.wait(settings.JOB_HEARTBEAT_SECONDS):
            try:
                ours = own.update(heartbeat_at=timezone.now())
                if not ours or own.filter(cancel_requested=True).exists():
                    progress.stop()
            except DatabaseError as error:  # a locked or restarting database: the next beat tries again
                logger.warning("job %s: heartbeat not written: %s", job.pk, error)
            finally:
                connection.close()

    thread = threading.Thread(target=beat, name=f"heartbeat-{job.pk}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def execute(job_id: int, worker: str) -> bool:
    """Claim a queued job and do it. False if it was not there to be claimed (done, taken, cancelled)."""
    now = timezone.now()
    if not _move(
        job_id,
        JobState.QUEUED,
        JobState.RUNNING,
        worker=worker,
        heartbeat_at=now,
        started_at=now,
        attempts=F("attempts") + 1,
    ):
        return False
    job = Job.objects.select_related("graph", "system__graph", "pool__graph").get(pk=job_id)
    progress = Progress(job)
    if job.attempts > 1:
        progress.log(f"attempt {job.attempts}, going on from what the last one left")
    end: dict[str, Any]
    try:
        with _heartbeat(job, progress, worker):
            HANDLERS[job.kind](job, progress)
        state, end = JobState.DONE, {"seconds_left": 0}
    except JobCancelled:
        state, end = JobState.CANCELLED, {"seconds_left": None}
    except Exception as error:
        # what went wrong belongs to the person who watches the job; the trace to the log
        logger.exception("job %s failed", job_id)
        message = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
        if not isinstance(error, UserError):
            progress.log(traceback.format_exc(limit=-5))
        state, end = JobState.FAILED, {"error": message, "seconds_left": None}
    # Only the attempt that still owns the row may end it.
    own = Job.objects.filter(pk=job_id, state=JobState.RUNNING, worker=worker, attempts=job.attempts)
    if own.update(state=state, finished_at=timezone.now(), **end):
        _leave_subject(job, state)
    return True


def _leave_subject(job: Job, state: JobState) -> None:
    """A system that is trained no more, a pool that is built no more, must not say that it is."""
    if state == JobState.DONE:
        return
    if job.kind in (JobKind.TRAIN, JobKind.OPEN_WORLD) and job.system_id:
        left = SystemState.CANCELLED if state == JobState.CANCELLED else SystemState.FAILED
        System.objects.filter(pk=job.system_id, state=SystemState.TRAINING).update(state=left)
    if job.kind == JobKind.BUILD_POOL and job.pool_id:
        ended = PoolState.CANCELLED if state == JobState.CANCELLED else PoolState.FAILED
        Pool.objects.filter(pk=job.pool_id, state=PoolState.BUILDING).update(state=ended)


def sweep() -> list[Job]:
    """Queue again what has gone silent (its worker was killed), and send again what nobody picked up."""
    now = timezone.now()
    silent = now - timedelta(seconds=settings.JOB_SILENT_SECONDS)
    taken = []
    for job in Job.objects.filter(state=JobState.RUNNING).filter(Q(heartbeat_at=None) | Q(heartbeat_at__lt=silent)):
        stamp = now.strftime("%H:%M:%S")
        # a beat in the meantime changes heartbeat_at: then the job is alive, and this UPDATE finds no row
        mine = Job.objects.filter(pk=job.pk, state=JobState.RUNNING, heartbeat_at=job.heartbeat_at)
        if job.cancel_requested:
            if mine.update(state=JobState.CANCELLED, finished_at=now, seconds_left=None):
                _leave_subject(job, JobState.CANCELLED)
        elif job.attempts >= settings.JOB_MAX_ATTEMPTS:
            error = f"Its worker died {job.attempts} times. See the log, then start it again."
            if mine.update(state=JobState.FAILED, finished_at=now, seconds_left=None, error=error):
                _leave_subject(job, JobState.FAILED)
        elif mine.update(
            state=JobState.QUEUED,
            heartbeat_at=now,
            log=Concat(F("log"), Value(f"{stamp} worker {job.worker} fell silent; queued again\n")),
        ):
            _send(job.pk, job.kind)
            taken.append(job)
    _send_lost(taken, now)
    return taken


def _send_lost(taken: list[Job], now: datetime) -> None:
    """Send again the messages of queued jobs that are gone. A second message for a job finds nothing to claim.

    A worker that died had perhaps fetched messages of jobs that still wait: then at once. So had a command's worker
    that ended with its command: where somebody could do the job and nobody does any, soon. Else after long.
    """
    silent = timedelta(seconds=settings.JOB_SILENT_SECONDS)
    busy = Job.objects.filter(state=JobState.RUNNING).exists()
    idle = set() if busy else {queue for worker in live_workers() for queue in worker.queues.split(",")}
    waiting = Job.objects.filter(state=JobState.QUEUED, heartbeat_at__lt=now)
    for job in waiting.exclude(pk__in=[job.pk for job in taken]):
        patience = 0 if taken else 1 if QUEUES[JobKind(job.kind)] in idle else 10
        if job.heartbeat_at > now - patience * silent:  # type: ignore[operator]  # it has one: see the filter
            continue
        mine = Job.objects.filter(pk=job.pk, state=JobState.QUEUED, heartbeat_at=job.heartbeat_at)
        if mine.update(heartbeat_at=now):
            _send(job.pk, job.kind)


def live_workers() -> QuerySet[Worker]:
    since = timezone.now() - timedelta(seconds=settings.JOB_SILENT_SECONDS)
    return Worker.objects.filter(seen_at__gte=since)
