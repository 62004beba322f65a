"""The page Report of a pool: what the report of its evaluation holds, and the report as a file."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from core.errors import UserError
from core.views.access import evaluator_required
from core.views.downloads import as_download, text_response
from core.views.refusals import text_refusal
from evaluation.overview.full_report import (
    REPORT_SETTINGS,
    full_report,
    look_up_labels,
    preview_chapters,
    report_html,
    report_json,
)
from evaluation.sections.section import Context
from evaluation.sections.settings import Settings, parse_settings
from evaluation.views.settings_form import settings_form
from pooling.views.find import find_pool


@evaluator_required
def report(request: HttpRequest, name: str) -> HttpResponse:
    pool, settings, problem = find_pool(name), Settings(), ""
    try:
        chosen = parse_settings(request.GET, REPORT_SETTINGS)
        look_up_labels(Context(pool, chosen))
        settings = chosen
    except UserError as error:
        problem = str(error)
    context = {
        "pool": pool,
        "problem": problem,
        "contents": preview_chapters(pool, settings),
        "analysis": {"settings": REPORT_SETTINGS},
        **settings_form(request, pool, REPORT_SETTINGS, settings),
    }
    return render(request, "evaluation/overview/report.html", context, status=400 if problem else 200)


@evaluator_required
@text_refusal
def report_download(request: HttpRequest, name: str) -> HttpResponse:
    """Send one self-contained HTML file, or with ?format=json its content as JSON."""
    pool = find_pool(name)
    made = full_report(pool, parse_settings(request.GET, REPORT_SETTINGS))
    if request.GET.get("format") == "json":
        content = JsonResponse(report_json(made), json_dumps_params={"allow_nan": False})
        return as_download(content, f"{pool.name}-report.json")
    return text_response(report_html(made), f"{pool.name}-report.html")
