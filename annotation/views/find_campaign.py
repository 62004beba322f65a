"""Find the campaign that an address names, for the person who asks, and show a page of it."""

from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from annotation.models import Campaign
from annotation.permissions import Person, check_may_work, visible_campaigns


def find_campaign(
    request: HttpRequest, pool: str, allowed: Callable[[Person, Campaign], bool] | None = None
) -> Campaign:
    """Return the campaign of a pool with its pool and graph.

    Raise Http404 if this person may not see it, PermissionDenied if they may not work in it by `allowed`, and
    ConsentNeeded if they have not agreed to its text on personal data (config/problems.py shows that text).
    """
    campaign = get_object_or_404(visible_campaigns(request.user), pool__name=pool)
    if allowed is not None:
        page = request.resolver_match and request.resolver_match.url_name
        check_may_work(request.user, campaign, allowed, page or "")
    return campaign


def campaign_page(
    request: HttpRequest, campaign: Campaign, template: str, context: Mapping[str, Any], status: int = 200
) -> HttpResponse:
    """Render a page of the campaign; its template gets `pool` and `campaign` beside the context."""
    return render(request, template, {"pool": campaign.pool, "campaign": campaign, **context}, status=status)
