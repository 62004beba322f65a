"""Tables of evaluation pages as CSV downloads whose names tell the settings."""

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import unquote_plus, urlencode

from django.http import HttpRequest, HttpResponse

from core.files.file_names import file_stem
from core.views.files import text_response
from evaluation.sections.csv_text import csv_text
from evaluation.sections.section import Table

LONGEST_SLUG = 80  # characters of a file name that tell its settings


def table_response(table: Table | dict[str, Any], name: Sequence[str], query: str = "") -> HttpResponse:
    """Return a table as a download; its name joins the parts of `name` and the settings of `query`."""
    slug = re.sub(r"[^A-Za-z0-9._]+", "-", unquote_plus(query))[:LONGEST_SLUG].strip("-.")
    content = csv_text(asdict(table) if isinstance(table, Table) else table)
    return text_response(content, "-".join(filter(None, [file_stem(*name), slug])) + ".csv")


def search_query(request: HttpRequest) -> str:
    """Return the fields of a search form that were filled in, as a query string."""
    return urlencode([(name, value) for name in request.GET if (value := request.GET[name]).strip()])
