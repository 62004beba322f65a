"""The parts that pages are made of, each written once in templates/components/ (docs/contributing.md lists them).

Tags go around the content of the page: `{% card %}…{% endcard %}`. What else they are given becomes attributes of the
element: `data_test="x"` is written as data-test="x", True as an attribute without value, None and False as nothing.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django import template
from django.forms.utils import flatatt
from django.template import Context
from django.template.defaultfilters import date
from django.utils.safestring import SafeString
from django.utils.timezone import get_current_timezone_name

from core.jobs.queues import unserved
from core.jobs.registry import JOB_TYPES
from core.models import Job
from core.tables import labelled
from core.zones import short_name

register = template.Library()


def _written(context: Context, name: str, given: dict[str, Any], **values: Any) -> SafeString:
    """Return templates/components/<name>.html; of the page it sees only the token of its forms."""
    own = {"class": given.pop("class", ""), "csrf_token": context.get("csrf_token")}
    attributes = flatatt({key.replace("_", "-"): value for key, value in given.items()})
    inner = context.new({**values, **own, "attributes": attributes})
    assert context.template is not None  # a tag is rendered within a page
    return context.template.engine.get_template(f"components/{name}.html").render(inner)


@register.simple_block_tag(takes_context=True)
def card(context: Context, content: str, element: str = "div", **given: Any) -> SafeString:
    """Put content on a surface of its own; `element` is what it is: section, form, li."""
    return _written(context, "card", given, content=content, element=element)


@register.simple_block_tag(takes_context=True)
def form_row(context: Context, content: str, label: str = "", **given: Any) -> SafeString:
    """Put a control below its label; `for` is the control's id. A field of a form needs components/field.html only."""
    of, help_text = given.pop("for", ""), given.pop("help", "")
    return _written(context, "form_row", given, content=content, label=label, of=of, help=help_text)


@register.simple_block_tag(takes_context=True)
def pill(context: Context, content: str, state: str = "", element: str = "span", **given: Any) -> SafeString:
    """Show a state in a word: running, done, attention, failed, cancelled, positive, negative, or none of these."""
    return _written(context, "pill", given, content=content, state=state, element=element)


@register.simple_block_tag(takes_context=True)
def empty_state(context: Context, content: str, title: str = "", **given: Any) -> SafeString:
    """Say that there is nothing yet, and offer the step that changes it."""
    return _written(context, "empty_state", given, content=content, title=title)


@register.simple_block_tag(takes_context=True)
def chart_card(context: Context, content: str, title: str = "", note: str = "", **given: Any) -> SafeString:
    """Frame a drawn chart with its caption, downloads and table."""
    return _written(context, "chart_card", given, content=content, title=title, note=note)


@register.simple_block_tag(takes_context=True)
def table(context: Context, content: str, wrap: str = "", wrap_id: str = "", **given: Any) -> SafeString:
    """Return a table in a frame that scrolls; where it is narrow, a row of many cells is a block of lines.

    `wrap` is a class of the frame, and `wrap_id` its id. static/js/lib/tables.js lets people choose among many columns;
    their choice is kept for this page.
    """
    rows = labelled(content)
    given["class"] = f"{given.get('class', '')}{' table-stack' if rows.is_stacked else ''}".strip()
    page = getattr(context.get("request"), "resolver_match", None)
    columns = page.view_name if page and rows.has_chooser else ""
    return _written(context, "table", given, content=rows.html, wrap=wrap, wrap_id=wrap_id, columns=columns)


@register.simple_block_tag(takes_context=True)
def confirm(context: Context, content: str, act: str, **given: Any) -> SafeString:
    """Return the form of an act that cannot be undone: what follows, its red button, the way back."""
    values = {name: given.pop(name, "") for name in ("back", "keep", "button_test")}
    return _written(context, "confirm", given, content=content, act=act, **values)


@register.inclusion_tag("components/worker.html")
def worker_notice(*queues: str, jobs: Iterable[Job] = ()) -> dict[str, Any]:
    """Warn of each of these queues that no living worker serves; of `jobs`, the queues of those that wait."""
    waiting = {JOB_TYPES[job.kind].queue for job in jobs if job.is_queued}
    return {"unserved": unserved({*queues, *waiting})}


@register.filter(expects_localtime=True)
def moment(value: datetime | None, form: str = "j M Y, H:i") -> str:
    """Write a time in the zone of the page, and say which that is: 26 Nov 2026, 13:25 CET."""
    return f"{date(value, form)} {short_name(value)}" if value else ""


@register.simple_tag
def zone_name() -> str:
    """Return the zone of the page's times, for the head of a column: Europe/Berlin."""
    return get_current_timezone_name()


@register.filter
def after(value: object, word: str) -> str:
    """Write a value after a word, for attributes: `id=row.pk|after:"row-"`."""
    return f"{word}{value}"
