"""Knowledge graphs: what was imported, and what it looks like."""

from __future__ import annotations

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from core.views.access import evaluator_required
from core.views.pagination import page_of
from pooling.enums import Category
from pooling.graphs.imports import GraphError, open_graph
from pooling.graphs.kernels.degrees import Degrees, degrees
from pooling.models import Graph


@evaluator_required
def graphs(request: HttpRequest) -> HttpResponse:
    archived = request.GET.get("archived") == "yes"
    rows = Graph.objects.annotate(num_systems=Count("systems", distinct=True), num_pools=Count("pools", distinct=True))
    context = {
        "page": page_of(request, rows.filter(archived=archived).order_by("name")),
        "archived": archived,
        "frame": "graphs-archive" if archived else "graphs",
        "num_archived": Graph.objects.filter(archived=True).count(),
    }
    return render(request, "pooling/graphs/list.html", context)


@evaluator_required
def graph(request: HttpRequest, name: str) -> HttpResponse:
    graph = get_object_or_404(Graph, name=name)
    category = request.GET.get("category", "")
    relations = graph.relations.order_by("-num_test", "index")
    if category in Category.values:
        relations = relations.filter(category=category)
    if query := request.GET.get("q", "").strip():
        relations = relations.filter(key__icontains=query)
    context = {
        "graph": graph,
        "page": page_of(request, relations),
        "categories": Category.choices,
        "by_category": list(graph.relations.values("category").annotate(n=Count("id")).order_by("category")),
        "category": category,
        "query": query,
        "degrees": _degrees(graph),
        "pools": graph.pools.filter(archived=False).order_by("name"),
        "num_systems": graph.systems.count(),
    }
    return render(request, "pooling/graphs/detail.html", context)


def _degrees(graph: Graph) -> Degrees | None:
    """None where the files are not to be read: the page says so, and still shows what the rows know."""
    try:
        arrays = open_graph(graph)
    except GraphError:
        return None
    return degrees(arrays.train, graph.num_entities)
