"""The page Growth of a pool: its extensions so far, and for managers the forms that extend and freeze it."""

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from core.models import Job
from core.views.access import SignedInRequest, evaluator_required, manager_posts, manager_required
from core.views.acts import attempt, posted, tell_queued
from core.views.files import kept_file
from pooling.forms.pools import FreezeForm, GrowthForm
from pooling.models import Pool
from pooling.pools.build import freeze_pool
from pooling.pools.growth import extend_pool, why_it_stays
from pooling.pools.report import pool_counts
from pooling.pools.states import pool_states
from pooling.runs.lacking import lacking_runs
from pooling.views.find import find_pool
from pooling.views.pools import work_on


@evaluator_required
@manager_posts
def growth(request: SignedInRequest, name: str) -> HttpResponse:
    """Show what was added when; POST starts an extension (managers)."""
    pool = find_pool(name)
    form = GrowthForm(pool, posted(request), request.FILES or None)

    def extend(asked: dict[str, Any]) -> Job:
        with kept_file(asked.pop("seeds_file")) as path:
            return extend_pool(pool, seeds_file=path, user=request.user, **asked)

    if job := attempt(form, extend):
        tell_queued(request, f"Extending {pool.name} was queued as job {job.pk}.")
        return redirect("pool-growth", pool.name)
    return _page(request, pool, form, FreezeForm())


@manager_required
@require_POST
def freeze(request: SignedInRequest, name: str) -> HttpResponse:
    pool = find_pool(name)
    form = FreezeForm(request.POST)
    attempt(form, lambda _: freeze_pool(pool, request.user))
    if form.errors:
        return _page(request, pool, GrowthForm(pool), form)
    messages.success(request, f"{pool.name} is frozen.")
    return redirect("pool-growth", pool.name)


def _page(request: SignedInRequest, pool: Pool, form: GrowthForm, freezing: FreezeForm) -> HttpResponse:
    counts = pool_counts(pool)
    grown = [{**entry, "when": datetime.fromisoformat(entry["when"])} for entry in pool.growth]
    now = {"triples": counts["pooled"], "to_people": counts["to_people"]}
    context = {
        "pool": pool,
        "pool_states": pool_states([pool]),
        "counts": counts,
        "grown": grown,
        "first": {key: count - sum(entry[key] for entry in grown) for key, count in now.items()},
        "seeds_left": pool.graph.num_test - counts["seeds"],
        "lacking": lacking_runs(pool, request.user),
        "work": work_on(pool),
        "form": form,
        "freezing": freezing,
        "stays": why_it_stays(pool),
    }
    return render(request, "pooling/pools/growth.html", context)
