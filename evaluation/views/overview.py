"""The evaluation overview of a pool, and the version number that keeps its pages live."""

from dataclasses import asdict

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render

from core.errors import UserError
from core.views.access import evaluator_required
from evaluation.analyses.registry import ANALYSES
from evaluation.overview.dashboard import overview, page_version
from evaluation.overview.report_overview import RANKINGS, overview_chart
from evaluation.planning.findings import not_comparable
from evaluation.sections.settings import RANKING
from pooling.models import Pool


@evaluator_required
def evaluation(request: HttpRequest, name: str) -> HttpResponse:
    pool = get_object_or_404(Pool.objects.select_related("graph"), name=name)
    measure = request.GET.get("measure", RANKING[0])
    context: dict[str, object] = {"pool": pool, "analyses": ANALYSES}
    try:
        context |= overview(pool, measure if measure in RANKING else RANKING[0])
        context["not_comparable"] = not_comparable(pool)
        # the page draws its chart itself; this is for who takes it away
        context["charts"] = [{**asdict(overview_chart(context)), "key": RANKINGS}] if context["lines"] else []
    except UserError as error:
        context["problem"] = str(error)
    part = request.GET.get("part") == "figures"
    template = "evaluation/overview/evaluation.html"
    if part and "problem" not in context:
        template = "evaluation/overview/evaluation_figures.html"
    # a page that is open and asks for its figures learns by the status that there are none any more
    return render(request, template, context, status=400 if part and "problem" in context else 200)


@evaluator_required
def evaluation_version(request: HttpRequest, name: str) -> JsonResponse:
    """What an open page asks every second: has anything changed? Costs a few small queries, computes nothing."""
    return JsonResponse({"version": page_version(get_object_or_404(Pool, name=name))})
