"""Split long lists into pages."""

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest


def page_of(request: HttpRequest, rows: QuerySet[Any] | Sequence[Any], size: int = 50) -> Page[Any]:
    """Return the page that ?page= asks for; the nearest one if there is no such page."""
    return Paginator(rows, size).get_page(request.GET.get("page"))


def archivable_page(request: HttpRequest, rows: QuerySet[Any], frame: str) -> dict[str, Any]:
    """Return the page of a list, of its archived rows with ?archived=yes, their number, and the frame around it."""
    archived = request.GET.get("archived") == "yes"
    return {
        "page": page_of(request, rows.filter(archived=archived)),
        "archived": archived,
        "frame": f"{frame}-archive" if archived else frame,
        "num_archived": rows.filter(archived=True).count(),
    }
