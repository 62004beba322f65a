"""Let the work of a job report its progress and learn that it should stop."""

import threading
import time
from collections.abc import Callable

from django.db.models import F, QuerySet, Value
from django.db.models.functions import Concat

from core import clock
from core.callbacks import Tell, Watch
from core.models import Job

LEAVING = threading.Event()  # set when this process is asked to end: its job goes back to the queue


class JobCancelled(Exception):  # noqa: N818 - not an error: somebody asked for it
    """Stop the work of a job whose cancel flag was set, that another worker took over, or whose worker is to end."""


class Progress:
    """Write a job's progress and log to its row; progress at most once a second."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._stop = threading.Event()
        self._last_write = 0.0
        self._started: dict[str, float] = {}
        self.each_beat: Callable[[], None] | None = None  # called by the heartbeat while the work itself cannot report

    def report(self, stage: str, done: int, total: int, unit: str = "", seconds_left: float | None = None) -> None:
        """Write the progress of a stage; raise JobCancelled if the job was cancelled."""
        self.check()
        now = time.monotonic()
        begun = self._started.setdefault(stage, now)
        if now - self._last_write < 1.0 and done < total:
            return
        self._last_write = now
        if seconds_left is None and done > 0:
            seconds_left = (now - begun) / done * (total - done)
        now_there = {"stage": stage, "done": done, "total": total, "unit": unit, "seconds_left": seconds_left}
        self._row().update(**now_there)

    def log(self, line: str) -> None:
        stamp = clock.now().strftime("%H:%M:%S")
        self._row().update(log=Concat(F("log"), Value(f"{stamp} {line}\n")))

    def _row(self) -> QuerySet[Job]:
        """Return the row, unless a newer attempt has it: what this one says is then of no use."""
        return Job.objects.filter(pk=self.job.pk, attempts=self.job.attempts)

    def should_stop(self) -> bool:
        return self._stop.is_set() or LEAVING.is_set()

    def teller(self, stage: str, unit: str) -> Tell:
        """Return a callback of (done, total) that reports this stage."""
        return lambda done, total: self.report(stage, done, total, unit)

    def watch(self, stage: str, unit: str) -> Watch:
        """Return what a kernel calls: it reports this stage, and JobCancelled ends the work."""
        return Watch(self.teller(stage, unit), self.check)

    def check(self) -> bool:
        """Raise JobCancelled if the job was cancelled, else return False: the `Stop` of a kernel."""
        if self.should_stop():
            raise JobCancelled
        return False

    def stop(self) -> None:
        self._stop.set()
