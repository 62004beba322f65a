"""Texts and files as downloads."""

from collections.abc import Iterable
from pathlib import PurePath
from typing import TypeVar

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header

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
    return as_download(HttpResponse(text, content_type=_type_of(file_name)), file_name)


def csv_response(rows: Iterable[Iterable[object]], file_name: str) -> HttpResponse:
    """Return rows, the header first, as a CSV download in which no spreadsheet finds a formula."""
    return text_response(csv_of(rows), file_name)


def stream_response(
    pieces: Iterable[str] | Iterable[bytes], file_name: str, content_type: str = ""
) -> StreamingHttpResponse:
    """Return a download that is made piece by piece while it is sent; its type follows from the end of its name."""
    return as_download(StreamingHttpResponse(pieces, content_type=content_type or _type_of(file_name)), file_name)


def as_download(response: Response, file_name: str) -> Response:
    """Return the response with the header that has a browser save it as a file of this name."""
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=file_name) or ""
    return response


def _type_of(file_name: str) -> str:
    return _TYPES[PurePath(file_name).suffix]
