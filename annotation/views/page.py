"""Find the campaign for the person who asks: invisible is 404, visible but not theirs to work in is 403."""

from collections.abc import Callable

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from annotation.models import Campaign
from annotation.permissions import Person, visible_campaigns


def find_campaign(
    request: HttpRequest, pool: str, allowed: Callable[[Person, Campaign], bool] | None = None
) -> Campaign:
    campaign = visible_campaigns(request.user).filter(pool__name=pool).first()
    if campaign is None:
        raise Http404
    if allowed is not None and not allowed(request.user, campaign):
        raise PermissionDenied
    return campaign
