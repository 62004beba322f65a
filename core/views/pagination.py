"""Split long lists into pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest


def page_of(request: HttpRequest, rows: QuerySet[Any] | Sequence[Any], size: int = 50) -> Page[Any]:
    """Return the page that ?page= asks for; the nearest one if there is no such page."""
    return Paginator(rows, size).get_page(request.GET.get("page"))
