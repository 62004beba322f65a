"""The page Filter of a pool: what each filter took, with examples; managers try other filters and use them."""

from typing import Any

from django.contrib import messages
from django.core.cache import cache
from django.http import HttpResponse
from django.shortcuts import redirect, render

from core.errors import UserError
from core.jobs.lifecycle import start_job
from core.people.roles import can_manage
from core.views.access import SignedInRequest, evaluator_required, manager_posts
from pooling.enums import TO_PEOPLE, PoolingJob
from pooling.forms.pools import FilterForm
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from pooling.pools.filtering import filter_counts, left_out, refilter_pool, why_filters_stay, why_types_idle
from pooling.pools.kernels.filters import ALWAYS, FILTERS
from pooling.pools.report import pool_counts
from pooling.views.find import find_pool
from pooling.views.pools import readable, work_on

EXAMPLES = 5
CACHED_SECONDS = 600
MOST_TRIPLES = 100_000  # are filtered anew within two seconds; more are a job


@evaluator_required
@manager_posts
def filter_page(request: SignedInRequest, name: str) -> HttpResponse:
    """Show the filters, and with ?preview those that are tried; POST uses them (managers)."""
    pool = find_pool(name)
    changing = request.method == "POST"
    trying = "preview" in request.GET and can_manage(request.user)
    asked = request.POST if changing else request.GET if trying else None
    form = FilterForm(asked, initial={"filters": pool.filters})
    counts = pool_counts(pool)
    stays, is_large = why_filters_stay(pool), counts["pooled"] > MOST_TRIPLES
    if changing and not stays and form.is_valid():
        filters = form.cleaned_data["filters"]
        if is_large:
            job = start_job(PoolingJob.FILTER_POOL, pool=pool, params={"filters": filters}, user=request.user)
            return redirect("job", job.pk)
        try:
            changed = refilter_pool(pool, filters, request.user)
        except UserError as error:
            stays = str(error)
        else:
            messages.success(request, f"{pool.name} is filtered anew: {changed:,} triples changed their reason.")
            return redirect("pool-filter", pool.name)
    people = list(pool.triples.filter(reason=TO_PEOPLE).order_by("id")[:EXAMPLES])
    context = {
        "pool": pool,
        "work": work_on(pool),
        "counts": counts,
        "reasons": _reasons(pool, counts["by_reason"]),
        "always": _always(pool) if counts["pooled"] else [],
        "people": readable(people, pool, open_graph(pool.graph)) if people else [],
        "form": form,
        "stays": stays,
        "refused": changing,
        "is_large": is_large,
        "preview": _preview(pool, form, counts) if asked is not None and not stays and not is_large else None,
    }
    return render(request, "pooling/pools/filter.html", context)


def _reasons(pool: Pool, by_reason: dict[str, int]) -> list[dict[str, Any]]:
    """Return an entry for each filter of the registry: how many triples it took, with examples."""
    found = []
    for name, rule in FILTERS.items():
        count = by_reason.get(name, 0)
        examples = list(pool.triples.filter(reason=name).order_by("id")[:EXAMPLES]) if count else []
        rows = readable(examples, pool, open_graph(pool.graph)) if examples else []
        idle = why_types_idle(open_graph(pool.graph), [name])
        found.append({"rule": rule, "applied": name in pool.filters, "count": count, "examples": rows, "idle": idle})
    return found


def _always(pool: Pool) -> list[dict[str, Any]]:
    """Return what is always excluded, and how often; cached, since it reads the whole graph."""
    key = f"left-out:{pool.pk}:{pool.state}:{len(pool.growth)}"
    found: Any = cache.get_or_set(key, lambda: left_out(pool), CACHED_SECONDS)
    return [{"rule": ALWAYS[name], "count": count} for name, count in found._asdict().items()]


def _preview(pool: Pool, form: FilterForm, counts: dict[str, Any]) -> dict[str, Any] | None:
    """Return what each filter took and what it would take; None if the form is not valid."""
    if not form.is_valid():
        return None
    chosen = form.cleaned_data["filters"]
    would = filter_counts(pool, chosen)
    shown = [rule for rule in FILTERS.values() if rule.name in pool.filters or rule.name in chosen]
    took, people = counts["by_reason"], would.pop("")
    now = {name: took.get(name, 0) for name in pool.filters}
    rows = [(rule.label, now.get(rule.name), would.get(rule.name)) for rule in shown]
    same = chosen == pool.filters
    return {"filters": chosen, "same": same, "rows": rows, "filtered": sum(would.values()), "people": people}
