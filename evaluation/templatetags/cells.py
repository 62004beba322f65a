"""Write tables of results: {% cell value kind %} is a cell, {% table_csv table %} the address of its CSV file."""

from dataclasses import asdict
from typing import Any

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evaluation.sections.cell_text import cell_text, is_number, spread_text, undefined_reasons
from pooling.systems.shown_names import shown_name

register = template.Library()
register.filter("is_number", is_number)


@register.simple_tag(takes_context=True)
def table_csv(context: Context, table: Any) -> str:
    """Return the address of a table's CSV file on the page where it is shown, with the settings of that page."""
    if context.get("is_world"):
        url = reverse("open-world-csv", args=[table["key"]])
    elif study := context.get("study"):
        url = reverse("open-world-study-csv", args=[study.name, table["key"]])
    else:
        url = reverse("analysis-csv", args=[context["pool"].name, context["analysis"].key, table["key"]])
    return f"{url}?{context['query']}" if context.get("query") else url


@register.simple_tag
def cell(value: Any, kind: str) -> SafeString:
    """Return a cell as HTML: its number with its spread or interval, its label, or why it is undefined."""
    text = _text(value, kind)
    if not isinstance(value, dict):
        return format_html("{}", text)
    if value.get("value") is None:
        return format_html('<span class="undefined" title="{}">undefined</span>', value.get("reason", ""))
    if "label" in value:
        return format_html('<span title="{}">{}</span>', value["value"], text)
    more = spread_text(value, kind)
    return format_html('{} <span class="muted">{}</span>', text, more) if more else format_html("{}", text)


def _text(value: Any, kind: str) -> str:
    text = cell_text(value, kind)
    return shown_name(text) if kind == "system" else text


@register.filter
def heading(table: Any, column: Any) -> str:
    """Return the heading of a column; in a matrix of systems, that of a system as the literature names it."""
    first, rows = table["columns"][0], table["rows"]
    of_system = first["kind"] == "system" and any(row[0] == column["label"] for row in rows)
    return shown_name(column["label"]) if of_system else column["label"]


@register.simple_tag
def why_undefined(table: Any) -> SafeString:
    """Return a line under a table that says why cells are undefined: on a phone or on paper nobody can point at one."""
    found = undefined_reasons(table if isinstance(table, dict) else asdict(table))
    return format_html('<p class="muted small">Undefined: {}.</p>', "; ".join(found)) if found else SafeString()


@register.filter
def is_system(kind: str) -> bool:
    return kind == "system"


@register.filter
def at(items: Any, place: int) -> Any:
    return items[place]


@register.filter
def is_best(table: dict[str, Any], row: int) -> list[bool]:
    """Return for each column whether this row has its best value."""
    best = {column for r, column in table["best"] if r == row}
    return [column in best for column in range(len(table["columns"]))]
