"""Draw what is around the marks: sheet, axes with names, reference lines, a key of names."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from core.charts.labels import shorten, width_of
from core.charts.marks import Series, dash, line, look, px, symbol, symbols, text
from core.charts.scales import Scale, scale_of

WIDE, HALF, NARROW = 760.0, 480.0, 320.0
SMALL_TEXT = 11.0
KEY_LINE = 18.0
TOP, BOTTOM = 22.0, 22.0  # room of the y axis' name; of the tick labels
NAME = 18.0  # room of the x axis' name
Data = dict[str, Any]


@dataclass(frozen=True)
class Drawing:
    """Hold one finished drawing."""

    width: float
    height: float
    body: str


@dataclass(frozen=True)
class Plot:
    """Hold the area of the marks and its scales."""

    x: Scale
    y: Scale
    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        return self.bottom - self.top

    def clipped(self, body: Iterable[str]) -> str:
        """Return marks inside the area only. A nested svg clips without the id that a clipPath needs."""
        x, y, wide, high = self.left - 5, self.top - 5, self.right - self.left + 10, self.height + 10
        view = f"{px(x)} {px(y)} {px(wide)} {px(high)}"
        size = f'x="{px(x)}" y="{px(y)}" width="{px(wide)}" height="{px(high)}"'
        return f'<svg {size} viewBox="{view}" class="clip">{"".join(body)}</svg>'


def plot(
    data: Data,
    xs: Sequence[Any],
    ys: Sequence[Any],
    width: float,
    height: float,
    right: float,
    rooms: tuple[float, float] = (64, 44),
) -> Plot:
    """Return the area of a chart: `height` is that of the marks, `right` the room that labels need beside it.

    rooms: the pixels that a tick of x, and one of y, needs.
    """
    y_axis = {**data.get("yaxis", {}), **({"range": data["yrange"]} if data.get("yrange") else {})}
    top = TOP if data.get("y") else 8.0
    y = scale_of(ys, y_axis, top + height, top, rooms[1])
    left = max((width_of(t, SMALL_TEXT) for _, t in y.ticks), default=0) + 10
    x = scale_of(xs, {"tight": True, **data.get("xaxis", {})}, left, width - right, rooms[0])
    return Plot(x, y, left, top, width - right, top + height)


def axes(area: Plot, data: Data) -> str:
    """Return grid, tick labels and names of both axes."""
    found = []
    for value, told in area.y.ticks:
        at = area.y.at(value)
        kind = "grid zero" if value == 0 else "grid"
        found.append(line(area.left, at, area.right, at, kind))
        found.append(text(area.left - 6, at + 4, told, "end", "tick"))
    found.append(line(area.left, area.bottom, area.right, area.bottom, "axis"))
    found.append(x_ticks(area, area.x.ticks))
    if data.get("y"):
        found.append(text(0, 11, data["y"], kind="axis-name"))
    if data.get("x"):
        found.append(text(area.right, area.bottom + BOTTOM + 12, data["x"], "end", "axis-name"))
    return "".join(found)


def x_ticks(area: Plot, ticks: Sequence[tuple[float, str]], *, ends_inside: bool = False) -> str:
    """Return the tick labels under an area; of those that would touch, the later one is left out.

    `ends_inside`: no label is beyond the right edge, where another area begins.
    """
    found, free = [], -1e9
    for value, told in sorted(ticks, key=lambda tick: area.x.at(tick[0])):
        at, wide = area.x.at(value), width_of(told, SMALL_TEXT)
        middle = min(at, area.right - wide / 2) if ends_inside else at
        if middle - wide / 2 < free:
            continue
        free = middle + wide / 2 + 6
        found.append(line(at, area.bottom, at, area.bottom + 4, "axis"))
        found.append(text(middle, area.bottom + 16, told, "middle", "tick"))
    return "".join(found)


def height_of(area: Plot, data: Data) -> float:
    """Return the height of the sheet: area, tick labels, name of the x axis."""
    return area.bottom + BOTTOM + (NAME if data.get("x") else 0)


def references(area: Plot, data: Data) -> str:
    """Return the reference lines, each with its name at the left above it."""
    found = []
    for one in data.get("references", ()):
        if area.y.holds(one["y"]):
            at = area.y.at(one["y"])
            found.append(line(area.left, at, area.right, at, "reference"))
            found.append(text(area.left + 4, at - 4, one["name"], kind="tick"))
    return "".join(found)


def key(series: Sequence[Series], width: float, kind: str = "line", x: float = 0.0) -> tuple[str, float]:
    """Return a key of names in lines from the top, and its height. `kind` of swatch: line, dot, box."""
    found, at, row = [], x, 0
    for one in series:
        name = shorten(one["name"], width - x - 34)
        wide = 28 + width_of(name) + 16
        if at > x and at + wide - 16 > width:
            at, row = x, row + 1
        middle = row * KEY_LINE + 9
        system = f' data-mark="{one["system"]}"' if one.get("system") is not None else ""
        label = text(at + 28, middle + 4, name, whole=one["name"])
        found.append(f'<g class="mark {look(one)}"{system}>{_swatch(one, kind, at, middle)}{label}</g>')
        at += wide
    return "".join(found), (row + 1) * KEY_LINE + 6 if series else 0.0


def _swatch(one: Series, kind: str, x: float, y: float) -> str:
    if kind == "dot":
        return f'<path class="dots{hollow(one)}" d="{symbols(symbol(one), [(x + 12, y)], 4)}"/>'
    if kind == "box":
        filled = "bar" if not one.get("hollow") else "bar pale"
        return f'<rect class="{filled}" x="{px(x + 6)}" y="{px(y - 5)}" width="14" height="10"/>'
    return f'<path class="line"{dash(one)} d="M{px(x)} {px(y)}h22"/>'


def hollow(one: Series) -> str:
    return " hollow" if one.get("ring") or one.get("hollow") else ""
