"""Own reports of a member, and what they were told."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from annotation.messages.flags import own_flags
from annotation.messages.inbox import NEW_FOR, reports_as_shown
from annotation.permissions import is_annotator
from annotation.views.find_campaign import find_campaign
from core.views.pagination import page_of


def own_messages(request: HttpRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool, is_annotator)
    user: User = request.user  # type: ignore[assignment]  # a member
    page = page_of(request, own_flags(user, campaign), 20)
    context = {
        "campaign": campaign,
        "page": page,
        "rows": reports_as_shown(campaign, page),
        "new_since": timezone.now() - NEW_FOR,
    }
    return render(request, "annotation/messages/message_list.html", context)
