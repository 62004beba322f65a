"""The tag {% campaign_tabs pool "people" %}: tabs of the pages of a campaign that the person may open."""

from typing import Any

from django import template
from django.template import Context
from django.urls import reverse

from core.people.roles import Right, has_right
from pooling.models import Pool

register = template.Library()

# key, label, URL name, right that it needs
TABS = (
    ("campaign", "Overview", "campaign", Right.EVALUATE),
    ("people", "People", "campaign-people", Right.MANAGE),
    ("rules", "Rules", "campaign-rules", Right.MANAGE),
    ("order", "Order", "campaign-order", Right.MANAGE),
    ("sources", "Sources", "campaign-sources", Right.MANAGE),
    ("guidelines", "Guidelines", "campaign-guidelines", Right.MANAGE),
    ("inbox", "Inbox", "inbox", Right.MANAGE),
    ("triples", "Triples", "campaign-triples", Right.MANAGE),
    ("quality", "Agreement", "quality", Right.EVALUATE),
    ("annotators", "Annotators", "annotators", Right.MANAGE),
    ("checks", "Checks", "checks", Right.MANAGE),
)


@register.inclusion_tag("partials/tabs.html", takes_context=True)
def campaign_tabs(context: Context, pool: Pool, current: str) -> dict[str, Any]:
    tabs = [
        {"key": key, "label": label, "url": reverse(name, args=[pool.name])}
        for key, label, name, right in TABS
        if has_right(context["request"].user, right)
    ]
    return {"tabs": tabs, "of": f"Campaign of {pool.name}", "current": current}
