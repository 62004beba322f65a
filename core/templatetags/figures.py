"""Template filters that write numbers."""

import re
from typing import Any

from django import template
from django.template.defaultfilters import stringfilter
from django.utils.translation import gettext

from core.charts.scales import minus
from core.jobs.pace import pace_of

register = template.Library()


@register.filter
def duration(seconds: float | None) -> str:
    """Write a time as 45 s, 3 min 20 s, 2 h 05 min or 3 d 4 h."""
    if seconds is None:
        return gettext("unknown")
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


register.filter("pace", pace_of)


@register.filter
def seconds(milliseconds: int) -> str:
    """Write milliseconds as seconds with one decimal and no unit, for a column of times."""
    return f"{milliseconds / 1000:.1f}"


@register.filter
def places(value: float | None, digits: int) -> str:
    """Write a number with fixed decimals, so that a column lines up; a dash if there is none."""
    return "–" if value is None else minus(f"{value:.{digits}f}")


@register.filter
def signed(value: int) -> str:
    """Write a difference with its sign."""
    return minus(f"{value:+,}") if value else "0"


@register.filter
def share(part: float | None, whole: float | None) -> str:
    """Write a part of a whole as a percentage; a dash if the whole is 0 or None."""
    return f"{100 * part / whole:.1f}\u00a0%" if whole and part is not None else "–"


@register.filter(is_safe=True)
@stringfilter
def units(text: str) -> str:
    """Keep numbers and their %, and categories of relations (1-N), on one line."""
    return re.sub(r"\b([1N])-([1N])\b", "\\1\u2011\\2", text.replace(" %", "\u00a0%"))


@register.filter
def lookup(mapping: Any, key: Any) -> Any:
    """Return mapping[key], for a key that is a template variable."""
    return mapping.get(key)
