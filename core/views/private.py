"""Pages and links that only one person should see."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse


def no_store(response: HttpResponse) -> HttpResponse:
    """Let no browser or proxy keep a copy of the response."""
    response["Cache-Control"] = "no-store"
    return response


def link_to(request: HttpRequest, path: str) -> str:
    """Return the full address of a page, to hand to somebody; https if the site has it."""
    url = request.build_absolute_uri(path)
    # behind a proxy that ends TLS, the request itself came by http
    return url.replace("http://", "https://", 1) if settings.SESSION_COOKIE_SECURE else url
