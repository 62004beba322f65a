"""Tags of charts.

{% drawn_chart chart key %}: a chart as SVG, half as wide with half=True; {% series_line place %}: the line of a system,
for a key.
"""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from core.charts.draw import chart_html
from core.charts.kept import Drawings
from core.charts.marks import dash, look
from pooling.systems.shown_names import shown_in_chart

register = template.Library()
_drawings = Drawings()


@register.simple_tag
def drawn_chart(chart: Mapping[str, Any], key: str, half: bool = False) -> SafeString:
    """Return the drawing of a chart (kind, label, data). A screen reader is told its label and that a table follows."""
    kind, data = chart["kind"], chart["data"]
    return format_html(
        '<div class="chart chart-{}" data-chart="{}" role="img" aria-label="{}; its table follows">{}</div>',
        kind,
        key,
        chart["label"],
        mark_safe(_drawings.get((kind, data, half), lambda: chart_html(kind, shown_in_chart(data), half))),
    )


@register.simple_tag
def series_line(place: int) -> SafeString:
    """Return a short line in colour and dashes of the system at this place, for keys outside charts."""
    series = {"system": place}
    return format_html(
        '<svg class="drawing" width="28" height="8" aria-hidden="true"><g class="mark {}">'
        '<path class="line"{} d="M0 4h28"/></g></svg>',
        look(series),
        mark_safe(dash(series)),
    )
