"""Show errors that no view handled: a damaged artifact, a full disk, a deleted object, missing consent."""

import logging
import sys
from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.template import loader
from django.urls import reverse
from django.utils import translation
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext_lazy as _
from django.views import defaults

from annotation.errors import CampaignNotOpen, ConsentNeeded, TrainingNeeded
from core.database import is_away
from core.errors import GoneError, UserError

logger = logging.getLogger(__name__)


UNREADABLE = _("The address holds a NUL character, which no text here has: open the page by a link.")


def is_of_api(request: HttpRequest) -> bool:
    return request.path_info.startswith("/api/")


def refuse_nul(request: HttpRequest) -> HttpResponse:
    """Answer an address with NUL in words: a page, or JSON to a call of the API."""
    if is_of_api(request):
        return JsonResponse({"error": str(UNREADABLE)}, status=400)
    return render(request, "problem.html", {"problem": UNREADABLE, "refused": True}, status=400)


AWAY = _("The database does not answer at the moment, perhaps because it is restarted. Nothing that was saved is lost.")
FAILED = _("The server failed. What was saved before is safe. Try again; if it fails again, tell a manager.")
NOTHING = _("There is nothing here that you can see.")
CANNOT_BE_READ = _("This request cannot be read.")
FORBIDDEN = _("Your role may not do this.")
TRY_AGAIN = 10  # seconds


def failed(request: HttpRequest) -> HttpResponse:
    """Answer a request on which the server failed: 503 while the database is away, else 500. It asks no database."""
    away = is_away(sys.exc_info()[1])
    status = 503 if away else 500
    language = settings.LANGUAGE_CODE if is_of_api(request) else translation.get_language_from_request(request)
    with translation.override(language):
        response: HttpResponse = (
            JsonResponse({"error": str(AWAY if away else FAILED)})
            if is_of_api(request)
            else HttpResponse(loader.render_to_string(f"{status}.html"))
        )
    response.status_code = status
    if away:
        response["Retry-After"] = str(TRY_AGAIN)
        add_never_cache_headers(response)
    return response


def _page(view: Callable[..., HttpResponseBase], request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Answer by a page of Django's, which must not read the body for a CSRF token: that may be what failed."""
    request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]
    return view(request, exception)


def unreadable(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Answer 400 as JSON to calls of the API, as a page to others."""
    if is_of_api(request):
        return JsonResponse({"error": str(CANNOT_BE_READ)}, status=400)
    with translation.override(translation.get_language_from_request(request)):
        return HttpResponseBadRequest(loader.render_to_string("400.html"))  # nobody may be known yet


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Answer 403 as JSON to calls of the API, as a page to others."""
    if is_of_api(request):
        return JsonResponse({"error": str(exception) or str(FORBIDDEN)}, status=403)
    return _page(defaults.permission_denied, request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Answer 404 as JSON to calls of the API, as a page to others."""
    if is_of_api(request):
        return JsonResponse({"error": str(NOTHING)}, status=404)
    return _page(defaults.page_not_found, request, exception)


class ShowUserErrors:
    """Show the message of a UserError that reached the top, with status 503, instead of a bare 500.

    A GoneError gets 404; ConsentNeeded leads to the text on personal data, TrainingNeeded to the training,
    CampaignNotOpen to the page that opens the campaign.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            return refuse_nul(request)
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if isinstance(error, ConsentNeeded):
            return redirect(reverse("consent", args=[error.pool], query={"to": error.wanted}))
        if isinstance(error, TrainingNeeded):
            return redirect("campaign-training", error.pool)
        if isinstance(error, CampaignNotOpen):
            messages.info(request, f"The campaign of {error.pool} is not open yet. Open it first.")
            return redirect("campaign", error.pool)
        if isinstance(error, GoneError):
            return render(request, "problem.html", {"gone": True, "problem": str(error)}, status=404)
        if not isinstance(error, UserError):
            return None
        logger.error("%s: %s", request.path, error)
        return render(request, "problem.html", {"problem": str(error)}, status=503)
