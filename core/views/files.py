"""Files that pages send, whole, piece by piece or in ranges, and files that come with a form."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any, TypeVar

from django.core.files.uploadedfile import UploadedFile
from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header, quote_etag

from core.files.csv_cells import csv_of

_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".tsv": "text/tab-separated-values; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".gz": "application/gzip",
}
Response = TypeVar("Response", bound=HttpResponseBase)


def text_response(text: str, file_name: str) -> HttpResponse:
    """Return the text as a download; the content type follows from the end of the name, as in .csv or .json."""
    return as_download(HttpResponse(text, content_type=_TYPES[PurePath(file_name).suffix]), file_name)


def csv_response(rows: Iterable[Iterable[object]], file_name: str) -> HttpResponse:
    """Return rows, the header first, as a CSV download in which no spreadsheet finds a formula."""
    return text_response(csv_of(rows), file_name)


def stream_response(
    pieces: Iterable[str] | Iterable[bytes], file_name: str, content_type: str = ""
) -> StreamingHttpResponse:
    """Return a download that is made piece by piece while it is sent; its type follows from the end of its name."""
    content_type = content_type or _TYPES[PurePath(file_name).suffix]
    return as_download(StreamingHttpResponse(pieces, content_type=content_type), file_name)


def as_download(response: Response, file_name: str) -> Response:
    """Return the response with the header that has a browser save it as a file of this name."""
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=file_name) or ""
    return response


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
        return as_download(answer, filename)
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


@contextmanager
def kept_file(file: UploadedFile[Any] | None, name: str = "") -> Iterator[Path | None]:
    """Write an upload to a temporary file for the length of the block and give its path; None if nothing was sent.

    Without `name` it is called as the sender called it, since messages name it: the last part of that name.
    """
    if file is None:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (name or Path(str(file.name)).name or "file")
        path.write_bytes(file.read())
        yield path
