"""Papers: their list, and the page of each for one pool."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from core.views.access import evaluator_required
from evaluation.pages.registry import PAPERS
from pooling.models import Pool
from pooling.views.find import find_pool

SAME = {"000": "001"}  # the longer version of the same paper


@evaluator_required
def papers(request: HttpRequest) -> HttpResponse:
    """List the papers, with the page of each for the chosen pool (?pool)."""
    return render(request, "evaluation/papers.html", _context(request))


@evaluator_required
def paper(request: HttpRequest, number: str) -> HttpResponse:
    """Lead to the page of a paper for the chosen pool, or for the newest that has judgements."""
    key = f"paper-{SAME.get(number, number)}"
    if key not in {one.key for one in PAPERS}:
        raise Http404(f"There is no paper {number!r}.")
    context = _context(request)
    if context["pool"] is None:
        return render(request, "evaluation/papers.html", context)
    return redirect("analysis", context["pool"].name, key)


def _context(request: HttpRequest) -> dict[str, Any]:
    pools = Pool.objects.filter(archived=False).order_by("-created_at", "-pk")
    asked = request.GET.get("pool", "")
    judged = pools.filter(judgements__isnull=False).first()
    return {
        "frame": "papers",
        "papers": PAPERS,
        "pools": [pool.name for pool in pools],
        "pool": find_pool(asked) if asked else judged or pools.first(),
    }
