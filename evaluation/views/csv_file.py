"""A table as a CSV file whose name tells what is in it."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote_plus, urlencode

from django.http import HttpRequest, HttpResponse

from evaluation.sections.csv_text import csv_text

LONGEST_SLUG = 80  # characters of a file name that tell its settings


def csv_file(table: dict[str, Any], name: Sequence[str], query: str = "") -> HttpResponse:
    """`query`: the settings of the address that are not the usual ones; the name ends with them."""
    answer = HttpResponse(csv_text(table), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{"-".join(filter(None, [*name, _slug(query)]))}.csv"'
    return answer


def asked_for(request: HttpRequest) -> str:
    """What a search form was filled in with, as a query."""
    return urlencode([(name, value) for name in request.GET if (value := request.GET[name]).strip()])


def _slug(query: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", unquote_plus(query))[:LONGEST_SLUG].strip("-.")
