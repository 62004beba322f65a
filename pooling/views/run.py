"""Runs: what the systems of a graph returned."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from pooling.models import Graph, Run
from pooling.permissions import evaluator_required
from pooling.views.page import page_of


@evaluator_required
def runs(request: HttpRequest, name: str) -> HttpResponse:
    graph = get_object_or_404(Graph, name=name)
    rows = Run.objects.filter(system__graph=graph).select_related("system").order_by("system_id")
    return render(request, "pooling/run_list.html", {"graph": graph, "page": page_of(request, rows)})
