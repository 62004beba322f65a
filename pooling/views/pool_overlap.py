"""The page Overlap of a pool: which systems found its triples, alone, in pairs and by family."""

from typing import Any

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from core.views.access import evaluator_required
from core.views.files import csv_response
from pooling.models import Pool
from pooling.pools.report import contents_version, overlap_report
from pooling.views.find import find_pool

KEPT_SECONDS = 600


@evaluator_required
def overlap(request: HttpRequest, name: str) -> HttpResponse:
    pool = find_pool(name)
    systems, families = _report(pool)
    context = {"pool": pool, "systems": systems, "families": families, "charts": _charts(systems) if systems else []}
    return render(request, "pooling/pools/overlap.html", context)


@evaluator_required
def overlap_csv(request: HttpRequest, name: str) -> HttpResponse:
    """Send one row for each system: what it found, alone, and together with each other."""
    pool = find_pool(name)
    systems, _ = _report(pool)
    head = ["system", "found", "only_it", *(f"with_{row['name']}" for row in systems)]
    rows = [[row["name"], row["found"], row["only"], *row["shared"]] for row in systems]
    return csv_response([head, *rows], f"{pool.name}-overlap.csv")


def _report(pool: Pool) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return rows of systems and families, cached; both are empty for a pool without provenance."""
    key = f"overlap:{pool.pk}:{contents_version(pool)}"
    if (found := cache.get(key)) is None:
        found = overlap_report(pool)
        cache.set(key, found, KEPT_SECONDS)
    return found


def _charts(systems: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the charts of shared and of lone findings, as static/js/lib/charts.js draws them."""
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
