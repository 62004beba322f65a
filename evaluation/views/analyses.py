"""The analysis pages of a pool: one view for all, and the same sections as JSON and CSV."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from core.enums import JobState
from core.errors import UserError
from core.jobs.lifecycle import request_cancel
from core.models import Job
from core.views.access import evaluator_required
from evaluation.analyses.registry import get_analysis
from evaluation.labels.label_sets import LabelChoice, label_sets
from evaluation.labels.pool_table import EvaluationError
from evaluation.measures.registry import parse_measure
from evaluation.models import Figure
from evaluation.overview.dashboard import WAITING, page_version
from evaluation.overview.report_overview import OVERVIEW
from evaluation.planning.findings import not_comparable
from evaluation.sections.figure_cache import (
    FigureBusy,
    analysis_content,
    ask_part,
    is_live,
    may_follow,
    part_job,
    part_state,
    start_part,
)
from evaluation.sections.section import Analysis, Part
from evaluation.sections.settings import ANSWERS, ASSUMED, QUESTION_SETS, Settings, offered_measures, parse_settings
from evaluation.views.csv_file import csv_file
from pooling.models import Pool
from pooling.training.train import systems_with_runs


@dataclass(frozen=True)
class PartShown:
    """A part as the page has it: its sections, how old they are, and what is under way."""

    part: Part
    figure: Figure | None
    is_old: bool
    job: Job | None

    @property
    def is_live(self) -> bool:
        return is_live(self.job)

    @property
    def ended(self) -> str:
        """How the last job ended, where it gave nothing: failed or cancelled."""
        return self.job.state if self.job and self.job.state in (JobState.FAILED, JobState.CANCELLED) else ""

    @property
    def sections(self) -> list[dict[str, Any]]:
        return self.figure.content["sections"] if self.figure else []


def _pool(name: str) -> Pool:
    return get_object_or_404(Pool.objects.select_related("graph"), name=name)


def _analysis(key: str, *, files: bool = False) -> Analysis:
    """`files`: of the overview there are files too; its page is one of its own."""
    if files and key == OVERVIEW.key:
        return OVERVIEW
    try:
        return get_analysis(key)
    except EvaluationError as error:
        raise Http404(str(error)) from error


@evaluator_required
def analysis_page(request: HttpRequest, name: str, key: str) -> HttpResponse:
    pool, analysis = _pool(name), _analysis(key)
    context: dict[str, Any] = {"pool": pool, "analysis": analysis, "status": 200}
    settings = Settings()
    try:
        settings = parse_settings(request.GET, analysis.settings)
        context |= {"version": page_version(pool), "shown": _shown(pool, analysis, settings)}
        context["jobs"] = analysis.jobs(pool) if analysis.jobs else None
        context["is_under_way"] = any(is_live(job) for job in context["jobs"] or ())
        if any(shown.is_old and not shown.part.heavy for shown in context["shown"]):
            context["version"] += WAITING
        context["not_comparable"] = not_comparable(pool)
        figures = [shown.figure for shown in context["shown"] if shown.figure]
        context["left_out"] = next((f.content["left_out"] for f in figures), [])
        context["charts"] = [
            {**section["chart"], "key": section["key"], "systems": figure.content["systems"]}
            for figure in figures
            for section in figure.content["sections"]
            if section["chart"]
        ]
    except FigureBusy as error:
        context |= {"problem": str(error), "status": 503}
    except UserError as error:
        context |= {"problem": str(error), "status": 400 if request.GET else 200}
    asked = request.GET.copy()
    asked.pop("part", None)
    context["query"] = settings.query(analysis.settings)
    context["part_query"] = f"{asked.urlencode()}&part=figures".lstrip("&")
    context |= settings_form(request, pool, analysis.settings, settings)
    part = request.GET.get("part") == "figures" and "problem" not in context
    template = "evaluation/analyses/sections.html" if part else "evaluation/analyses/page.html"
    return render(request, template, context, status=context["status"])


def _shown(pool: Pool, analysis: Analysis, settings: Settings) -> list[PartShown]:
    shown: list[PartShown] = []
    for part in analysis.parts:
        if part.needs and part.needs not in {s["key"] for other in shown for s in other.sections}:
            continue
        _, figure, is_old = part_state(pool, analysis, part, settings)
        job = part_job(pool, analysis, part, settings) if part.heavy else None
        if part.heavy and is_old and figure is not None and not is_live(job) and may_follow(job):
            job = start_part(pool, analysis, part, settings)  # once computed, a part follows the labels
        shown.append(PartShown(part, figure, is_old, job))
    return shown


def settings_form(request: HttpRequest, pool: Pool, taken: Collection[str], settings: Settings) -> dict[str, Any]:
    """What the form of settings (analysis_form.html) shows; `taken` names those that the page takes."""
    choices = label_sets(pool, request.user) if {"labels", "against"} & set(taken) else []
    for key in {settings.labels, settings.against} - {choice.key for choice in choices}:
        if not key.startswith("until:"):  # what the address asks for is in the form too
            choices.append(LabelChoice(key, key, "Chosen"))
    return {
        "settings": settings,
        "label_choices": choices,
        "measure_choices": [parse_measure(name) for name in offered_measures((*settings.measures, settings.measure))],
        "question_sets": QUESTION_SETS,
        "assumed_choices": ASSUMED,
        "answers_choices": ANSWERS,
        "system_choices": [s.name for s in systems_with_runs(pool)] if "system" in taken else [],
    }


@evaluator_required
def analysis_json(request: HttpRequest, name: str, key: str) -> HttpResponse:
    """Everything that the page shows; undefined values are null, with their reason."""
    pool, analysis = _pool(name), _analysis(key, files=True)
    try:
        settings = parse_settings(request.GET, analysis.settings)
        content = analysis_content(pool, analysis, settings)
    except UserError as error:
        return JsonResponse({"error": str(error)}, status=400)
    return JsonResponse(content, json_dumps_params={"allow_nan": False})


@evaluator_required
def analysis_csv(request: HttpRequest, name: str, key: str, table: str) -> HttpResponse:
    """One table of the page, full precision; undefined cells are empty, and their reasons are the last column."""
    pool, analysis = _pool(name), _analysis(key, files=True)
    try:
        settings = parse_settings(request.GET, analysis.settings)
        parts = [part_state(pool, analysis, part, settings) for part in analysis.parts]
    except UserError as error:
        return HttpResponse(str(error), status=400, content_type="text/plain; charset=utf-8")
    tables = {
        t["key"]: t
        for part in parts
        if part.figure
        for section in part.figure.content["sections"]
        for t in section["tables"]
    }
    if table not in tables:
        raise Http404(f"This page has no table {table!r}, or it is not computed yet.")
    return csv_file(tables[table], [pool.name, analysis.key, table], settings.query(analysis.settings))


@require_POST
@evaluator_required
def analysis_compute(request: HttpRequest, name: str, key: str, part: str) -> HttpResponse:
    """Have a job compute a heavy part under the settings of the form, or have it no longer."""
    pool, analysis = _pool(name), _analysis(key)
    heavy = {p.key: p for p in analysis.parts if p.heavy}
    if part not in heavy:
        raise Http404(f"There is nothing to compute under {part!r}.")
    settings = Settings()
    try:
        settings = parse_settings(QueryDict(request.POST.get("settings", "")), analysis.settings)
        if "cancel" in request.POST:
            job = part_job(pool, analysis, heavy[part], settings)
            if job is not None and is_live(job):
                request_cancel(job)
        else:
            ask_part(pool, analysis, heavy[part], settings, request.user)  # type: ignore[arg-type]  # signed in
            messages.success(request, "It is being computed; this page shows it when it is there.")
    except UserError as error:
        messages.error(request, str(error))
        return redirect("analysis", name, key)
    query = settings.query(analysis.settings)
    return redirect(reverse("analysis", args=[name, key]) + (f"?{query}" if query else ""))
