"""Downloads that can continue where they broke off (RFC 9110, section 14)."""

import re
from collections.abc import Iterator
from pathlib import Path

from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header, quote_etag

PIECE = 1 << 18  # bytes
_RANGE = re.compile(r"bytes=\s*([0-9]{0,18})\s*-\s*([0-9]{0,18})\s*", re.IGNORECASE)


def ranged_file(request: HttpRequest, path: Path, etag: str, filename: str) -> HttpResponseBase:
    """Return the whole file (200), the requested range of it (206), or a refusal of a range outside it (416).

    `etag`: the SHA-256 of the file. With If-Range a range counts only for the file with that tag. A request for several
    ranges, or not for bytes, gets the whole file, as the RFC allows.
    """
    size, quoted = path.stat().st_size, quote_etag(etag)
    if (unchanged := get_conditional_response(request, etag=quoted)) is not None:
        unchanged["ETag"] = quoted
        return unchanged
    wanted = _wanted(request, size) if request.headers.get("If-Range", quoted) == quoted else None
    if wanted is None:
        answer: HttpResponseBase = FileResponse(path.open("rb"))
    elif not wanted:
        answer = HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
    else:
        answer = StreamingHttpResponse(_piece(path, wanted), status=206)
        answer["Content-Range"] = f"bytes {wanted.start}-{wanted.stop - 1}/{size}"
        answer["Content-Length"] = str(len(wanted))
    answer["Accept-Ranges"] = "bytes"
    if answer.status_code != 416:
        answer["ETag"] = quoted
        answer["Content-Type"] = "application/zip"
        answer["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=filename) or ""
    return answer


def _wanted(request: HttpRequest, size: int) -> range | None:
    """Return the requested bytes; empty if the file has none of them, None if it is not a single range."""
    found = _RANGE.fullmatch(request.headers.get("Range", ""))
    if request.method != "GET" or found is None or not (found[1] or found[2]):
        return None
    if not found[1]:  # the last n bytes
        return range(max(0, size - int(found[2])), size)
    first, end = int(found[1]), int(found[2]) + 1 if found[2] else size
    return None if found[2] and end <= first else range(first, min(end, size))


def _piece(path: Path, wanted: range) -> Iterator[bytes]:
    left = len(wanted)
    with path.open("rb") as file:
        file.seek(wanted.start)
        while left and (piece := file.read(min(PIECE, left))):
            left -= len(piece)
            yield piece
