"""Text files as downloads."""

from collections.abc import Iterable
from pathlib import PurePath

from django.http import HttpResponse
from django.utils.http import content_disposition_header

from core.files.csv_cells import csv_of

_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".tsv": "text/tab-separated-values; charset=utf-8",
    ".json": "application/json",
}


def text_response(text: str, file_name: str) -> HttpResponse:
    """Return the text as a download; the content type follows from the end of the name (.csv, .tsv or .json)."""
    response = HttpResponse(text, content_type=_TYPES[PurePath(file_name).suffix])
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=file_name) or ""
    return response


def csv_response(rows: Iterable[Iterable[object]], file_name: str) -> HttpResponse:
    """Return rows, the header first, as a CSV download in which no spreadsheet finds a formula."""
    return text_response(csv_of(rows), file_name)
