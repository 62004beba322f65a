"""What the commands share: clear errors, progress of jobs on standard error."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from django.core.management.base import CommandError

from core.enums import JobState
from core.errors import GoneError, UserError
from core.jobs.worker import failures, wait_for, worker_for_a_while
from core.models import Job


@contextlib.contextmanager
def user_errors() -> Iterator[None]:
    """A UserError or GoneError becomes a CommandError: its message, exit code 1, no trace."""
    try:
        yield
    except (UserError, GoneError) as error:
        raise CommandError(str(error)) from error


def file_bytes(path: Path) -> bytes:
    """What a file holds; CommandError where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from error


def duration(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


class Ticker:
    """Progress of one act in the shell: one line, rewritten on a terminal, every five seconds elsewhere."""

    def __init__(self, out: TextIO = sys.stderr) -> None:
        self.out = out
        self.live = out.isatty()
        self._last = 0.0
        self._begun: dict[str, float] = {}
        self._open = False

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        begun = self._begun.setdefault(stage, now)
        finished = done >= total
        if not finished and now - self._last < (0.5 if self.live else 5.0):
            return
        self._last = now
        spent = now - begun
        left = f", {duration(spent / done * (total - done))} left" if done and not finished else ""
        rate = f", {done / spent:,.0f}/s" if spent > 0.5 else ""
        self.line(f"{stage}: {done:,} of {total:,}{rate}{left}", end=finished)

    def line(self, text: str, end: bool = True) -> None:
        lead = "\r\x1b[K" if self.live else ""
        self.out.write(f"{lead}{text}{'' if self.live and not end else chr(10)}")
        self.out.flush()
        self._open = self.live and not end


def _tell(out: TextIO) -> Callable[[list[Job]], None]:
    said: dict[int, tuple[str, float]] = {}

    def tell(jobs: list[Job]) -> None:
        now = time.monotonic()
        for job in jobs:
            state, at = said.get(job.pk, ("", 0.0))
            if job.state == state and (job.state != JobState.RUNNING or now - at < 5):
                continue
            said[job.pk] = (job.state, now)
            where = f"{job.percent:3d} %  {job.stage}, {duration(job.seconds_left)} left" if job.stage else ""
            text = {JobState.RUNNING: where or "started", JobState.FAILED: f"failed: {job.error}"}.get(
                JobState(job.state), job.state
            )
            out.write(f"{job}: {text}\n")
        out.flush()

    return tell


def run_jobs(jobs: Sequence[Job], out: TextIO = sys.stderr) -> list[Job]:
    """Have a worker do the jobs, show their progress, and raise CommandError if one did not end well."""
    if not jobs:
        return []
    tell = _tell(out)
    with user_errors(), worker_for_a_while() as look_after:

        def every_second(rows: list[Job]) -> None:
            tell(rows)
            look_after()

        rows = wait_for(jobs, every_second)
    if problems := failures(rows):
        raise CommandError("\n".join(problems))
    return rows
