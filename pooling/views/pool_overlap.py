"""Who found the triples of a pool: each system, two together, one alone; families."""

from __future__ import annotations

from typing import Any

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from core.files.csv_cells import csv_of
from core.views.access import evaluator_required
from pooling.models import Pool
from pooling.pools.report import contents_version, overlap_report

KEPT_SECONDS = 600


@evaluator_required
def overlap(request: HttpRequest, name: str) -> HttpResponse:
    pool = get_object_or_404(Pool.objects.select_related("graph"), name=name)
    systems, families = _report(pool)
    context = {"pool": pool, "systems": systems, "families": families, "charts": _charts(systems) if systems else []}
    return render(request, "pooling/pools/overlap.html", context)


@evaluator_required
def overlap_csv(request: HttpRequest, name: str) -> HttpResponse:
    """One row a system: what it found, alone, and together with each."""
    pool = get_object_or_404(Pool, name=name)
    systems, _ = _report(pool)
    head = ["system", "found", "only_it", *(f"with_{row['name']}" for row in systems)]
    rows = [[row["name"], row["found"], row["only"], *row["shared"]] for row in systems]
    answer = HttpResponse(csv_of([head, *rows]), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{pool.name}-overlap.csv"'
    return answer


def _report(pool: Pool) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Rows of systems and families; kept, since it reads every finding. Empty for a pool without provenance."""
    key = f"overlap:{pool.pk}:{contents_version(pool)}"
    if (found := cache.get(key)) is None:
        found = overlap_report(pool)
        cache.set(key, found, KEPT_SECONDS)
    return found


def _charts(systems: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As static/js/lib/charts.js draws them: the share of each that each other found, and what only one found."""
    names = [row["name"] for row in systems]
    values = [[n / row["found"] if row["found"] else None for n in row["shared"]] for row in systems]
    alone = {"name": "found by no other", "x": names, "y": [row["only"] for row in systems]}
    return [
        {
            "key": "overlap",
            "kind": "matrix",
            "data": {"rows": names, "columns": names, "values": values, "range": [0, 1]},
        },
        {
            "key": "only-it",
            "kind": "bars",
            "data": {
                "series": [alone],
                "x": "triples that no other system found",
                "lying": True,
                "yaxis": {"type": "category", "autorange": "reversed"},
            },
        },
    ]
