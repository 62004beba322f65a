"""The adjudication page: both answers side by side without names; its questions come through API v1."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import ensure_csrf_cookie

from annotation.permissions import is_adjudicator
from annotation.views.annotate import loop_context
from annotation.views.find_campaign import find_campaign


@ensure_csrf_cookie
def adjudicate(request: HttpRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool, is_adjudicator)
    context = loop_context(request, campaign, "adjudicator", claim="api-claim-disputed", submit="api-submit-decision")
    return render(request, "annotation/labelling/adjudicate_page.html", context)
