"""Commands whose jobs are done at once, by the command's own process."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from io import StringIO

import pytest
from django.core.management import call_command

from core.enums import JobState
from core.jobs import worker
from core.jobs.execution import execute
from core.management import shell
from core.models import Job

Run = Callable[..., tuple[str, str]]


@pytest.fixture
def run(monkeypatch) -> Run:
    """run("build_pool", "town", …): what it wrote to standard output and to standard error."""

    @contextlib.contextmanager
    def at_once(queues: object = ()) -> Iterator[Callable[[], None]]:
        def do_queued_jobs() -> None:
            for job in Job.objects.filter(state=JobState.QUEUED).order_by("id"):
                execute(job.pk, "test")

        yield do_queued_jobs

    monkeypatch.setattr(shell, "worker_for_a_while", at_once)
    monkeypatch.setattr(worker.time, "sleep", lambda seconds: None)

    def call(*arguments: str) -> tuple[str, str]:
        out, err = StringIO(), StringIO()
        call_command(*arguments, stdout=out, stderr=err, no_color=True)
        return out.getvalue(), err.getvalue()

    return call
