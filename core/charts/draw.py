"""Choose how a chart is drawn, and return the drawings with the places that scripts and styles know."""

from typing import Any

from core.charts import grid, maps, matrices, rows, slopes
from core.charts.frame import HALF, NARROW, WIDE, Data, Drawing
from core.charts.lines import lines
from core.charts.marks import esc, px

PANEL_HEIGHT = 170.0
ORDERED = ("category", "log")  # axes whose names have an order, so that lines between them say something


def chart_html(kind: str, data: Data, half: bool = False) -> str:
    """Return the drawings of a chart: a wide and a narrow one, or several small ones that wrap.

    A chart that stands beside another one has `half` of the page instead of its width.
    """
    if kind == "panels":
        return _several([(panel["name"], lines(panel, NARROW, PANEL_HEIGHT)) for panel in data["panels"]])
    if kind == "surfaces":
        return _several([("", drawing) for drawing in maps.maps(data)])
    large = (HALF, "half") if half else (WIDE, "wide")
    return "".join(_svg(drawing(kind, data, width), name) for width, name in (large, (NARROW, "narrow")))


def drawing(kind: str, data: Data, width: float) -> Drawing:
    """Draw a chart at one width."""
    if kind == "lines":
        return _of_series(data, width)
    if kind == "points":
        return rows.rows(data, width) if _has_names(data) else lines(_dotted(data), width)
    if kind == "bars":
        if data.get("lying"):
            return rows.rows(data, width, bars=True)
        ordered = data.get("xaxis", {}).get("type") == "category" or _is_numeric(data)
        return rows.columns(data, width) if ordered else rows.rows(data, width)
    found: dict[str, Any] = {
        "slope": slopes.places,
        "grid": grid.grid,
        "matrix": matrices.matrix,
        "box": rows.boxes,
        "winners": maps.winners,
    }
    drawn: Drawing = found[kind](data, width)
    return drawn


def _of_series(data: Data, width: float) -> Drawing:
    """Draw lines where x has an order: between two states as a slope, between names as rows of dots."""
    axis = data.get("xaxis", {})
    if axis.get("tickvals") is not None and len(axis["tickvals"]) == 2:
        return slopes.values(data, width)
    named = any(isinstance(x, str) for one in data["series"] for x in one["x"])
    return rows.rows(data, width) if named and axis.get("type") not in ORDERED else lines(data, width)


def _has_names(data: Data) -> bool:
    return data.get("xaxis", {}).get("tickvals") is not None or not _is_numeric(data)


def _is_numeric(data: Data) -> bool:
    return all(not isinstance(x, str) for one in data["series"] for x in one["x"])


def _dotted(data: Data) -> Data:
    return {**data, "series": [{**one, "marks": True} for one in data["series"]]}


def _svg(own: Drawing, name: str) -> str:
    size = f'width="{px(own.width)}" height="{px(own.height)}" viewBox="0 0 {px(own.width)} {px(own.height)}"'
    return f'<svg class="drawing {name}" {size} xmlns="http://www.w3.org/2000/svg">{own.body}</svg>'


def _several(panels: list[tuple[str, Drawing]]) -> str:
    found = []
    for name, own in panels:
        head = f'<text x="0" y="12" class="head">{esc(name)}</text>' if name else ""
        body = f'<g transform="translate(0 20)">{own.body}</g>' if name else own.body
        height = own.height + (20 if name else 0)
        found.append(_svg(Drawing(own.width, height, head + body), "panel"))
    return "".join(found)
