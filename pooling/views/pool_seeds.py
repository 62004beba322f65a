"""The page Seeds of a pool: the relations of its seeds compared with those of the test set."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from core.views.access import evaluator_required
from core.views.files import csv_response
from pooling.pools.kernels.shares import SMOOTHING
from pooling.pools.seeds import SeedReport, seed_report
from pooling.views.find import find_pool

SHOWN = 20  # relations in the chart
LONGEST_NAME = 28  # of a relation beside its bar; the whole name is in the table


@evaluator_required
def seeds(request: HttpRequest, name: str) -> HttpResponse:
    pool = find_pool(name)
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
    """Send the shares of every relation among seeds, test and graph."""
    pool = find_pool(name)
    head = ("relation", "seeds", "seeds_share", "test", "test_share", "difference", "graph", "graph_share")
    rows = [
        (r.relation, r.seeds, r.seeds_share, r.test, r.test_share, r.difference, r.whole, r.whole_share)
        for r in seed_report(pool).rows
    ]
    return csv_response([head, *rows], f"{pool.name}-seeds.csv")


def _chart(report: SeedReport) -> dict[str, Any]:
    """Return the chart of the relations whose shares differ most, as static/js/lib/charts.js draws it."""
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
