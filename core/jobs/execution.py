"""Do a job: claim the row of the oldest, write heartbeats while the work runs, and write how it ended."""

import contextlib
import gc
import logging
import sys
import threading
import traceback
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F, Value
from django.db.models.functions import Concat

from core import clock
from core.database import is_away
from core.enums import JobState
from core.errors import UserError
from core.files.bucket import StoreError
from core.jobs.fencing import attempt, own_row
from core.jobs.progress import LEAVING, JobCancelled, Progress
from core.jobs.queues import waiting
from core.jobs.registry import handler_of
from core.jobs.transitions import move_job, tell_end
from core.logs import logged_with
from core.machine import own_device
from core.models import Job
from core.version import code_version, is_other, site_version

logger = logging.getLogger(__name__)

CLAIMED_AT_ONCE = 20  # jobs whose rows are read together


@contextlib.contextmanager
def _heartbeat(job: Job, progress: Progress) -> Iterator[None]:
    """Write heartbeats from a thread while the work runs, and stop the work when the cancel flag is set."""
    over = threading.Event()
    own = own_row(job)

    def beat() -> None:
        while not over.wait(settings.JOB_HEARTBEAT_SECONDS):
            try:
                ours = own.update(heartbeat_at=clock.now())
                if not ours or own.filter(cancel_requested=True).exists():
                    progress.stop()
                elif look := progress.each_beat:
                    with contextlib.suppress(JobCancelled):
                        look()
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


def _wait_for_database(job: Job, progress: Progress, error: Exception) -> None:
    """Leave a job whose database went away to the sweeper: it is neither done nor failed, and can go on later.

    If the database is back already, the next sweep queues the job again; otherwise a later one does, once it is silent.
    """
    logger.warning("job %s: the database went away: %s", job.pk, error)
    connection.close_if_unusable_or_obsolete()
    with contextlib.suppress(DatabaseError):
        progress.log(f"the database went away: {error}")
        own_row(job).update(heartbeat_at=None)


def _wait_for_store(job: Job, progress: Progress, error: StoreError) -> bool:
    """Leave a job whose store did not answer to the sweeper, as one whose worker fell silent.

    So it is tried again after JOB_SILENT_SECONDS. Return False if it was tried JOB_MAX_DEATHS times without getting
    further, or was cancelled: then it has failed.
    """
    logger.warning("job %s: %s", job.pk, error)
    with contextlib.suppress(DatabaseError):  # away too, as for a machine without a network: left to the sweeper anyway
        again = own_row(job).filter(deaths__lt=settings.JOB_MAX_DEATHS - 1, cancel_requested=False)
        if not again.update(heartbeat_at=clock.now()):
            return False
        progress.log(f"{error} It is tried again in {settings.JOB_SILENT_SECONDS:.0f} s.")
    return True


def do_next(queue: str, worker: str) -> bool:
    """Do the oldest queued job of a queue that this worker can do; return False if there is none.

    If another worker is faster, the next one is tried. A worker of another version than the site takes none.
    """
    if LEAVING.is_set() or is_other(code_version(), site_version()):
        return False
    jobs = waiting([queue], own_device().memory).values_list("pk", flat=True)
    while ids := list(jobs[:CLAIMED_AT_ONCE]):
        if any(execute(pk, worker) for pk in ids):
            return True
    return False


def _give_back(job: Job) -> bool:
    """Queue the job of a worker that is to end; return False if it was cancelled, or is another's already."""
    now = clock.now()
    line = f"{now:%H:%M:%S} worker {job.worker} is asked to end; queued again\n"
    back = {"state": JobState.QUEUED, "heartbeat_at": now, "log": Concat(F("log"), Value(line))}
    return own_row(job).filter(cancel_requested=False).update(**back) == 1


def _give_back_gpu_memory() -> None:
    """Let other processes have what a job freed on a GPU: torch keeps it. Load no torch."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        gc.collect()  # circles of freed objects may hold some
        torch.cuda.empty_cache()


def execute(job_id: int, worker: str) -> bool:
    """Claim a queued job and do it; return False if it could not be claimed (done, taken, cancelled)."""
    with logged_with(job_id=job_id, worker=worker):
        return _execute(job_id, worker)


def _execute(job_id: int, worker: str) -> bool:
    now = clock.now()
    start = {"worker": worker, "heartbeat_at": now, "started_at": now, "attempts": F("attempts") + 1}
    if not move_job(job_id, JobState.QUEUED, JobState.RUNNING, **start):
        return False
    job = Job.objects.select_related("graph", "system__graph", "pool__graph").get(pk=job_id)
    progress = Progress(job)
    if job.attempts > 1:
        progress.log(f"attempt {job.attempts}, going on from what the last one left")
    end: dict[str, Any]
    try:
        with _heartbeat(job, progress), attempt(job, progress):
            handler_of(job.kind)(job, progress)
        state, end = JobState.DONE, {"seconds_left": 0}
    except JobCancelled:
        if LEAVING.is_set() and _give_back(job):
            return True
        state, end = JobState.CANCELLED, {"seconds_left": None}
    except Exception as error:
        if is_away(error):
            _wait_for_database(job, progress, error)
            return True
        if isinstance(error, StoreError) and _wait_for_store(job, progress, error):
            return True
        # the message is for the person who watches the job, the trace for the log
        logger.exception("job %s failed", job_id)
        message = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
        if not isinstance(error, UserError):
            progress.log(traceback.format_exc(limit=-5))
        state, end = JobState.FAILED, {"error": message, "seconds_left": None}
    _give_back_gpu_memory()
    # Only the attempt that still owns the row may end it.
    with transaction.atomic():
        if own_row(job).update(state=state, finished_at=clock.now(), **end):
            tell_end(job, state)
    return True
