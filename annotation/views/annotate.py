"""The annotation page: a frame whose questions come and go through API v1."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.csrf import ensure_csrf_cookie

from annotation.enums import FlagKind
from annotation.messages.guidelines import current_guidelines, render_markdown
from annotation.models import Campaign
from annotation.permissions import is_annotator
from annotation.views.find_campaign import find_campaign

# the page replaces this id in an address by that of a label
_ANY_LABEL = "00000000-0000-0000-0000-000000000000"


def loop_context(request: HttpRequest, campaign: Campaign, role: str, claim: str, submit: str) -> dict[str, Any]:
    """Return the context of the annotation or adjudication page; `config` is for its script."""
    pool = campaign.pool.name
    guidelines = current_guidelines(campaign)
    config = {
        "person": request.user.pk,
        "pool": pool,
        "role": role,
        "evidence_rule": campaign.evidence_rule,
        "guidelines_version": guidelines.version if guidelines else None,
        "urls": {
            "claim": reverse(claim, args=[pool]),
            "submit": reverse(submit),
            "change": reverse("api-change", args=[_ANY_LABEL]).replace(_ANY_LABEL, "{label}"),
            "renew": reverse("api-renew"),
            "release": reverse("api-release"),
            "progress": reverse("api-progress", args=[pool]),
            "flag": reverse("api-flag"),
            "give_back": reverse("api-return"),
            "messages": reverse("messages", args=[pool]),
            "guidelines": reverse("guidelines", args=[pool]),
            "login": f"{reverse('login')}?next={request.path}",
        },
    }
    return {
        "campaign": campaign,
        "config": config,
        "guidelines_html": render_markdown(guidelines.text if guidelines else ""),
        "flag_kinds": FlagKind.choices,
        "contact": campaign.contact.get_username() if campaign.contact else "a manager",
    }


@ensure_csrf_cookie
def annotate(request: HttpRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool, is_annotator)
    context = loop_context(request, campaign, "annotator", claim="api-claim", submit="api-submit")
    return render(request, "annotation/labelling/annotate_page.html", context)
