"""Write tables of results: {% cell value kind %} is a cell, {% table_csv table %} the address of its CSV file."""

from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from evaluation.sections.cell_text import cell_text, is_number, spread_text, undefined_reasons
from evaluation.sections.figure_cache import is_of_earlier_form
from evaluation.sections.wording import basis
from pooling.systems.shown_names import shown_name, shown_names

register = template.Library()
register.filter("is_number", is_number)
register.filter("basis", basis)
register.filter("is_of_earlier_form", is_of_earlier_form)


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
    return mark_safe(_cell(value, kind))


def _cell(value: Any, kind: str) -> str:
    text = escape(_text(value, kind))
    if not isinstance(value, dict):
        return text
    if value.get("value") is None:
        return f'<span class="undefined" title="{escape(value.get("reason", ""))}">undefined</span>'
    if "label" in value:
        return f'<span title="{escape(value["value"])}">{text}</span>'
    more = spread_text(value, kind)
    return f'{text} <span class="muted">{escape(more)}</span>' if more else text


@register.simple_tag
def table_rows(table: dict[str, Any], not_comparable: Collection[str] = ()) -> SafeString:
    """Return the rows of a table; `not_comparable` names systems that are marked as such.

    A page has thousands of cells, and a template takes ten times as long for each.
    """
    kinds = [column["kind"] for column in table["columns"]]
    best = {(row, column) for row, column in table["best"]}
    found = []
    for r, row in enumerate(table["rows"]):
        found.append(f"<tr>{_row_head(row[0], kinds[0], not_comparable)}")
        for c, value in enumerate(row[1:], 1):
            classes = f"{'number' if is_number(kinds[c]) else ''}{' strong' if (r, c) in best else ''}"
            found.append(f'<td class="{classes}">{_cell(value, kinds[c])}</td>')
        found.append("</tr>")
    return mark_safe("".join(found))


def _row_head(value: Any, kind: str, not_comparable: Collection[str]) -> str:
    number = ' class="number"' if is_number(kind) else ""
    if kind != "system":
        return f'<th scope="row"{number}>{_cell(value, kind)}</th>'
    mark = ' <span class="not-comparable">not comparable</span>' if value in (not_comparable or ()) else ""
    return f'<th scope="row"{number} data-system="{escape(value)}">{_cell(value, kind)}{mark}</th>'


def _text(value: Any, kind: str) -> str:
    text = cell_text(value, kind)
    return shown_names(text) if kind in ("system", "systems") else text


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
def at(items: Any, place: int) -> Any:
    return items[place]
