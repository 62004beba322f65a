"""How numbers are written on pages: one way each."""

from __future__ import annotations

from typing import Any

from django import template

register = template.Library()


@register.filter
def duration(seconds: float | None) -> str:
    """45 s, 3 min 20 s, 2 h 05 min, 3 d 4 h."""
    if seconds is None:
        return "unknown"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


@register.filter
def seconds(milliseconds: int) -> str:
    """One decimal, without the unit: for a column of times."""
    return f"{milliseconds / 1000:.1f}"


@register.filter
def places(value: float | None, digits: int) -> str:
    """A fixed number of decimals, so that a column lines up; a dash where there is no value."""
    return "–" if value is None else f"{value:.{digits}f}"


@register.filter
def share(part: float | None, whole: float | None) -> str:
    """A part as a percentage; a dash where the whole is nothing."""
    return f"{100 * part / whole:.1f} %" if whole and part is not None else "–"


@register.filter
def lookup(mapping: Any, key: Any) -> Any:
    """mapping[key], for a key that only the template knows."""
    return mapping.get(key)
