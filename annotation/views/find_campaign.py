"""Find the campaign for the person who asks: invisible is 404, visible but not theirs to work in is 403.

Who may work in it but has not agreed to its text on personal data is sent there first (config/problems.py).
"""

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse

from annotation.errors import ConsentNeeded
from annotation.models import Campaign
from annotation.permissions import Person, has_consented, visible_campaigns


def find_campaign(
    request: HttpRequest, pool: str, allowed: Callable[[Person, Campaign], bool] | None = None
) -> Campaign:
    campaign = visible_campaigns(request.user).filter(pool__name=pool).first()
    if campaign is None:
        raise Http404
    if allowed is not None and not allowed(request.user, campaign):
        raise PermissionDenied
    if allowed is not None and not has_consented(request.user, campaign):
        raise ConsentNeeded(pool, (request.resolver_match and request.resolver_match.url_name) or "")
    return campaign


def link_to(request: HttpRequest, path: str) -> str:
    """The whole address of a page, to be handed to somebody; https where the site has it."""
    url = request.build_absolute_uri(path)
    # behind a proxy that ends TLS, the request itself came by http
    return url.replace("http://", "https://", 1) if settings.SESSION_COOKIE_SECURE else url


def no_store(response: HttpResponse) -> HttpResponse:
    """No copy is kept of a page that may show a secret once."""
    response["Cache-Control"] = "no-store"
    return response
