"""The annotation page: a frame; its questions come and go through API v1."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.csrf import ensure_csrf_cookie

from annotation.models import Campaign
from annotation.permissions import is_annotator
from annotation.views.page import find_campaign

# stands in an address for the id that the page puts there
_ANY_LABEL = "00000000-0000-0000-0000-000000000000"


def loop_config(request: HttpRequest, campaign: Campaign, claim: str, submit: str) -> dict[str, Any]:
    """What the page's script is told."""
    return {
        "person": request.user.pk,
        "pool": campaign.pool.name,
        "lease_seconds": campaign.lease_minutes * 60,
        "evidence_rule": campaign.evidence_rule,
        "sources": list(campaign.sources.values("name", "host")),
        "urls": {
            "claim": reverse(claim, args=[campaign.pool.name]),
            "submit": reverse(submit),
            "change": reverse("api-change", args=[_ANY_LABEL]).replace(_ANY_LABEL, "{label}"),
            "renew": reverse("api-renew"),
            "release": reverse("api-release"),
            "login": f"{reverse('login')}?next={request.path}",
        },
    }


@ensure_csrf_cookie
def annotate(request: HttpRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool, is_annotator)
    config = loop_config(request, campaign, "api-claim", "api-submit")
    return render(request, "annotation/annotate_page.html", {"campaign": campaign, "config": config})
