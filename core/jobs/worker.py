"""Run a local worker: a Celery process that a command starts if no other worker is alive."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from django.conf import settings

from core.enums import JobState
from core.errors import UserError
from core.jobs.queues import unserved
from core.models import Job

MAX_DEATHS = 3


class WorkerError(UserError):
    """No worker can be kept alive."""


def start_worker(
    queues: str = "cpu,gpu", processes: int | None = None, *, name: str = "", devices: str | None = None
) -> subprocess.Popen[bytes]:
    """Start a Celery worker; each of its processes (WORKER_PROCESSES of them) computes with its share of the cores.

    Give a `name` that no other worker has, or none. `devices` is the CUDA_VISIBLE_DEVICES that it sees. It has its own
    process group: Ctrl-C goes to the command, which ends the whole group with stop_worker.
    """
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": str(settings.WORKER_THREADS),
        # a local worker runs as whoever typed the command, and messages are JSON: nothing to warn of
        "PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges",
    }
    if devices is not None:
        environment["CUDA_VISIBLE_DEVICES"] = devices
    concurrency = processes or settings.WORKER_PROCESSES
    what = f"-A config worker --queues {queues} --concurrency {concurrency} --loglevel WARNING"
    name = name or f"local-{os.getpid()}-{time.time_ns()}@%h"
    quiet = ["--without-gossip", "--without-mingle"]
    command = [sys.executable, "-m", "celery", "--quiet", *what.split(), "--hostname", name, *quiet]
    # stdout 2: what a worker says is no output of the command that started it
    return subprocess.Popen(command, cwd=settings.BASE_DIR, env=environment, process_group=0, stdout=2)


def stop_worker(process: subprocess.Popen[bytes], patience: float = 20) -> None:
    """End a worker that start_worker started, and its processes: SIGTERM first, SIGKILL after `patience` seconds.

    A second Ctrl-C does not wait for the rest of the time. The next worker takes up a job that did not end in time.
    """
    with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
        process.terminate()
        process.wait(timeout=patience)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextlib.contextmanager
def signals_interrupt() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the block like Ctrl-C, so that what it started is ended too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.default_int_handler) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def worker_for_a_while(queues: Iterable[str] = ("cpu", "gpu")) -> Iterator[Callable[[], None]]:
    """Make sure that workers do the jobs of these queues: those that are alive, or one started for this block.

    Give a function to call now and then, which starts a worker if the block's own has died, or others serve no more.
    """
    own: list[subprocess.Popen[bytes]] = []  # only the last one may be alive

    def look_after() -> None:
        if own[-1].poll() is None if own else not unserved(queues):
            return
        if len(own) > MAX_DEATHS:
            raise WorkerError(
                f"The local worker ended {len(own)} times (exit code {own[-1].returncode}); the jobs wait. "
                "Start it by hand to see why: celery -A config worker --queues cpu,gpu"
            )
        own.append(start_worker())

    with signals_interrupt():
        try:
            look_after()
            yield look_after
        finally:
            if own:
                stop_worker(own[-1])


def wait_for(jobs: Sequence[Job], tell: Callable[[list[Job]], None], every: float = 1.0) -> list[Job]:
    """Wait until the jobs are over, calling `tell` with their rows every second; return the final rows."""
    ids = [job.pk for job in jobs]
    while True:
        rows = list(Job.objects.filter(pk__in=ids).select_related("system", "pool").order_by("id"))
        tell(rows)
        if all(job.is_over for job in rows):
            return rows
        time.sleep(every)


def failures(jobs: Sequence[Job]) -> list[str]:
    """Return a line for each job that failed or was cancelled."""
    return [f"{job}: {job.error or 'cancelled'}" for job in jobs if job.state in (JobState.FAILED, JobState.CANCELLED)]
