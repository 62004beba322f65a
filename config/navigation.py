"""The links at the top of every page, for each person by their roles."""

from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise, SimpleLazyObject
from django.utils.translation import gettext_lazy as _

from annotation.enums import CampaignState
from annotation.models import Membership
from config.pages import way_up
from core.people.roles import RIGHTS, Right, has_right

# label, URL name, right that it needs, name of the count that stands beside it
SITE = (
    (_("Home"), "home", None, ""),
    (_("Pools"), "pools", Right.EVALUATE, ""),
    (_("Graphs"), "graphs", Right.EVALUATE, ""),
    (_("People"), "people", Right.MANAGE, ""),
    (_("Jobs"), "jobs", Right.EVALUATE, "jobs"),
)
# label, URL name, right that it needs in the campaign
CAMPAIGN = (
    (_("Adjudicate"), "adjudicate", Right.ADJUDICATE),
    (_("Annotate"), "annotate", Right.ANNOTATE),
    (_("My labels"), "my-labels", Right.ANNOTATE),
    (_("Guidelines"), "guidelines", Right.ANNOTATE),
)


class Link(NamedTuple):
    label: str | Promise
    url: str  # empty: no link, but the name of the campaign that the next ones belong to
    current: bool
    counted: str = ""  # name of the count beside it


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Return the context of every page. It is lazy: a partial without navigation makes no query for it."""

    def roles() -> dict[str, bool]:
        return {right.name.lower(): has_right(request.user, right) for right in (Right.MANAGE, Right.EVALUATE)}

    return {"navigation": SimpleLazyObject(lambda: _links(request)), "roles": SimpleLazyObject(roles)}


def _links(request: HttpRequest) -> list[Link]:
    person = request.user
    if not isinstance(person, User):
        return []
    here = _top(request)
    links = []
    for label, name, right, count in SITE:
        if right is None or has_right(person, right):
            links.append(Link(label, reverse(name), here == name, count))
    if not has_right(person, Right.EVALUATE):  # people who see what systems proposed never label
        links += _campaign_links(request, person)
    return [*links, Link(_("Help"), reverse("help"), here == "help")]


def _top(request: HttpRequest) -> str:
    """Return the page of config/pages.py below which the page of a request lies, or itself."""
    page = request.resolver_match.url_name if request.resolver_match else None
    return ([*way_up(page or "")] or [""])[-1]


def rights_by_pool(person: User) -> dict[str, set[Right]]:
    """Map the pool of each opened campaign of a person to what they may do there."""
    rights: dict[str, set[Right]] = {}
    mine = Membership.objects.filter(person=person).exclude(campaign__state=CampaignState.PREPARING)
    for pool, role in mine.values_list("campaign__pool__name", "role"):
        rights.setdefault(pool, set()).update(RIGHTS[role])
    return rights


def _campaign_links(request: HttpRequest, person: User) -> list[Link]:
    rights = rights_by_pool(person)
    links = []
    if len(rights) > 1:  # those of the one campaign that the page belongs to; home lists all
        at = request.resolver_match.kwargs.get("pool") if request.resolver_match else None
        rights = {pool: given for pool, given in rights.items() if pool == at}
        links += [Link(pool, "", False) for pool in rights]
    for pool, given in rights.items():
        for label, name, right in CAMPAIGN:
            if right in given:
                url = reverse(name, args=[pool])
                links.append(Link(label, url, request.path == url))
    return links
