"""The disputes that an adjudicator may decide, and what the later ones wait for."""

from django.http import HttpResponse
from django.shortcuts import render

from annotation.labelling.disputes import blocked_disputes, describe_disputes, disputes_in_hand, open_disputes
from annotation.messages.inbox import reports_as_shown
from annotation.permissions import is_adjudicator
from annotation.views.find_campaign import find_campaign
from core.views.access import SignedInRequest
from core.views.pagination import page_of


def disputes(request: SignedInRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool, is_adjudicator)
    held = list(disputes_in_hand(campaign, request.user))
    page = page_of(request, open_disputes(campaign, request.user))
    rows = describe_disputes(campaign, [*held, *page])
    waiting = blocked_disputes(campaign, request.user)
    context = {
        "campaign": campaign,
        "page": page,
        "held": rows[: len(held)],
        "rows": rows[len(held) :],
        "later": waiting,
        "parked": reports_as_shown(campaign, waiting.parked),
    }
    return render(request, "annotation/labelling/dispute_list.html", context)
