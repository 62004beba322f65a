"""The page Evaluation of a pool, its overview, and the version by which open pages learn of new figures."""

from dataclasses import asdict

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from core.errors import UserError
from core.views.access import evaluator_required
from evaluation.analyses.registry import ANALYSES
from evaluation.overview.rankings import overview, page_version
from evaluation.overview.sections import RANKINGS, overview_chart
from evaluation.planning.findings import not_comparable
from evaluation.sections.settings import RANKING
from pooling.views.find import find_pool


@evaluator_required
def evaluation(request: HttpRequest, name: str) -> HttpResponse:
    pool = find_pool(name)
    measure = request.GET.get("measure", RANKING[0])
    context: dict[str, object] = {"pool": pool, "analyses": ANALYSES}
    try:
        context |= overview(pool, measure if measure in RANKING else RANKING[0])
        context["not_comparable"] = not_comparable(pool)
        # the page draws its own chart; this one is for downloads
        context["charts"] = [{**asdict(overview_chart(context)), "key": RANKINGS}] if context["lines"] else []
    except UserError as error:
        context["problem"] = str(error)
    part = request.GET.get("part") == "figures"
    template = "evaluation/overview/evaluation.html"
    if part and "problem" not in context:
        template = "evaluation/overview/evaluation_figures.html"
    # the status tells an open page, which asks for its figures, that there are none any more
    return render(request, template, context, status=400 if part and "problem" in context else 200)


@evaluator_required
def evaluation_version(request: HttpRequest, name: str) -> JsonResponse:
    """Send the version of the figures, which open pages ask for every second: a few small queries, no computation."""
    return JsonResponse({"version": page_version(find_pool(name))})
