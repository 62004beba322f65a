"""The pages Graphs and Graph: the imported knowledge graphs, and the relations and degrees of one."""

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from core.views.access import evaluator_required
from core.views.pagination import archivable_page, page_of
from pooling.enums import Category
from pooling.graphs.kernels.degrees import Degrees, degrees
from pooling.graphs.opening import open_graph
from pooling.graphs.source_data import GraphError
from pooling.models import Graph
from pooling.views.find import find_graph


@evaluator_required
def graphs(request: HttpRequest) -> HttpResponse:
    published = Count("systems", filter=Q(systems__private=False), distinct=True)
    rows = Graph.objects.annotate(num_systems=published, num_pools=Count("pools", distinct=True))
    return render(request, "pooling/graphs/list.html", archivable_page(request, rows.order_by("name"), "graphs"))


@evaluator_required
def graph(request: HttpRequest, name: str) -> HttpResponse:
    graph = find_graph(name)
    category = request.GET.get("category", "")
    relations = graph.relations.order_by("-num_test", "index")
    if category in Category.values:
        relations = relations.filter(category=category)
    if query := request.GET.get("q", "").strip():
        relations = relations.filter(Q(key__icontains=query) | Q(label__icontains=query))
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
    """Return the degrees of its entities; None if its files cannot be read, which the page says."""
    try:
        arrays = open_graph(graph)
    except GraphError:
        return None
    return degrees(arrays.train, graph.num_entities)
