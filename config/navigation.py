"""What each person is offered at the top of every page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

from annotation.enums import CampaignRole
from annotation.models import Membership
from core.people.permissions import can_evaluate, can_manage

# pages that belong to a link of the navigation: every URL name below it; to Pools all whose address begins so
_WITHIN = {
    "pools": ("pools", "test-set-import"),
    "graphs": ("graphs", "graph", "graph-delete"),
    "systems-all": ("systems-all", "systems", "system", "system-delete", "runs"),
    "people": ("people", "person", "person-erase", "audit"),
    "jobs": ("jobs", "job"),
}


@dataclass(frozen=True)
class Link:
    label: str
    url: str  # empty: no link, but the name of what the next ones belong to
    current: bool


def _links(request: HttpRequest) -> list[Link]:
    person = request.user
    if not person.is_authenticated:
        return []
    here = request.resolver_match.url_name if request.resolver_match else None

    def site(label: str, name: str) -> Link:
        url = reverse(name)
        below = name == "pools" and request.path.startswith(f"{url}/")
        return Link(label, url, below or here in _WITHIN.get(name, (name,)))

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
    for pool, role in Membership.objects.filter(person_id=person.pk).values_list("campaign__pool__name", "role"):
        roles.setdefault(pool, set()).add(role)
    if len(roles) > 1:  # those of the one campaign that the page belongs to; home lists all
        at = request.resolver_match.kwargs.get("pool") if request.resolver_match else None
        roles = {pool: given for pool, given in roles.items() if pool == at}
        links += [Link(pool, "", False) for pool in roles]
    for pool, given in roles.items():
        if CampaignRole.ADJUDICATOR in given:
            links.append(campaign("Adjudicate", "adjudicate", pool))
        links.append(campaign("Annotate", "annotate", pool))  # adjudicators may annotate too
        links.append(campaign("My labels", "my-labels", pool))
        links.append(campaign("Guidelines", "guidelines", pool))
    return links


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Lazy: a partial that shows no navigation asks the database nothing for it."""
    return {"navigation": SimpleLazyObject(lambda: _links(request)), "roles": SimpleLazyObject(lambda: _roles(request))}


def _roles(request: HttpRequest) -> dict[str, bool]:
    return {"manage": can_manage(request.user), "evaluate": can_evaluate(request.user)}
