"""Tell what waits in each queue, which workers do its jobs, and which jobs none of them can do."""

from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings
from django.db.models import Q, QuerySet

from core import clock
from core.enums import JobState
from core.jobs.registry import JOB_TYPES
from core.machine import in_words
from core.models import Job, Worker
from core.version import site_version


def kinds_of(queues: Iterable[str]) -> list[str]:
    """Return the kinds of job that go to these queues."""
    names = set(queues)
    return [kind for kind, one in JOB_TYPES.items() if one.queue in names]


def waiting(queues: Iterable[str], memory: int = 0) -> QuerySet[Job]:
    """Return the queued jobs of these queues, oldest first, that fit into `memory` bytes; 0: not known."""
    jobs = Job.objects.filter(state=JobState.QUEUED, kind__in=kinds_of(queues)).order_by("id")
    return jobs.filter(needs__lte=memory) if memory else jobs


def live_workers() -> QuerySet[Worker]:
    """Return the workers that wrote their row lately, those of another version too."""
    since = clock.now() - timedelta(seconds=settings.JOB_SILENT_SECONDS)
    return Worker.objects.filter(seen_at__gte=since)


def able_workers() -> QuerySet[Worker]:
    """Return the live workers that take jobs: those of the site's version."""
    workers, site = live_workers(), site_version()
    return workers.filter(version__in=["", site]) if site else workers


def largest_memory(queue: str, workers: Iterable[Worker]) -> int:
    """Return the most bytes that a worker of the queue has; 0 if there is none, or one whose memory is not known."""
    found = [one.memory for one in workers if queue in one.queue_names]
    return 0 if 0 in found else max(found, default=0)


def misfit(job: Job, workers: Iterable[Worker]) -> str:
    """Say that a queued job needs more memory than any of these workers has; empty if one can do it."""
    queue = JOB_TYPES[job.kind].queue
    largest = largest_memory(queue, workers)
    if not job.is_queued or not largest or job.needs <= largest:
        return ""
    return (
        f"It needs {in_words(job.needs)} of memory, and the largest worker of queue {queue} has {in_words(largest)}. "
        "Start a worker with more memory, or choose a lower embedding_dim."
    )


def wrong_clocks() -> QuerySet[Worker]:
    """Return the live workers whose clock differs from the database's by more than 5 s."""
    most = clock.MOST_OFF.total_seconds()
    return live_workers().filter(Q(clock_off__gt=most) | Q(clock_off__lt=-most)).order_by("name")
