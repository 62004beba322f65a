"""The report of an evaluation: a page that says what it holds, and the file."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render

from core.errors import UserError
from core.views.access import evaluator_required
from evaluation.overview.full_report import TAKEN, contents, full_report, look_up_labels, report_html, report_json
from evaluation.sections.section import Context
from evaluation.sections.settings import Settings, parse_settings
from evaluation.views.analyses import settings_form
from pooling.models import Pool


def _pool(name: str) -> Pool:
    return get_object_or_404(Pool.objects.select_related("graph"), name=name)


@evaluator_required
def report(request: HttpRequest, name: str) -> HttpResponse:
    pool, settings, problem = _pool(name), Settings(), ""
    try:
        chosen = parse_settings(request.GET, TAKEN)
        look_up_labels(Context(pool, chosen))
        settings = chosen
    except UserError as error:
        problem = str(error)
    context = {
        "pool": pool,
        "problem": problem,
        "contents": contents(pool, settings),
        "analysis": {"settings": TAKEN},
        **settings_form(request, pool, TAKEN, settings),
    }
    return render(request, "evaluation/overview/report.html", context, status=400 if problem else 200)


@evaluator_required
def report_download(request: HttpRequest, name: str) -> HttpResponse:
    """One self-contained HTML file, or with ?format=json everything in it as JSON."""
    pool = _pool(name)
    try:
        made = full_report(pool, parse_settings(request.GET, TAKEN))
    except UserError as error:
        return HttpResponse(str(error), status=400, content_type="text/plain; charset=utf-8")
    answer: HttpResponse
    if request.GET.get("format") == "json":
        answer = JsonResponse(report_json(made), json_dumps_params={"allow_nan": False})
        answer["Content-Disposition"] = f'attachment; filename="{pool.name}-report.json"'
        return answer
    answer = HttpResponse(report_html(made))
    answer["Content-Disposition"] = f'attachment; filename="{pool.name}-report.html"'
    return answer
