"""Kinds of job: each app registers its own, and names the function that does it, so that pages load no torch."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from django.db.models import TextChoices
from django.utils.module_loading import import_string

from core.enums import JobState
from core.jobs.progress import Progress
from core.models import KINDS, Job

Handler = Callable[[Job, Progress], None]
HANDLERS: dict[str, Handler] = {}


class JobType(NamedTuple):
    """One kind of job: its queue, its work, and how it is shown and recorded."""

    kind: TextChoices
    queue: str  # cpu or gpu
    work: str  # dotted path of the function(job, progress) that does it; it must be safe to run twice
    stage: str  # key of the stage that it belongs to, of config/stages.py
    act: TextChoices | None = None  # recorded in the audit log when one is started; None: it follows from another act
    trains: bool = False  # its system has curves of loss and validation MRR
    # called with a job and its state when it ends without being done, so that its subject does not seem to be waiting
    leave: Callable[[Job, JobState], None] | None = None
    # bytes of memory that it needs at least, given its graph, system and pool; 0: not known
    needs: Callable[[Any, Any, Any], int] = lambda graph, system, pool: 0


JOB_TYPES: dict[str, JobType] = {}


def register_jobs(types: Iterable[JobType]) -> None:
    """Add kinds of job. Called by each app when Django starts."""
    for one in types:
        JOB_TYPES[one.kind.value] = one
        KINDS[one.kind.value] = str(one.kind.label)


# called every few seconds by each worker; quick, and safe in several workers at once
BEATS: list[Callable[[], object]] = []


def register_beat(act: Callable[[], object]) -> None:
    """Add what workers do every few seconds. Called by each app when Django starts."""
    BEATS.append(act)


# called with a job and its state when it ends, in the transaction that ends it
ENDINGS: list[Callable[[Job, JobState], object]] = []


def register_ending(act: Callable[[Job, JobState], object]) -> None:
    """Add what is done when a job ends, however it does. Called by each app when Django starts."""
    ENDINGS.append(act)


def handler_of(kind: str) -> Handler:
    """Return the function that does the work of a kind of job, importing it when it is first asked for."""
    if kind not in HANDLERS:
        HANDLERS[kind] = import_string(JOB_TYPES[kind].work)
    return HANDLERS[kind]
