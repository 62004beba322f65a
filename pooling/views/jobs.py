"""Jobs: how long work stands, and how to end it or start it again."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from core.enums import JobState
from core.errors import UserError
from core.jobs.lifecycle import cancel_job, live_workers, retry_job
from core.jobs.registry import JOB_TYPES
from core.models import Job
from core.views.access import manager_required
from core.views.pagination import page_of
from pooling.training.curves import history_curves

LOG_LINES = 200


@dataclass(frozen=True)
class Standing:
    """How far a job is, in the unit that a person counts in."""

    done: float
    total: float
    unit: str
    per_second: float | None
    seconds_left: float | None
    seconds_so_far: float | None


def standing(job: Job) -> Standing:
    running = job.state == JobState.RUNNING
    end = job.finished_at or timezone.now()
    so_far = (end - job.started_at).total_seconds() if job.started_at and job.state != JobState.QUEUED else None
    left = job.seconds_left if running else None
    rate = (job.total - job.done) / left if left else None
    # training reports hundredths of an epoch
    trains = job.system_id and JOB_TYPES[job.kind].trains
    scale, unit = (100, "epochs") if trains else (1, job.unit)
    return Standing(job.done / scale, job.total / scale, unit, rate / scale if rate else None, left, so_far)


@manager_required
def jobs(request: HttpRequest) -> HttpResponse:
    rows = Job.objects.select_related("graph", "system__graph", "pool").defer("log", "params").order_by("-id")
    state = request.GET.get("state", "")
    if state in JobState.values:
        rows = rows.filter(state=state)
    page = page_of(request, rows)
    live = any(not job.is_over for job in page)
    context = {
        "page": page,
        "live": live,
        "state": state,
        "states": JobState.choices,
        "no_worker": live and not live_workers().exists(),
    }
    part = request.GET.get("part") == "rows"
    return render(request, "pooling/jobs/rows.html" if part else "pooling/jobs/list.html", context)


@manager_required
def job(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Job.objects.select_related("graph", "system__graph", "pool__graph", "created_by"), pk=pk)
    context = {
        "job": found,
        "standing": standing(found),
        "log": "\n".join(found.log.splitlines()[-LOG_LINES:]),
        "curves": history_curves(found.system.history) if found.system and JOB_TYPES[found.kind].trains else [],
        "no_worker": found.state == JobState.QUEUED and not live_workers().exists(),
    }
    part = request.GET.get("part") == "progress"
    return render(request, "pooling/jobs/progress.html" if part else "pooling/jobs/detail.html", context)


@manager_required
@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Job, pk=pk)
    try:
        cancel_job(found, request.user)  # type: ignore[arg-type]  # signed in
    except UserError as error:
        messages.error(request, str(error))
    return redirect("job", pk)


@manager_required
@require_POST
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Job, pk=pk)
    try:
        retry_job(found, request.user)  # type: ignore[arg-type]  # signed in
    except UserError as error:
        messages.error(request, str(error))
    return redirect("job", pk)
