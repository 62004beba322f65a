"""The evaluation overview of a pool, and the version number that keeps it live."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from evaluation.domain.dashboard import RANKED, overview
from evaluation.domain.table import version
from pooling.domain.job import start_job
from pooling.enums import JobKind, JobState
from pooling.errors import UserError
from pooling.models import Pool
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
    context["job"] = pool.jobs.filter(
        kind=JobKind.EVALUATE, state__in=[JobState.QUEUED, JobState.RUNNING]
    ).first()
    part = request.GET.get("part") == "figures" and "problem" not in context
    return render(
        request, "evaluation/evaluation_figures.html" if part else "evaluation/evaluation.html", context
    )


@evaluator_required
def evaluation_version(request: HttpRequest, name: str) -> JsonResponse:
    """What an open page asks every second: has a label or a rank changed? Costs two aggregates, computes nothing."""
    return JsonResponse({"version": version(get_object_or_404(Pool, name=name))})


@require_POST
@evaluator_required
def evaluation_compute(request: HttpRequest, name: str) -> HttpResponse:
    """Start the stability curve for the labels of this moment."""
    pool = get_object_or_404(Pool, name=name)
    start_job(JobKind.EVALUATE, pool=pool, user=request.user)  # type: ignore[arg-type]  # signed in
    messages.success(request, "The stability curve is being computed; this page shows it when it is there.")
    return redirect("evaluation", name)
