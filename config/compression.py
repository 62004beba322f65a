"""Compress pages, scripts and styles; files that people download go out as they are."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

COMPRESSED = ("text/html", "text/css", "text/javascript", "application/javascript", "image/svg+xml")


class CompressPages(GZipMiddleware):
    """Compress whole answers of these types that are shown, not saved.

    A part of a file (206) must stay as its range says, and an export must have the same bytes and a known length.
    Django adds random bytes to the header, so that the length of a page tells nothing of the tokens in it.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        kind = response.get("Content-Type", "").split(";")[0]
        if response.status_code != 200 or kind not in COMPRESSED or response.has_header("Content-Disposition"):
            return response
        compressed: HttpResponseBase = super().process_response(request, response)
        return compressed
