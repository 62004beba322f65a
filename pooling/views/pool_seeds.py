"""The seeds of a pool: how the mixture of their relations compares with that of the test set."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from core.files.csv_cells import csv_of
from core.views.access import evaluator_required
from pooling.models import Pool
from pooling.pools.kernels.shares import SMOOTHING
from pooling.pools.seeds import SeedReport, seed_report

SHOWN = 20  # relations in the chart
LONGEST_NAME = 28  # of a relation beside its bar; the whole name is in the table


@evaluator_required
def seeds(request: HttpRequest, name: str) -> HttpResponse:
    pool = get_object_or_404(Pool.objects.select_related("graph"), name=name)
    report = seed_report(pool)
    context = {
        "pool": pool,
        "report": report,
        "smoothing": SMOOTHING,
        "charts": [_chart(report)] if report.rows else [],
        "shown": min(SHOWN, len(report.rows)),
    }
    return render(request, "pooling/pools/seeds.html", context)


@evaluator_required
def seeds_csv(request: HttpRequest, name: str) -> HttpResponse:
    """The shares of every relation that the seeds or test have."""
    pool = get_object_or_404(Pool.objects.select_related("graph"), name=name)
    head = ("relation", "seeds", "seeds_share", "test", "test_share", "difference", "graph", "graph_share")
    rows = [
        (r.relation, r.seeds, r.seeds_share, r.test, r.test_share, r.difference, r.whole, r.whole_share)
        for r in seed_report(pool).rows
    ]
    answer = HttpResponse(csv_of([head, *rows]), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{pool.name}-seeds.csv"'
    return answer


def _chart(report: SeedReport) -> dict[str, Any]:
    """The relations whose share differs most, as static/js/lib/charts.js draws them."""
    rows = report.rows[:SHOWN]
    names = [row.relation for row in rows]
    short = [name if len(name) <= LONGEST_NAME else f"…{name[1 - LONGEST_NAME :]}" for name in names]
    series = [
        {"name": "test", "colour": "--control", "x": names, "y": [100 * row.test_share for row in rows]},
        {"name": "seeds", "colour": "--accent", "x": names, "y": [100 * row.seeds_share for row in rows]},
    ]
    yaxis = {"type": "category", "tickvals": names, "ticktext": short, "autorange": "reversed"}
    return {
        "key": "seed-shares",
        "kind": "bars",
        "data": {"series": series, "x": "% of the triples", "lying": True, "yaxis": yaxis},
    }
