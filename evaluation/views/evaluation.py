"""The evaluation overview of a pool, and the version number that keeps it live."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from evaluation.domain.dashboard import RANKED, overview, page_version
from pooling.domain.job import live_workers, start_job
from pooling.enums import JobKind, JobState
from pooling.errors import UserError
from pooling.models import Job, Pool
from pooling.permissions import evaluator_required


@evaluator_required
def evaluation(request: HttpRequest, name: str) -> HttpResponse:
    pool = get_object_or_404(Pool.objects.select_related("graph"), name=name)
    measure = request.GET.get("measure", RANKED[0])
    context: dict[str, object] = {"pool": pool}
    try:
        context |= overview(pool, measure if measure in RANKED else RANKED[0])
    except UserError as error:
        context["problem"] = str(error)
    live = pool.jobs.filter(kind=JobKind.EVALUATE, state__in=[JobState.QUEUED, JobState.RUNNING])
    context["job"] = live.first() or _follow_labels(request, pool, context)
    part = request.GET.get("part") == "figures" and "problem" not in context
    return render(
        request, "evaluation/evaluation_figures.html" if part else "evaluation/evaluation.html", context
    )


def _follow_labels(request: HttpRequest, pool: Pool, context: dict[str, object]) -> Job | None:
    """Have the stability curve computed anew when it is older than the labels and somebody is there to do it."""
    old = "problem" not in context and (context["stability"] is None or context["stability_old"])
    if not old or not live_workers().exists():
        return None
    return start_job(JobKind.EVALUATE, pool=pool, user=request.user)  # type: ignore[arg-type]  # signed in


@evaluator_required
def evaluation_version(request: HttpRequest, name: str) -> JsonResponse:
    """What an open page asks every second: has anything changed? Costs a few small queries, computes nothing."""
    return JsonResponse({"version": page_version(get_object_or_404(Pool, name=name))})


@require_POST
@evaluator_required
def evaluation_compute(request: HttpRequest, name: str) -> HttpResponse:
    """Start the stability curve for the labels of this moment."""
    pool = get_object_or_404(Pool, name=name)
    start_job(JobKind.EVALUATE, pool=pool, user=request.user)  # type: ignore[arg-type]  # signed in
    messages.success(request, "The stability curve is being computed; this page shows it when it is there.")
    return redirect("evaluation", name)
