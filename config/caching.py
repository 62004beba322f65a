"""Keep the site's answers out of caches between it and a browser."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase


class KeepPrivate:
    """Send `Cache-Control: private` with every answer that says nothing of caches itself.

    Nearly all depend on who asks. `Vary: Cookie` alone leaves it to a cache whether it looks. Static files are
    answered before.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "private")
        return response
