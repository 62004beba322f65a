"""The pages Open world, Open-world studies and Study, and their tables as files."""

from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from core.errors import UserError
from core.jobs.lifecycle import live_jobs
from core.models import Job
from core.people.roles import can_manage
from core.views.access import SignedInRequest, evaluator_required, json_refusal, manager_required, text_refusal
from core.views.acts import attempt, posted, tell_queued
from core.views.pagination import page_of
from evaluation.enums import EvaluationJob
from evaluation.forms.open_world_study import StudyForm
from evaluation.models import Study, StudyRun
from evaluation.open_world.study import StudyError, begin_study, continue_study, is_under_way, jobs_of, options_of
from evaluation.open_world.study_curves import DIVISIONS, StudyView, division_words, view_of
from evaluation.open_world.study_sections import study_sections
from evaluation.open_world.theory_page import SECTIONS, sections_of
from evaluation.open_world.theory_settings import METRICS, SLIDERS, TheorySettings, parse_theory
from evaluation.sections.section import Section
from evaluation.views.csv_file import table_response


@evaluator_required
def open_world(request: HttpRequest) -> HttpResponse:
    """Show the page; with ?part=figures only the figures, which its script puts in place of the old ones."""
    settings, context = TheorySettings(), dict[str, Any]()
    try:
        settings = parse_theory(request.GET)
        sections = [section.content() for section in sections_of(settings)]
        context["sections"], context["query"] = sections, settings.query()
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


NOTHING_YET = "Of study {} nothing was evaluated yet: come back when its first checkpoints are there."


@evaluator_required
def studies(request: SignedInRequest) -> HttpResponse:
    """Show all studies; POST makes one and starts it (managers)."""
    form = StudyForm(posted(request))
    if request.method == "POST" and not can_manage(request.user):
        raise PermissionDenied
    if study := attempt(form, lambda asked: begin_study(asked["name"], form.options(), request.user)):
        tell_queued(request, f"Study {study.name} was queued: its graphs first, then a job for each system.")
        return redirect("open-world-study", study.name)
    finished = Count("runs", filter=~Q(runs__sha256=""))
    rows = Study.objects.select_related("created_by").annotate(systems=Count("runs"), finished=finished)
    context = {"page": page_of(request, rows.order_by("-id")), "form": form}
    context["work"] = live_jobs(Q(kind=EvaluationJob.OPEN_WORLD))
    return render(request, "evaluation/open_world/study_list.html", context)


@evaluator_required
def study(request: HttpRequest, name: str) -> HttpResponse:
    """Show a study; with ?part=figures only its figures."""
    found = get_object_or_404(Study, name=name)
    context: dict[str, Any] = {"study": found, "options": options_of(found), "status": 200}
    try:
        view = view_of(found, request.GET)
        sections = [section.content() for section in study_sections(found, view)]
        context |= _shown(sections, view)
    except UserError as error:
        context |= {"problem": str(error), "status": 400 if request.GET else 200}
    context |= _progress(found)
    part = request.GET.get("part") == "figures" and "problem" not in context
    template = "evaluation/open_world/study_figures.html" if part else "evaluation/open_world/study.html"
    return render(request, template, context, status=context["status"])


def _shown(sections: list[dict[str, Any]], view: StudyView) -> dict[str, Any]:
    curves = [s for s in sections if s["chart"] and s["key"] != "summary"]
    others = [s for s in sections if s not in curves]
    divisions = {key: division_words(key, view.chooser) for key in DIVISIONS}
    query = _query(view)
    return {"view": view, "curves": curves, "others": others, "query": query, "divisions": divisions}


def _query(view: StudyView) -> str:
    return urlencode({"density": f"{view.density:g}", "division": view.division, "chooser": view.chooser})


def _progress(study: Study) -> dict[str, Any]:
    jobs, runs = jobs_of(study), list(study.runs.select_related("graph", "system"))
    newest = {job.system_id: job for job in reversed(jobs)}
    is_live = any(not job.is_over for job in jobs)
    return {
        "runs": [{"run": run, "job": newest.get(run.system_id)} for run in runs],
        "preparing": newest.get(None),
        "finished": sum(bool(run.sha256) for run in runs),
        "all_done": bool(runs) and all(run.sha256 for run in runs),
        "systems": list(dict.fromkeys(run.system.name for run in runs)),
        "version": _version(runs, jobs),
        "under_way": is_live,
    }


def _version(runs: list[StudyRun], jobs: list[Job]) -> str:
    """Return a text that changes whenever the page has something new to show."""
    done = sum(run.checkpoints for run in runs)
    return f"{done}/{sum(bool(run.sha256) for run in runs)}/{'-'.join(job.state[:2] for job in jobs)}"


@evaluator_required
def study_version(request: HttpRequest, name: str) -> HttpResponse:
    found = get_object_or_404(Study, name=name)
    return JsonResponse({"version": _version(list(found.runs.all()), jobs_of(found))})


@require_POST
@manager_required
def study_continue(request: SignedInRequest, name: str) -> HttpResponse:
    """Start what is not finished; nothing is evaluated twice."""
    found = get_object_or_404(Study, name=name)
    if is_under_way(found):
        messages.success(request, "It is under way already.")
    else:
        continue_study(found, request.user)
        messages.success(request, "It goes on from its last checkpoints.")
    return redirect("open-world-study", name)


@evaluator_required
@json_refusal
def study_json(request: HttpRequest, name: str) -> HttpResponse:
    """Send everything that the page shows; undefined values are null, with their reason."""
    found = get_object_or_404(Study, name=name)
    view = view_of(found, request.GET)
    sections = [section.content() for section in _sections(found, view)]
    content = {"study": found.name, "options": options_of(found).to_json(), "view": asdict(view), "sections": sections}
    return JsonResponse(content, json_dumps_params={"allow_nan": False})


@evaluator_required
@text_refusal
def study_csv(request: HttpRequest, name: str, table: str) -> HttpResponse:
    """Send one table of the page."""
    found = get_object_or_404(Study, name=name)
    view = view_of(found, request.GET)
    tables = {t.key: t for section in _sections(found, view) for t in section.tables}
    if table not in tables:
        raise Http404(f"This study has no table {table!r}, or nothing was evaluated yet.")
    return table_response(tables[table], ["open-world", found.name, table], _query(view))


def _sections(study: Study, view: StudyView) -> list[Section]:
    """Return the sections of a study; StudyError if there are none yet."""
    sections = study_sections(study, view)
    if not sections:
        raise StudyError(NOTHING_YET.format(study.name))
    return sections
