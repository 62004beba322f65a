"""Show errors that no view handled: a damaged artifact, a full disk, a deleted object, missing consent."""

import logging
from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.errors import CampaignNotOpen, ConsentNeeded, TrainingNeeded
from core.errors import GoneError, UserError

logger = logging.getLogger(__name__)


UNREADABLE = "The address holds a NUL character, which no text here has: open the page by a link."


def is_of_api(request: HttpRequest) -> bool:
    return request.path_info.startswith("/api/")


def told(request: HttpRequest, problem: str, status: int) -> HttpResponse:
    """Answer in words: a page, or JSON to a call of the API."""
    if is_of_api(request):
        return JsonResponse({"error": problem}, status=status)
    return render(request, "problem.html", {"problem": problem, "refused": status < 500}, status=status)


class ShowUserErrors:
    """Show the message of a UserError that reached the top, with status 503, instead of a bare 500.

    A GoneError gets 404; ConsentNeeded leads to the text on personal data, TrainingNeeded to the training,
    CampaignNotOpen to the page that opens the campaign.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            return told(request, UNREADABLE, 400)
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
