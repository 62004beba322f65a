"""The time zone of every page: that of the person, or the site's. What is not a page stays in UTC.

Django's own TIME_ZONE is UTC, so commands, workers, logs, mails and calls of the API know no other; files write theirs.
"""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from core.people.time_zones import zone_of
from core.zones import zone


class TellTime:
    """Show the times of a page in the zone of whoever asks."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith("/api/"):
            return self.get_response(request)
        with timezone.override(zone(zone_of(request.user))):
            return self.get_response(request)
