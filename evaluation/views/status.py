"""The page Home, and the page Status of a pool: how far it is in each stage."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.labelling.progress import own_progress
from core.enums import LIVE, JobState
from core.jobs.lifecycle import live_workers
from core.models import Job
from core.people.permissions import can_evaluate
from core.views.access import evaluator_required
from core.views.requests import SignedInRequest
from evaluation.overview.counts import stage_counts
from evaluation.overview.status import next_status, stage_statuses
from pooling.models import Graph, Pool
from pooling.views.find import find_pool

NEWEST = 6


def home(request: SignedInRequest) -> HttpResponse:
    """Show the pools and jobs under way, or to people who only label, their own progress."""
    if not can_evaluate(request.user):
        progress = own_progress(request.user)
        return render(request, "home.html", {"progress": progress})
    pools = []
    shown = Pool.objects.filter(archived=False)
    for pool in shown.select_related("graph").order_by("-created_at", "-id")[:NEWEST]:
        stages = stage_statuses(stage_counts(pool))
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
    pool = find_pool(name)
    stages = stage_statuses(stage_counts(pool))
    jobs = [job for stage in stages for job in stage.jobs]
    context = {
        "pool": pool,
        "stages": stages,
        "next": next_status(stages),
        "live": bool(jobs),
        "no_worker": any(job.state == JobState.QUEUED for job in jobs) and not live_workers().exists(),
    }
    name = "status_stages" if request.GET.get("part") == "stages" else "status"
    return render(request, f"evaluation/overview/{name}.html", context)
