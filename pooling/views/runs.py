"""Runs: what the systems of a graph returned; those made elsewhere come in here, and every run can be taken away."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from core.errors import UserError
from core.people.permissions import can_bring_runs
from core.views.access import evaluator_required
from core.views.pagination import page_of
from pooling.forms.runs import RunForm
from pooling.models import Graph, Run
from pooling.runs.export import whole_run
from pooling.runs.imports import Imported
from pooling.runs.trec_write import packed
from pooling.runs.upload import import_sent_run


@evaluator_required
def runs(request: HttpRequest, name: str) -> HttpResponse:
    """Every run of a graph. Who may evaluate brings runs of their own."""
    graph = get_object_or_404(Graph, name=name)
    form = RunForm(graph, request.POST or None, request.FILES or None)
    if request.method == "POST":
        if not can_bring_runs(request.user):
            raise PermissionDenied
        if form.is_valid() and (imported := _import(request, graph, form)) is not None:
            messages.success(request, " ".join([f"Imported {imported.system.name}.", *imported.notes]))
            return redirect("runs", name)
    rows = Run.objects.filter(system__graph=graph).select_related("system").order_by("system_id")
    context = {"graph": graph, "page": page_of(request, rows), "form": form}
    return render(request, "pooling/runs/list.html", context)


def _import(request: HttpRequest, graph: Graph, form: RunForm) -> Imported | None:
    """None, with the reason at the form, if the file is refused."""
    asked = form.cleaned_data
    try:
        return import_sent_run(
            graph,
            asked["file"],
            name=asked["name"],
            family=asked["family"],
            user=request.user,  # type: ignore[arg-type]
            pool=graph.pools.get(name=asked["pool"]) if asked["pool"] else None,
        )
    except UserError as error:
        form.add_error("file", str(error))
        return None


@require_safe
@evaluator_required
def run_file(request: HttpRequest, name: str, system: str) -> HttpResponseBase:
    """The whole run in TREC form; 409 where its files cannot be read."""
    run = get_object_or_404(Run.objects.select_related("system__graph"), system__graph__name=name, system__name=system)
    try:
        content = whole_run(run)
    except UserError as error:
        return render(request, "problem.html", {"problem": str(error)}, status=409)
    response = StreamingHttpResponse(packed(content), content_type="application/gzip")
    response["Content-Disposition"] = f'attachment; filename="{name}-{system}.txt.gz"'
    return response
