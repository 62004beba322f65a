"""How far a job is, in the unit that a person counts in."""

from typing import NamedTuple

from core import clock
from core.enums import JobState
from core.jobs.registry import JOB_TYPES
from core.models import Job


class Pace(NamedTuple):
    """Work done and to be done in `unit`, and times in seconds; None where nothing is known."""

    done: float
    total: float
    unit: str
    per_second: float | None
    seconds_left: float | None
    seconds_so_far: float | None


def pace_of(job: Job) -> Pace:
    """Return the pace of a job; the rate and the time left only while it runs."""
    end = job.finished_at or clock.now()
    so_far = (end - job.started_at).total_seconds() if job.started_at and job.state != JobState.QUEUED else None
    is_running = job.state == JobState.RUNNING
    left = job.seconds_left if is_running else None
    rate = (job.total - job.done) / left if left else None
    # training reports hundredths of an epoch
    trains = job.system_id and JOB_TYPES[job.kind].trains
    scale, unit = (100, "epochs") if trains else (1, job.unit)
    told = job.time_left if is_running else None
    return Pace(job.done / scale, job.total / scale, unit, rate / scale if rate else None, told, so_far)
