"""The thread in each worker that writes that it is alive, sweeps, and wakes idle processes for jobs that wait.

A message to a queue says only that there may be work. A busy worker holds one such message for each of its processes
and then takes no more, so a queued job may be unknown to an idle worker. Once a second, an idle worker therefore looks
for rows, and sends as many messages as can be held: one reaches itself.
"""

import logging
import os
import signal
import socket
import threading
import time
from datetime import timedelta
from typing import Any

from celery.worker import state
from django.conf import settings
from django.db import connection

from core import clock
from core.enums import JobState
from core.jobs.lifecycle import sweep, wake
from core.jobs.queues import live_workers, waiting
from core.jobs.registry import BEATS, JOB_TYPES
from core.machine import own_device
from core.models import Job, Worker
from core.version import code_version, is_other, site_version, words

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
# RabbitMQ ends the channel of a message that is not acknowledged for 30 minutes; a job may take longer
HELD_SECONDS = 600.0

# Celery forks another process when one dies. Forked while SQLite's file is open here, it would close the file for both,
# which can damage it: so no process is forked during a look, and SQLite is closed after each.
_look = threading.RLock()
os.register_at_fork(before=_look.acquire, after_in_parent=_look.release, after_in_child=_look.release)


def process_name(worker: str, pid: int) -> str:
    """Return the name of a process of a worker, as the rows of its jobs have it."""
    return f"{worker}:{pid}"


def watch(consumer: Any, over: threading.Event) -> None:
    """Watch until `over` is set; an error is logged, and the next look tries again."""
    watcher = _Watcher(consumer, over)
    while True:
        with _look:
            try:
                watcher.look()
            except Exception:  # a watcher that falls silent counts as a dead worker
                logger.warning("worker %s could not write its heartbeat", consumer.hostname, exc_info=True)
                connection.close()
            if connection.vendor == "sqlite":
                connection.close()
        if over.wait(min(LOOK_SECONDS, settings.JOB_HEARTBEAT_SECONDS)):
            connection.close()
            return


class _Watcher:
    """Hold what one look leaves for the next."""

    def __init__(self, consumer: Any, over: threading.Event) -> None:
        self.consumer, self.over, self.name = consumer, over, consumer.hostname
        self.queues = sorted(queue.name for queue in consumer.task_consumer.queues)
        self.processes = _processes(consumer)
        self.started_at = clock.now()
        self.beat_due = 0.0
        self.off_told = self.is_other = False
        self.held: dict[str, float] = {}  # messages that wait for a process here: id -> when they were seen first

    def look(self) -> None:
        if time.monotonic() >= self.beat_due:
            self.beat()
            self.beat_due = time.monotonic() + settings.JOB_HEARTBEAT_SECONDS
        if not self.is_other and len(state.active_requests) < self.consumer.pool.num_processes:
            wake_for_waiting(self.queues)
        self.held = let_go(self.held, time.monotonic())

    def beat(self) -> None:
        """Write that this worker is alive, queue again the jobs of dead ones, and end this one if it is stuck."""
        before, self.processes = self.processes, _processes(self.consumer)
        if (stuck := _killed_idle(self.name, before - self.processes)) and not self.over.is_set():
            _end(self.name, stuck, self.processes)
        off = clock.clock_off()
        self.off_told = _tell_of_clock(self.name, off, self.off_told)
        self.is_other = _tell_of_version(self.name, site_version(), self.is_other)
        alive = {
            "queues": ",".join(self.queues),
            "seen_at": clock.now(),
            "clock_off": off.total_seconds(),
            "host": socket.gethostname(),
            "device": own_device().name,
            "memory": own_device().memory,
            "processes": self.consumer.pool.num_processes,
            "version": code_version(),
            "started_at": self.started_at,
        }
        Worker.objects.update_or_create(name=self.name, defaults=alive)
        sweep()
        for act in BEATS:
            act()
        connection.close()  # the next look opens another: a database that was restarted is noticed


def wake_for_waiting(queues: list[str]) -> None:
    """Send messages to the queues in which a job waits that fits here: as many as the workers there can hold, and one.

    Idle workers that cannot do the job take one each, and busy ones as many as they have processes.
    """
    kinds = waiting(queues, own_device().memory).order_by().values_list("kind", flat=True).distinct()
    for queue in {JOB_TYPES[kind].queue for kind in kinds}:
        serving = [one.processes for one in live_workers() if queue in one.queue_names]
        for _ in range(sum(serving) or 1):
            wake(queue)


def let_go(held: dict[str, float], now: float) -> dict[str, float]:
    """Acknowledge messages that have waited here for ten minutes, and return the others with when they were first seen.

    Nothing is lost with them if this worker dies: the rows are looked for.
    """
    still = {}
    for request in set(state.reserved_requests) - set(state.active_requests):
        if not request.acknowledged:
            still[request.id] = held.get(request.id, now)
            if now - still[request.id] >= HELD_SECONDS:
                request.acknowledge()
    return still


def _tell_of_clock(name: str, off: timedelta, told: bool) -> bool:
    """Warn once of a clock that is wrong; return whether that is said. Jobs go by the database's clock all the same."""
    wrong = abs(off) > clock.MOST_OFF
    if wrong and not told:
        logger.warning("worker %s: %s", name, clock.words(off.total_seconds()))
    return wrong


def _tell_of_version(name: str, site: str, told: bool) -> bool:
    """Warn once that the site has another version; return whether it has."""
    other = is_other(code_version(), site)
    if other and not told:
        logger.warning("worker %s: %s", name, words(code_version(), site))
    return other


def _processes(consumer: Any) -> set[int]:
    """Return the ids of the processes that share one lock to take messages.

    With Redis or RabbitMQ Celery has an event loop (hub) and each process its own pipe: then none needs watching.
    """
    return set(consumer.pool.info.get("processes", ())) if consumer.hub is None else set()


def _killed_idle(name: str, gone: set[int]) -> set[int]:
    """Return the processes that did no job when they died: one that dies in its job does not hold the lock."""
    names = {process_name(name, pid): pid for pid in gone}
    running = Job.objects.filter(state=JobState.RUNNING, worker__in=names)
    return gone - {names[one] for one in running.values_list("worker", flat=True)} if gone else set()


def _end(name: str, killed: set[int], processes: set[int]) -> None:
    """End this worker: a process killed while it waited for a message keeps the lock, so that no other gets one.

    Whoever started this worker starts another, which takes up the jobs of the other processes.
    """
    pids = ", ".join(map(str, sorted(killed)))
    logger.error("worker %s ends: process %s was killed while it waited", name, pids)
    Worker.objects.filter(name=name).delete()
    for pid in processes:
        os.kill(pid, signal.SIGKILL)
    os._exit(1)
