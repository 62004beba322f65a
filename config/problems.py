"""Show errors that no view handled: a damaged artifact, a full disk, a deleted object, missing consent."""

import logging
from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.errors import CampaignNotOpen, ConsentNeeded, TrainingNeeded
from core.errors import GoneError, UserError

logger = logging.getLogger(__name__)


class ShowUserErrors:
    """Show the message of a UserError that reached the top, with status 503, instead of a bare 500.

    A GoneError gets 404; ConsentNeeded leads to the text on personal data, TrainingNeeded to the training,
    CampaignNotOpen to the page that opens the campaign.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
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
