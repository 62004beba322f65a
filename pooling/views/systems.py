"""Systems: those of a graph, one with its settings and curves, several side by side, and their files."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render

from core.enums import LIVE, JobState
from core.errors import UserError
from core.files.csv_cells import csv_of
from core.jobs.lifecycle import live_workers, start_job
from core.people.permissions import can_manage
from core.views.access import evaluator_required
from core.views.pagination import page_of
from pooling.enums import PoolingJob, SystemState
from pooling.forms.systems import PykeenForm, TrainForm
from pooling.models import Graph, Run, System
from pooling.rules.in_words import rules_page
from pooling.systems import FAMILIES, SYSTEMS, find_system
from pooling.training.compare import compare, shown
from pooling.training.curves import compared_charts, history_curves
from pooling.training.files import FILES, SystemFileError, has_files, open_file
from pooling.training.train import create_systems, family_of
from pooling.training.upkeep import uses_of


@evaluator_required
def all_systems(request: HttpRequest) -> HttpResponse:
    rows = System.objects.select_related("graph", "run").order_by("graph__name", "id")
    page = page_of(request, rows.filter(archived=False, graph__archived=False))
    return render(request, "pooling/systems/all.html", {"page": page, "families": families_of(page)})


@evaluator_required
def systems(request: HttpRequest, name: str) -> HttpResponse:
    graph = get_object_or_404(Graph, name=name)
    form = TrainForm(graph, request.POST or None)
    if request.method == "POST":
        if not can_manage(request.user):
            raise PermissionDenied
        if form.is_valid() and (started := _train(request, graph, form)) is not None:
            messages.success(request, started)
            return redirect("systems", name)
    other = PykeenForm(request.GET if "model" in request.GET else None)
    if can_manage(request.user) and other.is_valid():
        return redirect("system-new", name, other.cleaned_data["model"].slug)
    every = graph.systems.select_related("run").order_by("id")
    archived = request.GET.get("archived") == "yes"
    page = page_of(request, every.filter(archived=archived))
    context = {
        "graph": graph,
        "page": page,
        "families": families_of(page),
        "archived": archived,
        "frame": "systems-archive" if archived else "systems",
        "num_archived": every.filter(archived=True).count(),
        "form": form,
        "choices": _choices(form),
        "other": other,
        "no_worker": not live_workers().exists(),
    }
    return render(request, "pooling/systems/list.html", context)


def families_of(page: Any) -> dict[int, str]:
    """Family of each system of a page, by id."""
    return {system.pk: family_of(system) for system in page}


def _choices(form: TrainForm) -> list[tuple[str, str, list[tuple[Any, Any]]]]:
    """The check boxes of the systems by family: its name, what it is, box and registry row of each."""
    boxes = [(box, SYSTEMS[box.data["value"]]) for box in form["kinds"]]
    by_family = [
        (name, about, [(box, spec) for box, spec in boxes if spec.family == name]) for name, about in FAMILIES.items()
    ]
    return [family for family in by_family if family[2]]


def _train(request: HttpRequest, graph: Graph, form: TrainForm) -> str | None:
    """Make the systems and their jobs; None, with the reason at the form, if that is refused."""
    asked = form.cleaned_data
    try:
        made = create_systems(graph, asked["kinds"], asked["settings"], asked["seeds"], asked["device"], asked["best"])
        waiting = [system for system in made if system.state != SystemState.TRAINED]
        for system in waiting:
            start_job(PoolingJob.TRAIN, system=system, user=request.user)  # type: ignore[arg-type]  # signed in
    except UserError as error:
        form.refuse(str(error))
        return None
    if not waiting:
        return "All of these are trained already; nothing was started."
    return f"Training of {', '.join(system.name for system in waiting)} is queued."


@evaluator_required
def system(request: HttpRequest, name: str, system: str) -> HttpResponse:
    found = get_object_or_404(System.objects.select_related("graph"), graph__name=name, name=system)
    jobs = list(found.jobs.order_by("-id").defer("log")[:5])
    context = {
        "graph": found.graph,
        "system": found,
        "spec": find_system(found.kind),
        "run": Run.objects.filter(system=found).first(),
        "curves": history_curves(found.history),
        "settings": _settings(found),
        "jobs": jobs,
        "failed": next((job for job in jobs[:1] if job.state == JobState.FAILED), None),
        "busy": any(job.state in LIVE for job in jobs),
        "pools": found.pools.order_by("name"),
        "uses": uses_of(found),
        "files": list(FILES) if has_files(found) else [],
        "rules": rules_page(found, request.GET.get("relation")),
    }
    return render(request, "pooling/systems/detail.html", context)


def _settings(system: System) -> list[tuple[str, str, str, str]]:
    """Key, value, the preset where it is another, and what the setting is for."""
    spec = find_system(system.kind)
    known = spec.settings if spec else {}
    preset = spec.preset(system.graph.num_entities, system.graph.num_train) if spec else {}
    return [
        (
            key,
            shown(value),
            shown(preset[key]) if key in preset and preset[key] != value else "",
            known[key].help if key in known else "",
        )
        for key, value in system.settings.items()
    ]


@evaluator_required
def compared(request: HttpRequest, name: str) -> HttpResponse:
    """Systems of one graph side by side; all that are not archived, or those of ?systems=."""
    graph = get_object_or_404(Graph, name=name)
    asked = request.GET.getlist("systems")
    found = compare(graph, asked)
    placed = list(zip(found.systems, found.colours, strict=True))
    charts = compared_charts([(system.name, place, system.history) for system, place in placed])
    context = {
        "graph": graph,
        "found": found,
        "rows": [(system, place, family_of(system)) for system, place in placed],
        "charts": charts,
        "chart_data": [chart.data for chart in charts],
        "every": graph.systems.order_by("id").only("graph", "name", "archived"),
        "chosen": {system.name for system in found.systems},
        "missing": sorted(set(asked) - {system.name for system in found.systems}),
    }
    return render(request, "pooling/systems/compare.html", context)


@evaluator_required
def compared_csv(request: HttpRequest, name: str, chart: str) -> HttpResponse:
    """The values of one of these charts: a row an epoch, a column a system."""
    found = compare(get_object_or_404(Graph, name=name), request.GET.getlist("systems"))
    charts = compared_charts([(system.name, 0, system.history) for system in found.systems])
    for drawn in charts:
        if drawn.key == chart:
            rows = [("epoch", *drawn.columns), *((epoch, *values) for epoch, values in drawn.rows)]
            headers = {"Content-Disposition": f'attachment; filename="{name}-{chart}.csv"'}
            return HttpResponse(csv_of(rows), content_type="text/csv; charset=utf-8", headers=headers)
    known = ", ".join(drawn.key for drawn in charts) or "none"
    raise Http404(f"These systems have no chart {chart}: there are {known}.")


@evaluator_required
def system_file(request: HttpRequest, name: str, system: str, file: str) -> HttpResponseBase:
    """Weights, embeddings or names of a trained system; 409 where there is nothing to take yet."""
    found = get_object_or_404(System.objects.select_related("graph"), graph__name=name, name=system)
    if file not in FILES:
        raise Http404(f"A system has no file {file}: it has {', '.join(FILES)}.")
    try:
        content = open_file(found, file)
    except SystemFileError as error:
        return render(request, "problem.html", {"problem": str(error)}, status=409)
    return FileResponse(content, as_attachment=True, filename=f"{name}-{system}-{file}")
