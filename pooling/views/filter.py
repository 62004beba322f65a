"""The filter of a pool: what it took, for which reason, with examples."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from pooling.domain.graph import open_graph
from pooling.domain.pool import pool_counts
from pooling.enums import FilterReason
from pooling.kernels.filters import FILTERS
from pooling.models import Pool
from pooling.permissions import evaluator_required
from pooling.views.pool import readable

EXAMPLES = 5


@evaluator_required
def filter_page(request: HttpRequest, name: str) -> HttpResponse:
    pool = get_object_or_404(Pool.objects.select_related("graph"), name=name)
    counts = pool_counts(pool)
    reasons = []
    for rule in FILTERS.values():
        count = counts["by_reason"].get(rule.name, 0)
        examples = list(pool.triples.filter(reason=rule.name).order_by("id")[:EXAMPLES]) if count else []
        reasons.append(
            {
                "rule": rule,
                "applied": rule.name in pool.filters,
                "count": count,
                "examples": readable(examples, pool, open_graph(pool.graph)) if examples else [],
            }
        )
    people = list(pool.triples.filter(reason=FilterReason.NONE).order_by("id")[:EXAMPLES])
    context = {
        "pool": pool,
        "counts": counts,
        "reasons": reasons,
        "people": readable(people, pool, open_graph(pool.graph)) if people else [],
    }
    return render(request, "pooling/filter_detail.html", context)
