"""The one Celery task: everything that is long is a job, and a job is a row."""

import logging
import os
import signal
import socket
import threading
from typing import Any

from celery import shared_task, signals
from django.conf import settings
from django.db import connection
from django.utils import timezone

from core.enums import JobState
from core.jobs.execution import execute
from core.jobs.lifecycle import sweep
from core.jobs.registry import JOB_TYPES, handler_of
from core.models import Job, Worker

logger = logging.getLogger(__name__)


@shared_task(name="core.run_job")
def run_job(*, job_id: int) -> None:
    execute(job_id, worker=_process_name(os.getpid()))


def _process_name(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}"


_over = threading.Event()


def _watch(consumer: Any) -> None:
    """Say that this worker lives, sweep up after those that do not, and end it where it can go on no more."""
    queues = ",".join(sorted(queue.name for queue in consumer.task_consumer.queues))
    processes = _processes(consumer)
    while True:
        try:
            before, processes = processes, _processes(consumer)
            if (stuck := _killed_idle(before - processes)) and not _over.is_set():
                _end(consumer, stuck, processes)
            Worker.objects.update_or_create(
                name=consumer.hostname, defaults={"queues": queues, "seen_at": timezone.now()}
            )
            sweep()
        except Exception:  # whatever it was, the next beat tries again: a silent watcher is a dead worker
            logger.warning("worker %s could not write its heartbeat", consumer.hostname, exc_info=True)
        finally:
            connection.close()
        if _over.wait(settings.JOB_HEARTBEAT_SECONDS):
            return


def _processes(consumer: Any) -> set[int]:
    """The processes that take messages one behind the other, at a lock.

    With Redis or RabbitMQ, where Celery has an event loop (hub), each has a pipe of its own: none is to be watched.
    """
    return set(consumer.pool.info.get("processes", ())) if consumer.hub is None else set()


def _killed_idle(gone: set[int]) -> set[int]:
    """Those that were doing no job. What kills a process in its job leaves the lock to the others."""
    names = {_process_name(pid): pid for pid in gone}
    running = Job.objects.filter(state=JobState.RUNNING, worker__in=names)
    return gone - {names[name] for name in running.values_list("worker", flat=True)} if gone else set()


def _end(consumer: Any, killed: set[int], processes: set[int]) -> None:
    """A process that was killed while it waited for a message keeps the lock: no other would ever get one.

    Whoever started this worker starts another; what the other processes were doing is taken up again there.
    """
    pids = ", ".join(map(str, sorted(killed)))
    logger.error("worker %s ends: process %s was killed while it waited", consumer.hostname, pids)
    Worker.objects.filter(name=consumer.hostname).delete()
    for pid in processes:
        os.kill(pid, signal.SIGKILL)
    os._exit(1)


@signals.worker_init.connect
def on_worker_init(**_: Any) -> None:
    """Import what all jobs need before the processes are forked, so that they share it."""
    for kind in JOB_TYPES:
        handler_of(kind)


@signals.worker_ready.connect
def on_worker_ready(sender: Any = None, **_: Any) -> None:
    _over.clear()
    threading.Thread(target=_watch, args=(sender,), daemon=True).start()


@signals.worker_shutting_down.connect
def on_worker_shutting_down(sender: Any = None, **_: Any) -> None:
    _over.set()
    Worker.objects.filter(name=sender).delete()
    connection.close()
