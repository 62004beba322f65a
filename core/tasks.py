"""The Celery task that does a job, and the watcher that runs in each worker."""

import logging
import os
import signal
import socket
import threading
from datetime import timedelta
from typing import Any

from celery import shared_task, signals
from django.conf import settings
from django.db import connection

from core import clock
from core.enums import JobState
from core.jobs.execution import execute
from core.jobs.lifecycle import sweep
from core.jobs.registry import BEATS, JOB_TYPES, handler_of
from core.models import Job, Worker

logger = logging.getLogger(__name__)


@shared_task(name="core.run_job")
def run_job(*, job_id: int) -> None:
    execute(job_id, worker=_process_name(os.getpid()))


def _process_name(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}"


_over = threading.Event()


def _watch(consumer: Any) -> None:
    """Write that this worker is alive, queue again the jobs of dead ones, and end this one if it is stuck."""
    queues = ",".join(sorted(queue.name for queue in consumer.task_consumer.queues))
    processes, told = _processes(consumer), False
    while True:
        try:
            before, processes = processes, _processes(consumer)
            if (stuck := _killed_idle(before - processes)) and not _over.is_set():
                _end(consumer, stuck, processes)
            off = clock.clock_off()
            told = _tell_of_clock(consumer.hostname, off, told)
            alive = {"queues": queues, "seen_at": clock.now(), "clock_off": off.total_seconds()}
            Worker.objects.update_or_create(name=consumer.hostname, defaults=alive)
            sweep()
            for act in BEATS:
                act()
        except Exception:  # the next beat tries again: a watcher that falls silent counts as a dead worker
            logger.warning("worker %s could not write its heartbeat", consumer.hostname, exc_info=True)
        finally:
            connection.close()
        if _over.wait(settings.JOB_HEARTBEAT_SECONDS):
            return


def _tell_of_clock(name: str, off: timedelta, told: bool) -> bool:
    """Warn once of a clock that is wrong; return whether that is said. Jobs go by the database's clock all the same."""
    wrong = abs(off) > clock.MOST_OFF
    if wrong and not told:
        logger.warning("worker %s: %s", name, clock.words(off.total_seconds()))
    return wrong


def _processes(consumer: Any) -> set[int]:
    """Return the ids of the processes that share one lock to take messages.

    With Redis or RabbitMQ Celery has an event loop (hub) and each process its own pipe: then none needs watching.
    """
    return set(consumer.pool.info.get("processes", ())) if consumer.hub is None else set()


def _killed_idle(gone: set[int]) -> set[int]:
    """Return the processes that did no job when they died: one that dies in its job does not hold the lock."""
    names = {_process_name(pid): pid for pid in gone}
    running = Job.objects.filter(state=JobState.RUNNING, worker__in=names)
    return gone - {names[name] for name in running.values_list("worker", flat=True)} if gone else set()


def _end(consumer: Any, killed: set[int], processes: set[int]) -> None:
    """End this worker: a process killed while it waited for a message keeps the lock, so that no other gets one.

    Whoever started this worker starts another, which takes up the jobs of the other processes.
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
