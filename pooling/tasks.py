"""The one Celery task: everything that is long is a job, and a job is a row."""

import os
import socket
import threading
from typing import Any

from celery import shared_task, signals
from django.conf import settings
from django.db import connection
from django.utils import timezone

from pooling.domain import job as jobs
from pooling.domain import pool, pool_growth, run, system  # noqa: F401 - they register what their jobs do
from pooling.models import Worker


@shared_task(name="pooling.run_job")
def run_job(*, job_id: int) -> None:
    jobs.execute(job_id, worker=f"{socket.gethostname()}:{os.getpid()}")


_over = threading.Event()


def _watch(name: str, queues: str) -> None:
    """Say that this worker lives, and sweep up after those that do not."""
    while True:
        try:
            Worker.objects.update_or_create(name=name, defaults={"queues": queues, "seen_at": timezone.now()})
            jobs.sweep()
        except Exception:  # whatever it was, the next beat tries again: a silent watcher is a dead worker
            jobs.logger.warning("worker %s could not write its heartbeat", name, exc_info=True)
        finally:
            connection.close()
        if _over.wait(settings.JOB_HEARTBEAT_SECONDS):
            return


@signals.worker_ready.connect
def on_worker_ready(sender: Any = None, **_: Any) -> None:
    _over.clear()
    queues = ",".join(sorted(queue.name for queue in sender.task_consumer.queues))
    threading.Thread(target=_watch, args=(sender.hostname, queues), daemon=True).start()


@signals.worker_shutting_down.connect
def on_worker_shutting_down(sender: Any = None, **_: Any) -> None:
    _over.set()
    Worker.objects.filter(name=sender).delete()
    connection.close()
