"""Define the faults of a chaos campaign: each breaks something, waits, and repairs it. `draw` orders them.

A new fault is a function and its line in FAULTS.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.chaos.site import SILENT, Child, Site, wait_for_answer, worker_command

DATABASE_AWAY, DATABASE_HELD, REDIS_AWAY, REDIS_HELD, DISK_FULL = 3.0, 2.0, 5.0, 8.0, 8.0  # seconds
SKEW = 600.0  # seconds
LONGEST_PAUSE = 20.0  # seconds
FOR_A_JOB = 5.0  # seconds that a fault waits for a job to hit

Wait = Callable[[float], object]  # seconds, or less where the campaign ends
Act = Callable[[Site, np.random.Generator, Wait], str]  # returns what it hit, in words


class Excuse(StrEnum):
    """Requests that may get a 5xx answer while a fault lasts."""

    NOTHING = "none"
    DATABASE = "all: the database is down"
    FILES = "a manager's: they write files"


class Fault(NamedTuple):
    """One thing that goes wrong."""

    name: str
    about: str
    do: Act
    excuses: Excuse = Excuse.NOTHING


@dataclass
class Window:
    """When a fault lasted, by time.monotonic()."""

    fault: Fault
    begin: float
    end: float = float("inf")
    said: str = ""


def _with_job(site: Site, wait: Wait) -> tuple[Child, int]:
    """Return a worker that has a job, and the process that does it; any worker and 0 where there is none."""
    for _ in range(int(FOR_A_JOB / 0.5)):
        for (name,) in site.rows("SELECT worker FROM core_job WHERE state = 'running' ORDER BY random()"):
            pid = int(name.rpartition(":")[2] or 0)
            for worker in site.workers:
                if worker.is_alive and pid in worker.processes():
                    return worker, pid
        wait(0.5)
    return site.workers[0], 0


def _kill_worker(site: Site, rng: np.random.Generator, wait: Wait) -> str:
    worker, pid = _with_job(site, wait)
    worker.command = worker.usual  # its clock is right again
    worker.signal(signal.SIGKILL)
    return f"{worker.name}, {'in a job' if pid else 'idle'}"


def _kill_job(site: Site, rng: np.random.Generator, wait: Wait) -> str:
    worker, pid = _with_job(site, wait)
    for victim in [pid] if pid else worker.processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
    return f"a process of {worker.name}, {'in a job' if pid else 'idle'}"


def _pause_worker(site: Site, rng: np.random.Generator, wait: Wait) -> str:
    worker, pid = _with_job(site, wait)
    worker.signal(signal.SIGSTOP)
    begin = time.monotonic()
    mine = site.rows("SELECT id FROM core_job WHERE state = 'running' AND worker LIKE %s", f"%:{pid}")
    try:
        wait(SILENT + 4)
        # until another worker has done its job: it wakes to find nothing that is its own
        while mine and _live(site, mine[0][0]) and time.monotonic() - begin < LONGEST_PAUSE and not wait(0.5):
            pass
    finally:
        worker.signal(signal.SIGCONT)
    done = " that another worker did meanwhile" if mine and not _live(site, mine[0][0]) else ""
    lasted = time.monotonic() - begin
    return f"{worker.name} for {lasted:.0f} s, {'in a job' if pid else 'idle'}{done}"


def _live(site: Site, job: int) -> bool:
    return bool(site.rows("SELECT 1 FROM core_job WHERE id = %s AND state IN ('queued', 'running')", job))


def _skew_worker(site: Site, rng: np.random.Generator, wait: Wait) -> str:
    worker = site.workers[int(rng.integers(len(site.workers)))]
    skew = SKEW if rng.random() < 0.5 else -SKEW
    worker.command = worker_command(worker.name, skew)
    worker.signal(signal.SIGTERM)
    wait(1)
    worker.signal(signal.SIGKILL)
    return f"{worker.name}, {skew:+g} s"


def _kill_web_process(site: Site, rng: np.random.Generator, wait: Wait) -> str:
    processes = site.web.processes()
    if processes:
        os.kill(processes[int(rng.integers(len(processes)))], signal.SIGKILL)
    return f"one of {len(processes)}"


def _kill_web(site: Site, rng: np.random.Generator, wait: Wait) -> str:
    begin = time.monotonic()
    site.web.signal(signal.SIGKILL)
    wait(0.5)
    wait_for_answer(site.port)
    return f"back after {time.monotonic() - begin:.1f} s"


def _terminate(site: Site, rng: np.random.Generator, wait: Wait) -> str:
    own = "datname = current_database() AND pid <> pg_backend_pid()"
    ended = site.rows(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {own}")
    return f"{len(ended)} connections"


def _cut(relay: str, seconds: float) -> Act:
    """Return an act that closes the connections to a server, and refuses new ones for a while."""

    def act(site: Site, rng: np.random.Generator, wait: Wait) -> str:
        site.cut(getattr(site, relay))
        try:
            wait(seconds)
        finally:
            site.mend(getattr(site, relay))
        return f"for {seconds:g} s"

    return act


def _hold(relay: str, seconds: float) -> Act:
    """Return an act that lets a server answer nothing for a while."""

    def act(site: Site, rng: np.random.Generator, wait: Wait) -> str:
        getattr(site, relay).signal(signal.SIGSTOP)
        try:
            wait(seconds)
        finally:
            getattr(site, relay).signal(signal.SIGCONT)
        return f"for {seconds:g} s"

    return act


def _fill_disk(site: Site, rng: np.random.Generator, wait: Wait) -> str:
    with _filled(site.artifacts) if site.is_real_disk else _limited(site):
        wait(DISK_FULL)
    return f"for {DISK_FULL:g} s, {site.disk}"


@contextlib.contextmanager
def _filled(folder: Path) -> Iterator[None]:
    path = folder / "filler"
    try:
        with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(1 << 16)):
                pass
        yield
    finally:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def _limited(site: Site) -> Iterator[None]:
    pids = [pid for worker in site.workers if worker.is_alive for pid in (worker.pid, *worker.processes())]
    before = {}
    try:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                before[pid] = resource.prlimit(pid, resource.RLIMIT_FSIZE)
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, before[pid][1]))
        yield
    finally:
        for pid, limits in before.items():
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)


FAULTS = (
    Fault("worker killed", "kill -9 of a worker and its processes, in a job if there is one", _kill_worker),
    Fault("job process killed", "kill -9 of the process that does a job; its worker lives", _kill_job),
    Fault("worker paused", "SIGSTOP until another worker has done its job, then SIGCONT", _pause_worker),
    Fault("clock wrong", f"a worker comes back with its clock {SKEW / 60:g} min ahead or behind", _skew_worker),
    Fault("web process killed", "kill -9 of one process of gunicorn", _kill_web_process),
    Fault("web server killed", "kill -9 of gunicorn as a whole; it is started again", _kill_web),
    Fault(
        "connections terminated",
        "pg_terminate_backend of every connection to the database",
        _terminate,
        Excuse.DATABASE,
    ),
    Fault(
        "database cut",
        f"connections close and are refused for {DATABASE_AWAY:g} s",
        _cut("to_database", DATABASE_AWAY),
        Excuse.DATABASE,
    ),
    Fault(
        "database held", f"the database answers nothing for {DATABASE_HELD:g} s", _hold("to_database", DATABASE_HELD)
    ),
    Fault("Redis cut", f"broker and cache are away for {REDIS_AWAY:g} s", _cut("to_redis", REDIS_AWAY)),
    Fault("Redis held", f"broker and cache answer nothing for {REDIS_HELD:g} s", _hold("to_redis", REDIS_HELD)),
    Fault("disk full", f"the artifact folder takes nothing for {DISK_FULL:g} s", _fill_disk, Excuse.FILES),
)


def draw(seed: int) -> Iterator[Fault]:
    """Yield faults without end: each once, in a drawn order, before any comes again."""
    rng = np.random.default_rng(seed)
    while True:
        yield from (FAULTS[i] for i in rng.permutation(len(FAULTS)))
