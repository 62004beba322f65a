"""The page Notices of a manager: what happened, and whether a digest comes by mail."""

from datetime import timedelta

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.campaigns import notices as domain
from annotation.models import NoticeSettings
from core import clock
from core.views.access import SignedInRequest, manager_required, no_store

DIGEST_ON = "A digest comes by e-mail, once a day at most, if anything happened."
DIGEST_OFF = "No digest is sent any more."


@manager_required
@require_http_methods(["GET", "HEAD", "POST"])
def notices(request: SignedInRequest) -> HttpResponse:
    """Show the notices of the last days; to look at them is to have seen them. POST switches the digest."""
    own, now = domain.settings_of(request.user), clock.now()
    rows = NoticeSettings.objects.filter(pk=own.pk)
    if request.method == "POST":
        wanted = request.POST.get("digest") == "on"
        rows.update(digest=wanted)
        messages.success(request, DIGEST_ON if wanted else DIGEST_OFF)
        return redirect("notices")
    found = domain.notices(request.user, now - timedelta(days=domain.KEPT_DAYS), now)
    shown = [(notice, own.seen_at is None or notice.at > own.seen_at) for notice in found]
    rows.update(seen_at=now)
    context = {"notices": shown, "own": own, "sends": settings.EMAIL_IS_SET, "days": domain.KEPT_DAYS}
    return no_store(render(request, "annotation/people/notice_list.html", context))
