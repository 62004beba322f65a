"""The guidelines of a campaign, for all who may see it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.views.page import find_campaign


def guidelines(request: HttpRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool)
    return render(request, "annotation/guidelines_page.html", {"campaign": campaign})
