"""The home page of everybody, and the status page: a pool as the pipeline it goes through."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from annotation.labelling.progress import own_progress
from core.enums import LIVE, JobState
from core.jobs.lifecycle import live_workers
from core.models import Job
from core.people.permissions import can_evaluate
from core.views.access import evaluator_required
from evaluation.overview.counts import standing
from evaluation.overview.status import next_status, stage_statuses
from pooling.models import Graph, Pool

NEWEST = 6


def home(request: HttpRequest) -> HttpResponse:
    """What this person goes on with."""
    if not can_evaluate(request.user):
        progress = own_progress(request.user)  # type: ignore[arg-type]  # signed in: the middleware sees to it
        return render(request, "home.html", {"progress": progress})
    pools = []
    shown = Pool.objects.filter(archived=False)
    for pool in shown.select_related("graph").order_by("-created_at", "-id")[:NEWEST]:
        stages = stage_statuses(standing(pool))
        pools.append({"pool": pool, "stages": stages, "next": next_status(stages)})
    jobs = Job.objects.filter(state__in=LIVE)
    context = {
        "pools": pools,
        "num_pools": shown.count(),
        "num_graphs": Graph.objects.filter(archived=False).count(),
        "jobs": jobs.select_related("system__graph", "pool", "graph").defer("log").order_by("id")[:NEWEST],
    }
    return render(request, "evaluation/overview/status_home.html", context)


@evaluator_required
def status(request: HttpRequest, name: str) -> HttpResponse:
    pool = get_object_or_404(Pool.objects.select_related("graph"), name=name)
    stages = stage_statuses(standing(pool))
    jobs = [job for stage in stages for job in stage.jobs]
    context = {
        "pool": pool,
        "stages": stages,
        "next": next_status(stages),
        "live": bool(jobs),
        "no_worker": any(job.state == JobState.QUEUED for job in jobs) and not live_workers().exists(),
    }
    part = request.GET.get("part") == "stages"
    return render(
        request, "evaluation/overview/status_stages.html" if part else "evaluation/overview/status.html", context
    )
