"""A member's own reports, with the answers to them."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from annotation.messages.flags import own_flags
from annotation.messages.inbox import NEW_FOR, reports_as_shown
from annotation.permissions import is_annotator
from annotation.views.find_campaign import find_campaign
from core.views.access import SignedInRequest
from core.views.pagination import page_of


def own_messages(request: SignedInRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool, is_annotator)
    page = page_of(request, own_flags(request.user, campaign), 20)
    context = {
        "campaign": campaign,
        "page": page,
        "rows": reports_as_shown(campaign, page),
        "new_since": timezone.now() - NEW_FOR,
    }
    return render(request, "annotation/messages/message_list.html", context)
