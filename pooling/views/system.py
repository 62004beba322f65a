"""Systems: those of a graph, one with its settings and curves, and the form that trains more."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from pooling.domain.job import live_workers, start_job
from pooling.domain.system import create_systems
from pooling.enums import JobKind, SystemState
from pooling.errors import UserError
from pooling.forms import TrainForm
from pooling.models import Graph, Run, System
from pooling.permissions import can_manage, evaluator_required
from pooling.systems import SYSTEMS
from pooling.views.curve import history_curves
from pooling.views.page import page_of


@evaluator_required
def all_systems(request: HttpRequest) -> HttpResponse:
    rows = System.objects.select_related("graph", "run").order_by("graph__name", "id")
    return render(request, "pooling/system_all.html", {"page": page_of(request, rows)})


@evaluator_required
def systems(request: HttpRequest, name: str) -> HttpResponse:
    graph = get_object_or_404(Graph, name=name)
    form = TrainForm(request.POST or None)
    if request.method == "POST":
        if not can_manage(request.user):
            raise PermissionDenied
        if form.is_valid() and (started := _train(request, graph, form)) is not None:
            messages.success(request, started)
            return redirect("systems", name)
    rows = graph.systems.select_related("run").order_by("id")
    context = {
        "graph": graph,
        "page": page_of(request, rows),
        "form": form,
        "registry": SYSTEMS,
        "no_worker": not live_workers().exists(),
    }
    return render(request, "pooling/system_list.html", context)


def _train(request: HttpRequest, graph: Graph, form: TrainForm) -> str | None:
    """Make the systems and their jobs; None, with the reason at the form, if that is refused."""
    asked = form.cleaned_data
    try:
        made = create_systems(graph, asked["kinds"], asked["settings"], asked["seeds"], asked["device"])
        waiting = [system for system in made if system.state != SystemState.TRAINED]
        for system in waiting:
            start_job(JobKind.TRAIN, system=system, user=request.user)  # type: ignore[arg-type]  # signed in
    except UserError as error:
        form.add_error(None, str(error))
        return None
    if not waiting:
        return "All of these are trained already; nothing was started."
    return f"Training of {', '.join(system.name for system in waiting)} is queued."


@evaluator_required
def system(request: HttpRequest, name: str, system: str) -> HttpResponse:
    found = get_object_or_404(System.objects.select_related("graph"), graph__name=name, name=system)
    context = {
        "system": found,
        "spec": SYSTEMS.get(found.kind),
        "run": Run.objects.filter(system=found).first(),
        "curves": history_curves(found.history),
        "jobs": found.jobs.order_by("-id")[:5],
        "pools": found.pools.order_by("name"),
    }
    return render(request, "pooling/system_detail.html", context)
