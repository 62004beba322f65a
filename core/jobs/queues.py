"""Tell what waits in each queue, which workers do its jobs, and which jobs none of them can do."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from typing import NamedTuple

from django.conf import settings
from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet

from core import clock
from core.enums import JobState
from core.jobs.registry import JOB_TYPES
from core.machine import in_words
from core.models import Job, SiteVersion, Worker
from core.version import is_other, site_version, words


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
    site = SiteVersion.objects.all()
    return live_workers().filter(Q(version="") | Q(version__in=site.values("version")) | ~Exists(site))


def unserved(queues: Iterable[str]) -> list[str]:
    """Return the queues, of these, whose jobs no living worker takes."""
    if not (asked := sorted(queues)):
        return []
    served = {queue for worker in able_workers() for queue in worker.queue_names}
    return [queue for queue in asked if queue not in served]


class QueueState(NamedTuple):
    """Tell how many jobs of a queue wait, for how many seconds the oldest has, and how many workers take them."""

    name: str
    length: int
    oldest: float | None
    workers: int


def queue_states(workers: Iterable[Worker]) -> list[QueueState]:
    """Return the state of each queue, given the workers that take jobs."""
    queued = Job.objects.filter(state=JobState.QUEUED).order_by().values_list("kind")
    counted = {kind: (number, since) for kind, number, since in queued.annotate(Count("pk"), Min("heartbeat_at"))}
    names, now, found = [name for one in workers for name in one.queue_names], clock.now(), []
    for queue in sorted({one.queue for one in JOB_TYPES.values()}):
        here = [counted[kind] for kind in kinds_of([queue]) if kind in counted]
        oldest = min((since for _, since in here if since), default=None)
        waited = (now - oldest).total_seconds() if oldest else None
        found.append(QueueState(queue, sum(number for number, _ in here), waited, names.count(queue)))
    return found


class WorkerState(NamedTuple):
    """Tell of a live worker what it does, and why it takes no job if it does not."""

    worker: Worker
    jobs: list[Job]
    memory: str
    problem: str


def worker_states(workers: Iterable[Worker]) -> list[WorkerState]:
    """Return the state of each of these workers."""
    site, doing = site_version(), defaultdict(list)
    running = Job.objects.filter(state=JobState.RUNNING).select_related("graph", "system__graph", "pool__graph")
    own_part = Job.objects.filter(parent=OuterRef("pk"), state=JobState.RUNNING, worker=OuterRef("worker"))
    running = running.exclude(Exists(own_part))  # it is at the part
    for job in running.defer("log").order_by("id"):
        doing[job.worker.rpartition(":")[0]].append(job)
    return [
        WorkerState(
            one,
            doing[one.name],
            in_words(one.memory) if one.memory else "",
            words(one.version, site) if is_other(one.version, site) else "",
        )
        for one in workers
    ]


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
