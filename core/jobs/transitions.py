"""The allowed moves between states of a job. Each is an UPDATE on the old state whose row count is checked."""

from typing import Any

from core import clock
from core.enums import LIVE, JobState
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
    """Tell whoever has to know that a job ended: its subject and its parts if it is not done, and the registered acts.

    A part tells only its own parts: it is not the end of anybody's work.
    """
    if state == JobState.DONE:
        Job.objects.filter(parent=job).delete()  # of an attempt that ended before it could
    else:
        cancel_parts(job.pk)
        if (leave := JOB_TYPES[job.kind].leave) is not None:
            leave(job, state)
    if job.parent_id is None:
        for act in ENDINGS:
            act(job, state)


def cancel_parts(job_id: int) -> None:
    """Cancel the parts of a job that are not over, and theirs: queued ones at once, running ones at their next step."""
    for pk in Job.objects.filter(parent=job_id, state__in=LIVE).values_list("pk", flat=True):
        if not move_job(pk, JobState.QUEUED, JobState.CANCELLED, finished_at=clock.now()):
            Job.objects.filter(pk=pk, state=JobState.RUNNING).update(cancel_requested=True)
        cancel_parts(pk)
