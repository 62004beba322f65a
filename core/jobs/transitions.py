"""The allowed moves between states of a job. Each is an UPDATE on the old state whose row count is checked."""

from typing import Any

from core.enums import JobState
from core.errors import UserError
from core.jobs.registry import ENDINGS, JOB_TYPES
from core.models import Job

# state now -> states it may take
MOVES = {
    JobState.QUEUED: {JobState.RUNNING, JobState.CANCELLED},
    JobState.RUNNING: {JobState.DONE, JobState.FAILED, JobState.CANCELLED, JobState.QUEUED},
    JobState.FAILED: {JobState.QUEUED},
    JobState.CANCELLED: {JobState.QUEUED},
    JobState.DONE: set(),
}


class JobError(UserError):
    """A job cannot do what was asked of it."""


def move_job(job_id: int, old: JobState, new: JobState, **fields: Any) -> bool:
    """Take a job from one state to another; return False if it is no longer in the first."""
    if new not in MOVES[old]:
        raise ValueError(f"a job cannot go from {old} to {new}")
    return Job.objects.filter(pk=job_id, state=old).update(state=new, **fields) == 1


def tell_end(job: Job, state: JobState) -> None:
    """Tell whoever registered for it that a job ended, and its subject, so that it stops waiting, if it is not done."""
    if state != JobState.DONE and (leave := JOB_TYPES[job.kind].leave) is not None:
        leave(job, state)
    for act in ENDINGS:
        act(job, state)
