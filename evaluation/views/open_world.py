"""The page Open world: how missing answers bias metrics, in theory and simulation; its settings are in the address."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from core.errors import UserError
from core.views.access import evaluator_required
from core.views.refusals import text_refusal
from evaluation.open_world.theory_page import SECTIONS, sections_of
from evaluation.open_world.theory_settings import METRICS, SLIDERS, TheorySettings, parse_theory
from evaluation.views.csv_file import table_response


@evaluator_required
def open_world(request: HttpRequest) -> HttpResponse:
    """Show the page; with ?part=figures only the figures, which its script puts in place of the old ones."""
    settings, context = TheorySettings(), dict[str, Any]()
    try:
        settings = parse_theory(request.GET)
        sections = [section.content() for section in sections_of(settings)]
        context["sections"], context["query"] = sections, settings.query()
        context["charts"] = [{**s["chart"], "key": s["key"], "systems": []} for s in sections if s["chart"]]
    except UserError as error:
        context = {"problem": str(error)}
    context |= {
        "metrics": METRICS,
        "settings": settings,
        "rho_text": "" if "problem" in context else settings.rho_text,
        "sliders": [(slider, request.GET.get(slider.name) or getattr(settings, slider.name)) for slider in SLIDERS],
    }
    part = request.GET.get("part") == "figures"
    template = "evaluation/open_world/sections.html" if part else "evaluation/open_world/page.html"
    # the script shows the words of a problem; a status of 400 would only fill the console
    return render(request, template, context, status=400 if "problem" in context and not part else 200)


@evaluator_required
@text_refusal
def open_world_csv(request: HttpRequest, table: str) -> HttpResponse:
    """Send one table of the page in full precision."""
    if table not in SECTIONS:
        raise Http404(f"This page has no table {table!r}.")
    settings = parse_theory(request.GET)
    section = SECTIONS[table](settings)
    return table_response(section.tables[0], ["open-world", table], settings.query())
