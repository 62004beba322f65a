"""The pages Pools, New pool, and Triples of a pool with the systems that found them."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from core.jobs.lifecycle import start_job
from core.views.access import SignedInRequest, evaluator_required, manager_required
from core.views.acts import attempt, posted
from core.views.files import kept_file
from core.views.pagination import archivable_page, page_of
from pooling.enums import TO_PEOPLE, PoolingJob, SystemState
from pooling.forms.pools import PoolForm
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool, PooledTriple
from pooling.pools.build import Finding, create_pool, unpack_provenance
from pooling.pools.kernels.filters import FILTER_CHOICES, FILTERS, reason_label
from pooling.views.find import find_pool


@evaluator_required
def pools(request: HttpRequest) -> HttpResponse:
    to_people = Count("triples", filter=Q(triples__reason=TO_PEOPLE))
    rows = Pool.objects.select_related("graph").annotate(num_triples=Count("triples"), num_to_people=to_people)
    listed = archivable_page(request, rows.order_by("-created_at", "-id"), "pools")
    return render(request, "pooling/pools/list.html", listed)


@manager_required
def new(request: SignedInRequest) -> HttpResponse:
    """Show the form that builds a pool; the graph is chosen first, because the systems follow from it."""
    trained = Q(systems__state=SystemState.TRAINED)
    usable = Graph.objects.filter(archived=False)
    graphs = list(usable.annotate(trained=Count("systems", filter=trained)).order_by("name"))
    chosen = request.POST.get("graph") or request.GET.get("graph")
    ready = sorted(graphs, key=lambda graph: not graph.trained)  # with trained systems first
    graph = next((g for g in ready if g.name == chosen), None) if chosen else next(iter(ready), None)
    form = None
    if graph is not None:
        form = PoolForm(graph, posted(request), request.FILES or None)
        if pool := attempt(form, partial(_build, graph, request.user)):
            messages.success(request, f"Building of {pool.name} is queued.")
            return redirect("pool", pool.name)
    return render(request, "pooling/pools/new.html", {"graphs": graphs, "graph": graph, "form": form})


def _build(graph: Graph, user: User, asked: dict[str, Any]) -> Pool:
    """Make the pool and start the job that builds it."""
    with kept_file(asked.pop("seeds_file")) as path:
        pool = create_pool(graph, seeds_file=path, **asked)
    start_job(PoolingJob.BUILD_POOL, pool=pool, user=user)
    return pool


@dataclass(frozen=True)
class TripleRow:
    """A pooled triple by the names of its entities and relation."""

    head: str
    relation: str
    tail: str
    depth: int
    reason: str
    found_by: list[Finding]


def readable(triples: list[PooledTriple], pool: Pool, graph: GraphArrays) -> list[TripleRow]:
    """Return pooled triples by their names, each with the systems that found it."""
    return [
        TripleRow(
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
    pool = find_pool(name)
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
