"""Find the campaign that an address names, for the person who asks, and show a page of it."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.campaigns.lifecycle import campaign_to_prepare, prepare_campaign
from annotation.errors import CampaignNotOpen
from annotation.models import Campaign
from annotation.permissions import check_may_work, visible_campaigns
from core.people.roles import Right, can_evaluate, can_manage
from pooling.models import Pool
from pooling.views.find import find_pool


def find_campaign(
    request: HttpRequest, pool: str, right: Right | None = None, *, before_opening: bool = False
) -> Campaign:
    """Return the campaign of a pool with its pool and graph.

    With `before_opening`, managers get the campaign in preparation of a pool that has no open one. Their first change
    makes it; until then, pages and previews (?part=) show one that is not saved.

    Raise Http404 if this person may not see it, PermissionDenied if they lack `right`. Other errors
    lead to another page (config/problems.py): ConsentNeeded if they have not agreed to the text on personal data, and
    CampaignNotOpen if a manager or researcher asks for a page of a pool without an open campaign.
    """
    campaign = visible_campaigns(request.user).filter(pool__name=pool).first()
    if campaign is None:
        if before_opening and can_manage(request.user):
            changes = request.method == "POST" and "part" not in request.GET
            return (prepare_campaign if changes else campaign_to_prepare)(find_pool(pool))
        if can_evaluate(request.user) and Pool.objects.filter(name=pool).exists():
            raise CampaignNotOpen(pool)
        raise Http404
    if right is not None:
        page = request.resolver_match and request.resolver_match.url_name
        check_may_work(request.user, campaign, right, page or "")
    return campaign


def campaign_page(
    request: HttpRequest, campaign: Campaign, template: str, context: Mapping[str, Any], status: int = 200
) -> HttpResponse:
    """Render a page of the campaign; its template gets `pool` and `campaign` beside the context."""
    return render(request, template, {"pool": campaign.pool, "campaign": campaign, **context}, status=status)
