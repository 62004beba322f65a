"""The pages Jobs and Job: how far long work is, and the buttons that cancel it or start it again."""

from collections.abc import Callable

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from core.enums import JobState
from core.files.usage import disk_use
from core.jobs.lifecycle import cancel_job, retry_job
from core.jobs.pace import pace_of
from core.jobs.queues import able_workers, live_workers, misfit, queue_states, worker_states
from core.jobs.registry import JOB_TYPES
from core.jobs.tree import parts_of
from core.models import Job
from core.version import code_version, is_other, site_version, web_words
from core.views.access import SignedInRequest, evaluator_required, manager_required
from core.views.acts import or_message
from core.views.pagination import page_of
from pooling.training.curves import history_curves

LOG_LINES = 200


@evaluator_required
def jobs(request: HttpRequest) -> HttpResponse:
    rows = Job.objects.filter(parent=None).select_related("graph", "system__graph", "pool").defer("log")
    state = request.GET.get("state", "")
    if state in JobState.values:
        rows = rows.filter(state=state)
    page = page_of(request, rows.order_by("-id"))
    live = any(not job.is_over for job in page)
    workers, site = list(live_workers().order_by("name")), site_version()
    able = [one for one in workers if not is_other(one.version, site)]
    context = {
        "page": page,
        "live": live,
        "state": state,
        "states": JobState.choices,
        "wrong_clocks": [one for one in workers if one.clock_is_wrong],
        "workers": worker_states(workers),
        "queues": queue_states(able),
        "site_version": site,
        "web_problem": web_words(code_version(), site) if is_other(code_version(), site) else "",
        "disk": disk_use,  # asked where it is shown: to managers
        "misfits": {job.pk: misfit(job, able) for job in page},
        "parts": parts_of(page),
    }
    part = request.GET.get("part") == "rows"
    return render(request, "pooling/jobs/rows.html" if part else "pooling/jobs/list.html", context)


@evaluator_required
def job(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Job.objects.select_related("graph", "system__graph", "pool__graph", "created_by"), pk=pk)
    context = {
        "job": found,
        "pace": pace_of(found),
        "log": "\n".join(found.log.splitlines()[-LOG_LINES:]),
        "curves": history_curves(found.system.history) if found.system and JOB_TYPES[found.kind].trains else [],
        "alone": [found],
        "misfit": misfit(found, able_workers()) if found.is_queued else "",
        "parts": parts_of([found]).get(found.pk),
    }
    part = request.GET.get("part") == "progress"
    return render(request, "pooling/jobs/progress.html" if part else "pooling/jobs/detail.html", context)


@manager_required
@require_POST
def cancel(request: SignedInRequest, pk: int) -> HttpResponse:
    return _act(request, pk, cancel_job)


@manager_required
@require_POST
def retry(request: SignedInRequest, pk: int) -> HttpResponse:
    return _act(request, pk, retry_job)


def _act(request: SignedInRequest, pk: int, act: Callable[[Job, User], None]) -> HttpResponse:
    job = get_object_or_404(Job, pk=pk)
    or_message(request, lambda: act(job, request.user))
    return redirect("job", pk)
