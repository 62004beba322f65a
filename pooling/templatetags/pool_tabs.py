"""{% pool_tabs pool "growth" %}: tabs of the pages of a pool, below its stages."""

from typing import Any

from django import template
from django.urls import reverse

from pooling.models import Pool

register = template.Library()

# key, label, URL name
TABS = (
    ("triples", "Triples", "pool-triples"),
    ("seeds", "Seeds", "pool-seeds"),
    ("overlap", "Overlap", "pool-overlap"),
    ("growth", "Growth", "pool-growth"),
)


@register.inclusion_tag("partials/tabs.html")
def pool_tabs(pool: Pool, current: str) -> dict[str, Any]:
    tabs = [{"key": key, "label": label, "url": reverse(name, args=[pool.name])} for key, label, name in TABS]
    return {"tabs": tabs, "of": f"Pool {pool.name}", "current": current}
