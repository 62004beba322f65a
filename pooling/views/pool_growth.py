"""How a pool grew, and for managers what it may grow by; freezing it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from core.errors import UserError
from core.people.permissions import can_manage
from core.views.access import evaluator_required, manager_required
from core.views.uploads import kept_file
from pooling.forms.pool_growth import FreezeForm, GrowthForm
from pooling.models import Pool
from pooling.pools.build import freeze_pool, live_extensions
from pooling.pools.growth import extend_pool, why_it_stays
from pooling.pools.report import pool_counts


@evaluator_required
def growth(request: HttpRequest, name: str) -> HttpResponse:
    """GET shows what was added when; POST starts an extension (managers)."""
    pool = get_object_or_404(Pool.objects.select_related("graph"), name=name)
    asking = request.method == "POST"
    form = GrowthForm(pool, request.POST if asking else None, request.FILES if asking else None)
    if asking:
        if not can_manage(request.user):
            raise PermissionDenied
        if form.is_valid() and _extend(request, pool, form):
            return redirect("pool-growth", pool.name)
    return _page(request, pool, form, FreezeForm())


def _extend(request: HttpRequest, pool: Pool, form: GrowthForm) -> bool:
    """Start the extension; False, with the reason at the form, if that is refused."""
    asked: dict[str, Any] = dict(form.cleaned_data)
    try:
        with kept_file(asked.pop("seeds_file")) as path:
            job = extend_pool(pool, seeds_file=path, user=request.user, **asked)  # type: ignore[arg-type]  # signed in
    except UserError as error:
        form.add_error(None, str(error))
        return False
    messages.success(request, f"Extending {pool.name} is queued as job {job.pk}.")
    return True


@manager_required
@require_POST
def freeze(request: HttpRequest, name: str) -> HttpResponse:
    pool = get_object_or_404(Pool.objects.select_related("graph"), name=name)
    form = FreezeForm(request.POST)
    if not form.is_valid():
        return _page(request, pool, GrowthForm(pool), form)
    try:
        freeze_pool(pool, request.user)  # type: ignore[arg-type]  # signed in
    except UserError as error:
        form.add_error(None, str(error))
        return _page(request, pool, GrowthForm(pool), form)
    messages.success(request, f"{pool.name} is frozen.")
    return redirect("pool-growth", pool.name)


def _page(request: HttpRequest, pool: Pool, form: GrowthForm, freezing: FreezeForm) -> HttpResponse:
    counts = pool_counts(pool)
    grown = [{**entry, "when": datetime.fromisoformat(entry["when"])} for entry in pool.growth]
    context = {
        "pool": pool,
        "counts": counts,
        "grown": grown,
        "first": {
            key: counts[of] - sum(entry[key] for entry in grown)
            for key, of in (("triples", "pooled"), ("to_people", "to_people"))
        },
        "seeds_left": pool.graph.num_test - counts["seeds"],
        "jobs": list(live_extensions(pool)),
        "form": form,
        "freezing": freezing,
        "stays": why_it_stays(pool),
    }
    return render(request, "pooling/pools/growth.html", context)
