"""The workers of one machine: one for each GPU and one for the CPU, started again when they die, ended together."""

import contextlib
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from django.db import DatabaseError
from django.db.models import Q

from core import clock
from core.enums import JobState
from core.jobs.lifecycle import give_back
from core.jobs.queues import live_workers
from core.jobs.worker import start_worker, stop_worker
from core.machine import gpus
from core.models import Job, Worker

PATIENCE = 25.0  # seconds for jobs to write a checkpoint; a scheduler that ends a machine gives about 30
SOON = 30.0  # a worker that dies sooner is started again after a while only
LONGEST_PAUSE = 60.0


class Post(NamedTuple):
    """One worker to keep alive: the start of its name, its queues and processes, and the GPUs that it sees."""

    prefix: str
    queues: str
    processes: int | None = None  # None: as the settings say
    devices: str | None = None  # CUDA_VISIBLE_DEVICES; None: as it is


def posts_of(queues: Sequence[str], processes: int | None = None) -> list[Post]:
    """Return a worker for each GPU if the queue gpu is served, and one for the CPU; without a GPU, one for all."""
    found = gpus() if "gpu" in queues else []
    if not found:
        return [Post("-".join(queues), ",".join(queues), processes)]
    posts = [Post(f"gpu{i}", "gpu", 1, gpu.key) for i, gpu in enumerate(found)]
    others = [queue for queue in queues if queue != "gpu"]
    return posts + ([Post("-".join(others), ",".join(others), processes, "")] if others else [])


@dataclass
class _Kept:
    post: Post
    name: str
    process: subprocess.Popen[bytes]
    since: float  # monotonic, of this process
    deaths: int = 0  # soon after its start, one after the other
    start_at: float | None = None  # when the next one is due; None while one runs


class Workforce:
    """Keep the workers of some posts alive; `tell` gets what happens, in words."""

    def __init__(self, posts: Sequence[Post], tell: Callable[[str], object]) -> None:
        self.tell = tell
        self.kept = [self._started(post) for post in posts]
        self.names = [kept.name for kept in self.kept]  # of all that were ever started
        self.busy_at = time.monotonic()

    def _started(self, post: Post, deaths: int = 0) -> _Kept:
        name = unique_name(post.prefix)
        process = start_worker(post.queues, post.processes, name=name, devices=post.devices)
        return _Kept(post, name, process, time.monotonic(), deaths)

    def look_after(self) -> None:
        """Start workers again that died: at once, or after a pause that grows if they die soon."""
        now = time.monotonic()
        for i, kept in enumerate(self.kept):
            if kept.start_at is None and kept.process.poll() is not None:
                kept.deaths = kept.deaths + 1 if now - kept.since < SOON else 0
                pause = min(2.0**kept.deaths - 1, LONGEST_PAUSE)
                kept.start_at = now + pause
                when = f"in {pause:.0f} s" if pause else "now"
                self.tell(f"Worker {kept.name} ended (exit code {kept.process.returncode}); starting another {when}.")
            if kept.start_at is not None and now >= kept.start_at:
                self.kept[i] = self._started(kept.post, kept.deaths)
                self.names.append(self.kept[i].name)

    def idle_seconds(self) -> float:
        """Return for how long no worker of these has had a job; 0 as long as one of them is starting."""
        names = [kept.name for kept in self.kept]
        if live_workers().filter(name__in=names).count() < len(names) or self._is_busy(names):
            self.busy_at = time.monotonic()
        return time.monotonic() - self.busy_at

    def _is_busy(self, names: list[str]) -> bool:
        ours = Q()
        for name in names:
            ours |= Q(worker__startswith=f"{name}:")
        lately = Q(state=JobState.RUNNING) | Q(finished_at__gt=clock.now() - timedelta(seconds=2))
        return Job.objects.filter(ours & lately).exists()

    def stop(self, patience: float = PATIENCE) -> None:
        """End all workers together: their jobs write checkpoints and go back to the queue. Kill what takes longer."""
        for kept in self.kept:
            with contextlib.suppress(ProcessLookupError):
                kept.process.send_signal(signal.SIGTERM)
        end = time.monotonic() + patience
        for kept in self.kept:
            stop_worker(kept.process, max(end - time.monotonic(), 0.0))
        with contextlib.suppress(DatabaseError):  # then the sweeper finds them
            if number := give_back(self.names):
                self.tell(f"{number} job{'s' if number > 1 else ''} took too long to stop: another worker takes over.")
            Worker.objects.filter(name__in=self.names).delete()


def unique_name(prefix: str) -> str:
    """Return a name that no other worker has, on this host or in another container whose host has the same name."""
    return f"{prefix}-{uuid.uuid4().hex[:8]}@{socket.gethostname()}"
