"""{% analysis_tabs pool "stability" %}: the evaluation pages of a pool; {% cell value kind %}: one of their numbers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evaluation.analyses.registry import ANALYSES
from pooling.models import Pool

register = template.Library()

MOST_NAMES, MOST_REASONS = 4, 8  # listed under a table before "and n more"
BEFORE = (("overview", "Overview", "evaluation"),)
AFTER = (
    ("questions", "Questions", "evaluation-questions"),
    ("triples", "Triples", "evaluation-triples"),
    ("labels", "Label sets", "evaluation-labels"),
    ("report", "Report", "evaluation-report"),
)


@register.inclusion_tag("partials/tabs.html")
def analysis_tabs(pool: Pool, current: str) -> dict[str, Any]:
    tabs = [{"key": key, "label": label, "url": reverse(name, args=[pool.name])} for key, label, name in BEFORE]
    tabs += [{"key": a.key, "label": a.tab, "url": reverse("analysis", args=[pool.name, a.key])} for a in ANALYSES]
    tabs += [{"key": key, "label": label, "url": reverse(name, args=[pool.name])} for key, label, name in AFTER]
    return {"tabs": tabs, "of": f"Evaluation of {pool.name}", "current": current}


def written(value: Any, kind: str) -> str:
    """A number of a section as pages and the report write it; "undefined" where it is."""
    if isinstance(value, dict):
        value = value.get("value")
    if value is None:
        return "undefined"
    if isinstance(value, str):
        return value
    if kind == "count":
        return f"{value:,.0f}".replace("-", "−")
    if kind == "share":
        return f"{100 * value:.1f} %".replace("-", "−")
    if kind == "p":
        return "< 0.0001" if value < 0.0001 else f"{value:.4f}"
    if kind == "change":
        return f"{value:+,.1f}".replace("-", "−") if abs(value) >= 10 else f"{value:+.4f}".replace("-", "−")
    if kind in ("tau", "sd"):
        return f"{value:.2f}".replace("-", "−")
    size = abs(value)
    return (f"{value:,.1f}" if size >= 10 else f"{value:.4f}").replace("-", "−")


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
    """A cell: its number, its spread or interval, and why it is undefined where it is."""
    text = written(value, kind)
    if not isinstance(value, dict):
        return format_html("{}", text)
    if value.get("value") is None:
        return format_html('<span class="undefined" title="{}">undefined</span>', value.get("reason", ""))
    more = ""
    if value.get("low") is not None and value.get("high") is not None:
        more = f"[{written(value['low'], kind)}, {written(value['high'], kind)}]"
    elif value.get("sd") is not None:
        more = f"± {written(value['sd'], kind)}"
    elif value.get("moved"):
        more = f"({'▲' if value['moved'] > 0 else '▼'} {abs(value['moved'])})"
    return format_html('{} <span class="muted">{}</span>', text, more) if more else format_html("{}", text)


@register.simple_tag
def why_undefined(table: Any) -> SafeString:
    """Under a table of a section (or a Table): why cells are undefined, for who cannot point at them or prints."""
    found = undefined_reasons(table if isinstance(table, dict) else asdict(table))
    return format_html('<p class="muted small">Undefined: {}.</p>', "; ".join(found)) if found else SafeString()


def undefined_reasons(table: dict[str, Any]) -> list[str]:
    """Each reason of undefined cells once: "Micro MR: the run did not return 12 of 40 answers (conve)".

    Before it stand the columns; after it the rows, by their first cell, unless all rows have it. Both are cut short.
    """
    columns = table["columns"]
    numbers = {column["label"] for column in columns[1:] if is_number(column["kind"])}
    first = columns[0]
    what = "" if first["kind"] in ("system", "measure") else f"{first['label']} "  # "0" alone says nothing
    # reason -> columns by label, rows by place
    where: dict[str, tuple[dict[str, None], dict[int, None]]] = {}
    for r, row in enumerate(table["rows"]):
        for column, value in zip(columns, row, strict=True):
            if isinstance(value, dict) and value.get("value") is None and value.get("reason"):
                labels, rows = where.setdefault(value["reason"].rstrip("."), ({}, {}))
                labels[column["label"]] = rows[r] = None
    found = []
    for reason, (labels, rows) in where.items():
        names = dict.fromkeys(written(table["rows"][r][0], first["kind"]) for r in rows)
        of = f" ({what}{_few(list(names))})" if len(rows) < len(table["rows"]) else ""
        named = "all columns" if len(numbers) > 1 and labels.keys() == numbers else _few(list(labels))
        found.append(f"{named}: {reason}{of}")
    more = len(found) - MOST_REASONS
    return [*found[:MOST_REASONS], f"and {more:,} more reasons"] if more > 1 else found


def _few(names: list[str]) -> str:
    between = " / " if any("," in name for name in names) else ", "  # "Micro MRR, disjoint" is one name
    if len(names) <= MOST_NAMES + 1:  # "and 1 more" is no shorter
        return between.join(names)
    return f"{between.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES:,} more"


@register.filter
def is_number(kind: str) -> bool:
    return kind not in ("text", "system", "measure")


@register.filter
def is_system(kind: str) -> bool:
    return kind == "system"


@register.filter
def at(items: Any, place: int) -> Any:
    return items[place]


@register.filter
def is_best(table: dict[str, Any], row: int) -> list[bool]:
    """For each column of a row: is it the best of its column?"""
    best = {column for r, column in table["best"] if r == row}
    return [column in best for column in range(len(table["columns"]))]
