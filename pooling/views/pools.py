"""Pools: all of them, a new one, and the triples of one with where they came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from core.errors import UserError
from core.jobs.lifecycle import start_job
from core.views.access import evaluator_required, manager_required
from core.views.pagination import page_of
from core.views.uploads import kept_file
from pooling.enums import TO_PEOPLE, PoolingJob, SystemState
from pooling.forms.pools import PoolForm
from pooling.graphs.imports import open_graph
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.models import Graph, Pool, PooledTriple
from pooling.pools.build import Finding, create_pool, unpack_provenance
from pooling.pools.kernels.filters import FILTER_CHOICES, FILTERS, reason_label


@evaluator_required
def pools(request: HttpRequest) -> HttpResponse:
    archived = request.GET.get("archived") == "yes"
    rows = (
        Pool.objects.filter(archived=archived)
        .select_related("graph")
        .annotate(num_triples=Count("triples"), num_to_people=Count("triples", filter=Q(triples__reason=TO_PEOPLE)))
        .order_by("-created_at", "-id")
    )
    context = {
        "page": page_of(request, rows),
        "archived": archived,
        "frame": "pools-archive" if archived else "pools",
        "num_archived": Pool.objects.filter(archived=True).count(),
    }
    return render(request, "pooling/pools/list.html", context)


@manager_required
def new(request: HttpRequest) -> HttpResponse:
    """The form that builds a pool; the graph is chosen first, because the systems follow from it."""
    trained = Q(systems__state=SystemState.TRAINED)
    usable = Graph.objects.filter(archived=False)
    graphs = list(usable.annotate(trained=Count("systems", filter=trained)).order_by("name"))
    chosen = request.POST.get("graph") or request.GET.get("graph")
    ready = sorted(graphs, key=lambda graph: not graph.trained)  # with trained systems first
    graph = next((g for g in ready if g.name == chosen), None) if chosen else next(iter(ready), None)
    form = None
    if graph is not None:
        form = PoolForm(graph, request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid() and (pool := _build(request, graph, form)) is not None:
            messages.success(request, f"Building of {pool.name} is queued.")
            return redirect("pool", pool.name)
    return render(request, "pooling/pools/new.html", {"graphs": graphs, "graph": graph, "form": form})


def _build(request: HttpRequest, graph: Graph, form: PoolForm) -> Pool | None:
    """Make the pool and its job; None, with the reason at the form, if that is refused."""
    asked: dict[str, Any] = dict(form.cleaned_data)
    try:
        with kept_file(asked.pop("seeds_file")) as path:
            pool = create_pool(graph, seeds_file=path, **asked)
        start_job(PoolingJob.BUILD_POOL, pool=pool, user=request.user)  # type: ignore[arg-type]  # signed in
    except UserError as error:
        form.add_error(None, str(error))
        return None
    return pool


@dataclass(frozen=True)
class Row:
    """A pooled triple as people read it."""

    head: str
    relation: str
    tail: str
    depth: int
    reason: str
    found_by: list[Finding]


def readable(triples: list[PooledTriple], pool: Pool, graph: GraphArrays) -> list[Row]:
    return [
        Row(
            graph.label(triple.head),
            graph.relations[triple.relation],
            graph.label(triple.tail),
            triple.depth,
            reason_label(triple.reason),
            unpack_provenance(triple.provenance, pool.contributors),
        )
        for triple in triples
    ]


@evaluator_required
def triples(request: HttpRequest, name: str) -> HttpResponse:
    pool = get_object_or_404(Pool.objects.select_related("graph"), name=name)
    rows = pool.triples.order_by("id")
    reason = request.GET.get("reason", "")
    if reason == "people":
        rows = rows.filter(reason=TO_PEOPLE)
    elif reason == "filtered":
        rows = rows.exclude(reason=TO_PEOPLE)
    elif reason in FILTERS:
        rows = rows.filter(reason=reason)
    page = page_of(request, rows)
    context = {
        "pool": pool,
        "page": page,
        "rows": readable(list(page), pool, open_graph(pool.graph)) if page else [],
        "reason": reason,
        "reasons": [("people", "to people"), ("filtered", "filtered"), *FILTER_CHOICES],
    }
    return render(request, "pooling/pools/triples.html", context)
