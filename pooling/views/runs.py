"""The page Runs of a graph: what its systems returned; runs made elsewhere are uploaded there, and each is a file."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from core.people.roles import Right
from core.views.access import SignedInRequest, evaluator_required, page_refusal, right_required
from core.views.acts import attempt, posted
from core.views.files import stream_response
from core.views.pagination import page_of
from pooling.forms.runs import RunForm
from pooling.models import Run
from pooling.runs.adapters.registry import ADAPTERS
from pooling.runs.export import PARQUET_TYPE, parquet_pieces, whole_run
from pooling.runs.imports import Imported, import_sent_run
from pooling.runs.trec_write import packed
from pooling.views.find import find_graph


@evaluator_required
@right_required(Right.BRING_RUNS, "POST")
def runs(request: SignedInRequest, name: str) -> HttpResponse:
    """Show every run of a graph; POST brings one from elsewhere."""
    graph = find_graph(name)
    form = RunForm(graph, posted(request), request.FILES or None)

    def bring(asked: dict[str, Any]) -> Imported:
        pool = graph.pools.get(name=asked["pool"]) if asked["pool"] else None
        options = {name: asked[name] for name in ("name", "family", "form", "scores_decide")}
        return import_sent_run(graph, asked["file"], **options, user=request.user, pool=pool)

    if imported := attempt(form, bring, "file"):
        messages.success(request, " ".join([f"Imported {imported.system.name}.", *imported.notes]))
        return redirect("runs", name)
    rows = Run.objects.filter(system__graph=graph).select_related("system").order_by("system_id")
    content = {"graph": graph, "page": page_of(request, rows), "form": form, "adapters": ADAPTERS.values()}
    return render(request, "pooling/runs/list.html", content)


@require_safe
@evaluator_required
@page_refusal
def run_file(request: HttpRequest, name: str, system: str) -> StreamingHttpResponse:
    """Send the whole run in TREC form."""
    run = get_object_or_404(Run.objects.select_related("system__graph"), system__graph__name=name, system__name=system)
    return stream_response(packed(whole_run(run)), f"{name}-{system}.txt.gz")


@require_safe
@evaluator_required
@page_refusal
def run_parquet(request: HttpRequest, name: str, system: str) -> StreamingHttpResponse:
    """Send the whole run as Parquet."""
    run = get_object_or_404(Run.objects.select_related("system__graph"), system__graph__name=name, system__name=system)
    return stream_response(parquet_pieces(run), f"{name}-{system}.parquet", PARQUET_TYPE)
