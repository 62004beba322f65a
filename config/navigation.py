"""What each person is offered at the top of every page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

from annotation.enums import CampaignRole
from annotation.models import Membership
from pooling.permissions import can_evaluate, can_manage

# pages that belong to a link of the navigation: every URL name below it
_WITHIN = {
    "graphs": ("graphs", "graph"),
    "systems-all": ("systems-all", "systems", "system", "runs"),
    "pools": (
        "pools",
        "pool",
        "pool-new",
        "pool-triples",
        "pool-filter",
        "pool-questions",
        "evaluation",
        "export",
    ),
    "people": ("people", "campaign"),
    "jobs": ("jobs", "job"),
}


@dataclass(frozen=True)
class Link:
    label: str
    url: str
    current: bool


def _links(request: HttpRequest) -> list[Link]:
    person = request.user
    if not person.is_authenticated:
        return []
    here = request.resolver_match.url_name if request.resolver_match else None

    def site(label: str, name: str) -> Link:
        return Link(label, reverse(name), here in _WITHIN.get(name, (name,)))

    def campaign(label: str, name: str, pool: str) -> Link:
        url = reverse(name, args=[pool])
        return Link(label, url, request.path == url)

    links = [site("Home", "home")]
    if can_evaluate(person):
        links += [site("Pools", "pools"), site("Graphs", "graphs"), site("Systems", "systems-all")]
    if can_manage(person):
        links += [site("People", "people"), site("Jobs", "jobs")]
    if can_evaluate(person):
        return links  # who sees what systems proposed never labels
    roles: dict[str, set[str]] = {}
    for pool, role in Membership.objects.filter(person_id=person.pk).values_list(
        "campaign__pool__name", "role"
    ):
        roles.setdefault(pool, set()).add(role)
    for pool in sorted(roles):
        of = f" {pool}" if len(roles) > 1 else ""
        if CampaignRole.ADJUDICATOR in roles[pool]:
            links.append(campaign(f"Adjudicate{of}", "adjudicate", pool))
        links.append(campaign(f"Annotate{of}", "annotate", pool))  # adjudicators may annotate too
        links.append(campaign(f"My labels{of}", "my-labels", pool))
        links.append(campaign(f"Guidelines{of}", "guidelines", pool))
    return links


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Lazy: a partial that shows no navigation asks the database nothing for it."""
    return {
        "navigation": SimpleLazyObject(lambda: _links(request)),
        "roles": SimpleLazyObject(lambda: _roles(request)),
    }


def _roles(request: HttpRequest) -> dict[str, bool]:
    return {"manage": can_manage(request.user), "evaluate": can_evaluate(request.user)}
