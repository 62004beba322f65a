"""The analysis pages of a pool, by one view, the same sections as JSON and CSV, and buttons of single analyses."""

from collections.abc import Collection
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from core.errors import UserError
from core.jobs.lifecycle import request_cancel
from core.models import Job
from core.views.access import SignedInRequest, evaluator_required, json_refusal, manager_required, text_refusal
from core.views.acts import or_message
from evaluation.classification import judged as classification
from evaluation.labels.label_sets import LabelChoice, frozen_name, label_sets
from evaluation.labels.pool_table import EvaluationError
from evaluation.max_k import stored_runs as max_k
from evaluation.measures.registry import parse_measure
from evaluation.overview.rankings import WAITING, page_version
from evaluation.overview.sections import OVERVIEW
from evaluation.pages.registry import get_analysis
from evaluation.planning.findings import not_comparable
from evaluation.sections.figure_cache import (
    FigureBusy,
    analysis_content,
    ask_part,
    follows_labels,
    is_live,
    part_job,
    part_state,
)
from evaluation.sections.parts_with_jobs import parts_with_jobs
from evaluation.sections.section import Analysis
from evaluation.sections.settings import (
    ANSWERS,
    ASSUMED,
    QUESTION_SETS,
    SEEDS,
    TRAINING,
    Settings,
    offered_measures,
    parse_settings,
)
from evaluation.sections.wording import basis
from evaluation.views.csv_file import table_response
from pooling.models import Pool
from pooling.pools.growth import extend_pool
from pooling.training.seed_families import seed_families
from pooling.training.train import systems_with_runs
from pooling.views.find import find_pool

SCORING = {"max-k": max_k.score_missing, "classification": classification.score_missing}  # by page


def settings_form(request: HttpRequest, pool: Pool, taken: Collection[str], settings: Settings) -> dict[str, Any]:
    """Return the context of analysis_form.html; `taken` names the settings that the page takes."""
    choices = label_sets(pool, request.user) if {"labels", "against"} & set(taken) else []
    for key in {settings.labels, settings.against} - {choice.key for choice in choices}:
        if not key.startswith("until:"):  # the form offers what the address asks for, too
            choices.append(LabelChoice(key, key, "Chosen"))
    return {
        "settings": settings,
        "label_choices": choices,
        "measure_choices": [parse_measure(name) for name in offered_measures((*settings.measures, settings.measure))],
        "question_sets": QUESTION_SETS,
        "assumed_choices": ASSUMED,
        "answers_choices": ANSWERS,
        "system_choices": [s.name for s in systems_with_runs(pool)] if "system" in taken else [],
        **systems_form(pool, taken, settings),
    }


def systems_form(pool: Pool, taken: Collection[str], settings: Settings) -> dict[str, Any]:
    """Return the choices of systems and about families of seeds.

    None about families where the pool has no family and the address asks for none.
    """
    systems = systems_with_runs(pool)
    asked = settings.query({"seeds", "training"} & set(taken))
    compared = {"settings": settings, "compared_choices": [system.name for system in systems]}
    if "seeds" not in taken or (not asked and len(seed_families(systems)) == len(systems)):
        return compared
    training = TRAINING if "training" in taken else ()
    return compared | {"seeds_choices": SEEDS, "training_choices": training}


def _analysis(key: str, *, files: bool = False) -> Analysis:
    """Return the analysis of this key. With `files` the overview is one too: only its page is separate."""
    if files and key == OVERVIEW.key:
        return OVERVIEW
    try:
        return get_analysis(key)
    except EvaluationError as error:
        raise Http404(str(error)) from error


@evaluator_required
def analysis_page(request: HttpRequest, name: str, key: str) -> HttpResponse:
    """Show an analysis; with ?part=figures only its figures, for an open page that refreshes them."""
    pool, analysis = find_pool(name), _analysis(key)
    context: dict[str, Any] = {"pool": pool, "analysis": analysis, "status": 200}
    settings = Settings()
    try:
        settings = parse_settings(request.GET, analysis.settings)
        context |= {"version": page_version(pool), "shown": parts_with_jobs(pool, analysis, settings)}
        jobs = analysis.jobs(pool) if analysis.jobs else None
        context |= {"jobs": jobs, "is_under_way": any(map(is_live, jobs or ())), "not_comparable": not_comparable(pool)}
        if any(shown.is_old and not shown.part.heavy for shown in context["shown"]):
            context["version"] += WAITING
        # what an open page says while newer figures are fetched; new labels leave those of frozen qrels as they are
        follows = any(follows_labels(analysis, shown.part, settings) for shown in context["shown"])
        context["basis"] = basis(context["version"]) if follows else ""
        figures = [shown.figure for shown in context["shown"] if shown.figure]
        context["contents"] = [section for shown in context["shown"] for section in shown.sections]
        context["left_out"] = next((figure.content["left_out"] for figure in figures), [])
        context["compared"] = next((figure.content.get("compared") for figure in figures), None)
    except FigureBusy as error:
        context |= {"problem": str(error), "status": 503}
    except UserError as error:
        context |= {"problem": str(error), "status": 400 if request.GET else 200}
    asked = request.GET.copy()
    asked.pop("part", None)
    context["query"] = settings.query(analysis.settings)
    context["frozen"] = frozen_name(settings.labels)
    context["part_query"] = f"{asked.urlencode()}&part=figures".lstrip("&")
    context |= settings_form(request, pool, analysis.settings, settings)
    part = request.GET.get("part") == "figures" and "problem" not in context
    template = "evaluation/analyses/sections.html" if part else "evaluation/analyses/page.html"
    return render(request, template, context, status=context["status"])


@evaluator_required
@json_refusal
def analysis_json(request: HttpRequest, name: str, key: str) -> HttpResponse:
    """Send everything that the page shows; undefined values are null, with their reason."""
    pool, analysis = find_pool(name), _analysis(key, files=True)
    content = analysis_content(pool, analysis, parse_settings(request.GET, analysis.settings))
    return JsonResponse(content, json_dumps_params={"allow_nan": False})


@evaluator_required
@text_refusal
def analysis_csv(request: HttpRequest, name: str, key: str, table: str) -> HttpResponse:
    """Send one table of the page in full precision; undefined cells are empty, the last column gives their reasons."""
    pool, analysis = find_pool(name), _analysis(key, files=True)
    settings = parse_settings(request.GET, analysis.settings)
    states = [part_state(pool, analysis, part, settings) for part in analysis.parts]
    sections = [section for state in states if state.figure for section in state.figure.content["sections"]]
    tables = {found["key"]: found for section in sections for found in section["tables"]}
    if table not in tables:
        raise Http404(f"This page has no table {table!r}, or it is not computed yet.")
    return table_response(tables[table], [pool.name, analysis.key, table], settings.query(analysis.settings))


@require_POST
@evaluator_required
def analysis_compute(request: SignedInRequest, name: str, key: str, part: str) -> HttpResponse:
    """Have a job compute a heavy part under the posted settings, or cancel that job."""
    pool, analysis = find_pool(name), _analysis(key)
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
            ask_part(pool, analysis, heavy[part], settings, request.user)
            messages.success(request, "It is being computed; this page shows it when it is there.")
    except UserError as error:
        messages.error(request, str(error))
        return redirect("analysis", name, key)
    query = settings.query(analysis.settings)
    return redirect(reverse("analysis", args=[name, key]) + (f"?{query}" if query else ""))


@require_POST
@manager_required
def score(request: SignedInRequest, name: str, key: str) -> HttpResponse:
    """Start a job for each system that lacks what the page `key` shows; that page shows their progress."""
    pool = find_pool(name)
    jobs = or_message(request, lambda: SCORING[key](pool, user=request.user))
    if jobs is not None:
        many = f"{len(jobs)} system{'s are' if len(jobs) != 1 else ' is'} being scored"
        messages.success(request, f"{many if jobs else 'No run lacks anything'}; this page shows it.")
    return redirect("analysis", name, key)


@require_POST
@manager_required
def extend(request: SignedInRequest, name: str) -> HttpResponse:
    """Start the job that adds the candidates of one system, and show its page."""
    pool, system = find_pool(name), request.POST.get("system", "").strip()

    def start() -> Job:
        if not system:
            raise UserError("No system was named: use the button under the table.")
        return extend_pool(pool, systems=[system], user=request.user)

    if (job := or_message(request, start)) is None:
        return redirect("analysis", name, "reusability")
    messages.success(request, f"The triples of {system} are being added to pool {pool.name}.")
    return redirect("job", job.pk)
