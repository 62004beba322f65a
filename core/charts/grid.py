"""Draw small multiples: one small plot for each panel, in rows, on the same axes.

Names and tick labels of the axes are written once: y at the first of each row, x below the last of each column.
"""

import math
from dataclasses import replace
from typing import Any

from core.charts.frame import BOTTOM, NAME, WIDE, Data, Drawing, Plot, plot, x_ticks
from core.charts.labels import shorten
from core.charts.lines import all_x, all_y, drawn_series
from core.charts.marks import line, look, text

HEAD, APART = 20.0, 20.0  # room of a panel's name; between two panels
ROOMS = 44.0, 30.0  # of a tick of x and y: a small plot has fewer pixels for the same number of them
IN_A_ROW, IN_A_NARROW_ROW = 3, 2


def grid(data: Data, width: float) -> Drawing:
    """Draw `panels`: [{name, series, measure | system}], all on axes that hold the values of every panel.

    x, y, yrange, xaxis, yaxis, possible: as of lines, for all panels.
    """
    panels = data["panels"]
    across, high = columns(len(panels), width), 128.0 if width == WIDE else 96.0
    every = {**data, "series": [one for panel in panels for one in panel["series"]]}
    whole = plot(every, all_x(every), all_y(every), width, high, 0.0, ROOMS)
    wide = (width - whole.left - 6 - APART * (across - 1)) / across
    first = plot(every, all_x(every), all_y(every), whole.left + wide, high, 0.0, ROOMS)
    down = HEAD + high + APART
    found = []
    if data.get("y"):
        found.append(text(0, 11, data["y"], kind="axis-name"))
    for i, panel in enumerate(panels):
        row, column = divmod(i, across)
        area = _moved(first, column * (wide + APART), row * down + HEAD)
        found.append(_panel(panel, area, every, is_first=column == 0, is_last=i + across >= len(panels)))
    bottom = first.top + (math.ceil(len(panels) / across) - 1) * down + HEAD + high
    if data.get("x"):
        found.append(text(width - 6, bottom + BOTTOM + 12, data["x"], "end", "axis-name"))
    return Drawing(width, bottom + BOTTOM + (NAME if data.get("x") else 0), "".join(found))


def columns(count: int, width: float) -> int:
    """Return how many panels a row has; four are two rows of two."""
    most = IN_A_ROW if width == WIDE else IN_A_NARROW_ROW
    return min(2 if count == 4 else most, max(count, 1))


def _moved(area: Plot, x: float, y: float) -> Plot:
    return Plot(
        replace(area.x, start=area.x.start + x, end=area.x.end + x),
        replace(area.y, start=area.y.start + y, end=area.y.end + y),
        *(area.left + x, area.top + y, area.right + x, area.bottom + y),
    )


def _panel(panel: dict[str, Any], area: Plot, every: Data, *, is_first: bool, is_last: bool) -> str:
    found = []
    for value, told in area.y.ticks:
        at = area.y.at(value)
        found.append(line(area.left, at, area.right, at, "grid zero" if value == 0 else "grid"))
        if is_first:
            found.append(text(area.left - 6, at + 4, told, "end", "tick"))
    for one in every.get("references", ()):
        if area.y.holds(one["y"]):
            found.append(line(area.left, area.y.at(one["y"]), area.right, area.y.at(one["y"]), "reference"))
    found.append(line(area.left, area.bottom, area.right, area.bottom, "axis"))
    if is_last:
        found.append(x_ticks(area, area.x.ticks, ends_inside=True))
    found.append(area.clipped(drawn_series(one, area, every).svg() for one in panel["series"]))
    name = shorten(panel["name"], area.right - area.left)
    head = text(area.left, area.top - 7, name, kind="head", whole=panel["name"])
    return f'{"".join(found)}<g class="mark {look(panel)}">{head}</g>'
