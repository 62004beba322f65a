"""{% campaign_tabs pool "people" %}: the pages of a campaign, below the stages of its pool."""

from __future__ import annotations

from typing import Any

from django import template
from django.template import Context
from django.urls import reverse

from pooling.models import Pool

register = template.Library()

# key, label, URL name; a row is there as soon as its page is
TABS = (
    ("campaign", "Overview", "campaign"),
    ("people", "People", "campaign-people"),
    ("rules", "Rules", "campaign-rules"),
    ("order", "Order", "campaign-order"),
    ("sources", "Sources", "campaign-sources"),
    ("guidelines", "Guidelines", "campaign-guidelines"),
    ("inbox", "Inbox", "inbox"),
    ("triples", "Triples", "campaign-triples"),
    ("quality", "Agreement", "quality"),
    ("annotators", "Annotators", "annotators"),
    ("checks", "Checks", "checks"),
)


FOR_RESEARCHERS = ("campaign", "quality")  # the others are a manager's


@register.inclusion_tag("partials/tabs.html", takes_context=True)
def campaign_tabs(context: Context, pool: Pool, current: str) -> dict[str, Any]:
    tabs = [
        {"key": key, "label": label, "url": reverse(name, args=[pool.name])}
        for key, label, name in TABS
        if key in FOR_RESEARCHERS or context["roles"]["manage"]
    ]
    return {"tabs": tabs, "of": f"Campaign of {pool.name}", "current": current}
