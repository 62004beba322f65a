"""The pages on which people label and decide, whose questions come and go through API v1; the list of disputes."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.csrf import ensure_csrf_cookie

from annotation.enums import FlagKind
from annotation.labelling.disputes import blocked_disputes, describe_disputes, disputes_in_hand, open_disputes
from annotation.messages.flags import reports_as_shown
from annotation.messages.guidelines import current_guidelines, render_markdown
from annotation.models import Campaign
from annotation.permissions import is_adjudicator, is_annotator
from annotation.views.find_campaign import find_campaign
from core.views.access import SignedInRequest
from core.views.pagination import page_of

_ANY_LABEL = "00000000-0000-0000-0000-000000000000"  # the page puts the id of a label in its place


def _context(request: HttpRequest, campaign: Campaign, role: str, claim: str, submit: str) -> dict[str, Any]:
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
    context = _context(request, campaign, "annotator", claim="api-claim", submit="api-submit")
    return render(request, "annotation/labelling/annotate_page.html", context)


@ensure_csrf_cookie
def adjudicate(request: HttpRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool, is_adjudicator)
    context = _context(request, campaign, "adjudicator", claim="api-claim-disputed", submit="api-submit-decision")
    return render(request, "annotation/labelling/adjudicate_page.html", context)


def disputes(request: SignedInRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool, is_adjudicator)
    held = list(disputes_in_hand(campaign, request.user))
    page = page_of(request, open_disputes(campaign, request.user))
    rows = describe_disputes(campaign, [*held, *page])
    later = blocked_disputes(campaign, request.user)
    context = {"campaign": campaign, "page": page, "held": rows[: len(held)], "rows": rows[len(held) :], "later": later}
    parked = reports_as_shown(campaign, later.parked)
    return render(request, "annotation/labelling/dispute_list.html", {**context, "parked": parked})
