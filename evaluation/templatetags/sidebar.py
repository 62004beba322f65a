"""Draw the sidebar of a pool or a graph: {% sidebar %} in base.html."""

from typing import Any

from django import template
from django.template import Context

from annotation.models import Campaign
from config.pages import way_up
from config.sidebar import GRAPH, entries_of, pool_entries
from core.people.roles import can_evaluate
from pooling.models import Graph, Pool
from pooling.pools.filtering import has_campaign

register = template.Library()


@register.simple_tag(takes_context=True)
def sidebar(context: Context) -> dict[str, Any] | None:
    """Return what components/sidebar.html shows as `site_sidebar`: entries, and whose they are; None if it has none."""
    request = context.get("request")
    match = getattr(request, "resolver_match", None)
    page = str(context.get("frame") or (match.url_name if match else ""))
    if request is None or match is None or not can_evaluate(request.user):
        return None
    pool, graph = _subject(context, page)
    if graph is None:
        return None
    query = request.META.get("QUERY_STRING", "")
    here = (page or "", match.kwargs, query)
    is_open = pool is None or _is_open(context, pool)
    entries = pool_entries() if pool else GRAPH
    shown = entries_of(entries, request.user, *here, pool=pool, graph=graph, is_open=is_open)
    return {"entries": shown, "pool": pool, "graph": graph}


def _is_open(context: Context, pool: Pool) -> bool:
    """Return whether the campaign of a pool was opened: asked of the database only if the page doesn't know."""
    known = context.get("campaign")
    if isinstance(known, Campaign) and known.pool_id == pool.pk:
        return not known.is_preparing
    return pool.is_ready and has_campaign(pool)


def _subject(context: Context, page: str) -> tuple[Pool | None, Graph | None]:
    """Return the pool and the graph that a page is about: (None, graph) where it is about a graph alone."""
    above = set(way_up(page))
    pool, graph = context.get("pool"), context.get("graph")
    if isinstance(pool, Pool) and pool.pk and ("pool" in above or page == "papers"):
        return pool, pool.graph
    if "graph" not in above:
        return None, None
    found = graph if isinstance(graph, Graph) else getattr(context.get("system"), "graph", None)
    if found is None:
        return None, None
    asked = context["request"].GET.get("pool", "")
    return Pool.objects.filter(graph=found, name=asked).first() if asked else None, found
