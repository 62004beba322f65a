"""The Celery task that does the next job of a queue, and what happens when a worker starts and ends."""

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Iterator
from typing import Any

from celery import shared_task, signals
from celery.worker import state
from django.conf import settings
from django.db import DatabaseError, connection

from core.files.bucket import check_in_child
from core.jobs.execution import do_next
from core.jobs.progress import LEAVING
from core.jobs.registry import JOB_TYPES, handler_of
from core.jobs.watcher import process_name, watch
from core.machine import own_device
from core.models import Worker
from core.version import code_version, write_site_version

_over = threading.Event()


@shared_task(name="core.work", bind=True)
def work(self: Any, *, queue: str) -> None:
    """Do the next job of a queue, if there is one; the message names no job, for the rows say what is to be done."""
    with _sigterm_gives_back():
        do_next(queue, worker=process_name(self.request.hostname or socket.gethostname(), os.getpid()))


@contextlib.contextmanager
def _sigterm_gives_back() -> Iterator[None]:
    """Let SIGTERM stop the job at its next step, with its checkpoint written, instead of killing this process.

    Nor does a second SIGTERM kill it: the pool would start another process, which would take the job once more.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, frame: LEAVING.set())
    try:
        yield
    finally:
        if not LEAVING.is_set():
            signal.signal(signal.SIGTERM, before)


@signals.worker_init.connect
def on_worker_init(**_: Any) -> None:
    """Import and ask what all jobs need before the processes are forked, so that they share it."""
    check_in_child()
    own_device()
    code_version()
    if settings.CELERY_BROKER_URL.startswith("filesystem:"):
        _be_the_site()
    for kind in JOB_TYPES:
        handler_of(kind)


def _be_the_site() -> None:
    """Make the version of this worker that of the site: with a folder as broker, no other machine has workers.

    So whoever changes the code of one machine starts it again, and need not run `migrate` for jobs to be done.
    """
    with contextlib.suppress(DatabaseError):  # no tables yet: the first look says so
        write_site_version()
    connection.close()  # before the processes are forked


@signals.worker_ready.connect
def on_worker_ready(sender: Any = None, **_: Any) -> None:
    _over.clear()
    threading.Thread(target=watch, args=(sender, _over), daemon=True).start()


@signals.worker_shutting_down.connect
def on_worker_shutting_down(sender: Any = None, **_: Any) -> None:
    """Sign off, and tell the processes that have a job to give it back."""
    _over.set()
    for request in list(state.active_requests):
        with contextlib.suppress(ProcessLookupError, TypeError):  # not accepted yet: it has no process
            os.kill(request.worker_pid, signal.SIGTERM)
    Worker.objects.filter(name=sender).delete()
    connection.close()
