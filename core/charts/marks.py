"""Write the elements of a chart: text, paths, symbols, and one group for each series.

Positions go into attributes and colours into classes, never into style attributes, which our policy refuses.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

SYSTEM_COLOURS, MEASURE_COLOURS = 8, 6  # of static/css/theme.css
DASHES = ("", "6 4", "2 3", "6 3 2 3", "10 4", "10 3 2 3")
NAMED_DASHES = {"solid": "", "dash": "6 4", "dot": "2 3", "dashdot": "6 3 2 3"}
SYMBOLS = ("circle", "square", "diamond", "up", "plus", "cross", "down", "bar")
LISTED = 12  # values that a title names one by one
Point = tuple[float, float]
Series = dict[str, Any]


def esc(text: Any) -> str:
    return escape(str(text), quote=True)


def px(value: float) -> str:
    """Write a position to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def number_of(series: Series) -> int:
    """Return the number that decides colour, dash and symbol of a series."""
    return int(next((series[key] for key in ("system", "measure") if series.get(key) is not None), 0))


def look(series: Series) -> str:
    """Return the class of a series' colour. Systems and measures have palettes of their own."""
    if series.get("system") is not None:
        return f"series-{series['system'] % SYSTEM_COLOURS + 1}"
    if series.get("measure") is not None:
        return f"measure-{series['measure'] % MEASURE_COLOURS + 1}"
    if series.get("colour"):
        return f"tone-{series['colour'].removeprefix('--')}"
    return "tone-control" if series.get("quiet") else "tone-accent"


def dash(series: Series) -> str:
    """Return the dashes of a series' line as an attribute, "" for a solid one."""
    if series.get("thin"):
        found = NAMED_DASHES["dot"]
    elif series.get("dash"):
        found = NAMED_DASHES[series["dash"]]
    else:
        found = DASHES[number_of(series) % len(DASHES)]
    return f' stroke-dasharray="{found}"' if found else ""


def symbol(series: Series) -> str:
    return str(series.get("symbol") or SYMBOLS[number_of(series) % len(SYMBOLS)])


def with_symbols(every: Sequence[Series]) -> list[Series]:
    """Give each series without a number of its own the symbol of its place, so that colour alone tells none apart."""
    return [
        {**one, "symbol": SYMBOLS[place % len(SYMBOLS)]} if one.get("system", one.get("measure")) is None else one
        for place, one in enumerate(every)
    ]


def text(x: float, y: float, content: Any, anchor: str = "", kind: str = "", whole: str = "", more: str = "") -> str:
    """Return a text; `whole` is the name that it was cut from, for its title."""
    anchored = f' text-anchor="{anchor}"' if anchor else ""
    classed = f' class="{kind}"' if kind else ""
    title = f"<title>{esc(whole)}</title>" if whole and whole != content else ""
    return f'<text x="{px(x)}" y="{px(y)}"{anchored}{classed}{more}>{title}{esc(content)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<path class="{kind}" d="M{px(x1)} {px(y1)}L{px(x2)} {px(y2)}"/>'


def rect(x: float, y: float, width: float, height: float, attributes: str, title: str = "") -> str:
    inner = f"<title>{esc(title)}</title>" if title else ""
    size = f'width="{px(max(width, 0))}" height="{px(max(height, 0))}"'
    return f'<rect x="{px(x)}" y="{px(y)}" {size} {attributes}>{inner}</rect>'


def joined(points: Iterable[Point | None]) -> str:
    """Return the path through some points; None is a gap."""
    found, drawing = [], False
    for point in points:
        if point is not None:
            found.append(f"{'L' if drawing else 'M'}{px(point[0])} {px(point[1])}")
        drawing = point is not None
    return "".join(found)


def symbols(kind: str, points: Iterable[Point], r: float) -> str:
    """Return one path with a symbol at each point."""
    shape = _SHAPES[kind](r)
    return "".join(f"M{px(x)} {px(y)}{shape}" for x, y in points)


def _circle(r: float) -> str:
    return f"m{px(-r)} 0a{px(r)} {px(r)} 0 1 0 {px(2 * r)} 0a{px(r)} {px(r)} 0 1 0 {px(-2 * r)} 0z"


def _cross(r: float, turned: bool) -> str:
    a, b = (r, r) if turned else (r * 1.2, 0.0)
    c, d = (r, -r) if turned else (0.0, r * 1.2)
    return f"m{px(-a)} {px(-b)}l{px(2 * a)} {px(2 * b)}m{px(-a - c)} {px(-b - d)}l{px(2 * c)} {px(2 * d)}"


_SHAPES = {
    "circle": _circle,
    "square": lambda r: f"m{px(-r)} {px(-r)}h{px(2 * r)}v{px(2 * r)}h{px(-2 * r)}z",
    "diamond": lambda r: (
        f"m0 {px(-1.3 * r)}l{px(1.3 * r)} {px(1.3 * r)}l{px(-1.3 * r)} {px(1.3 * r)}l{px(-1.3 * r)} {px(-1.3 * r)}z"
    ),
    "up": lambda r: f"m0 {px(-1.2 * r)}l{px(1.2 * r)} {px(2.2 * r)}h{px(-2.4 * r)}z",
    "down": lambda r: f"m0 {px(1.2 * r)}l{px(1.2 * r)} {px(-2.2 * r)}h{px(-2.4 * r)}z",
    "plus": lambda r: _cross(r, turned=False),
    "cross": lambda r: _cross(r, turned=True),
    "bar": lambda r: f"m0 {px(-1.3 * r)}v{px(2.6 * r)}",
}


@dataclass
class Group:
    """Collect what belongs to one series: its drawing, and what hover says where."""

    series: Series
    body: list[str] = field(default_factory=list)
    at: list[Point] = field(default_factory=list)
    says: list[str] = field(default_factory=list)

    def point(self, x: float, y: float, says: str) -> None:
        self.at.append((x, y))
        self.says.append(says)

    def svg(self) -> str:
        system, name = self.series.get("system"), self.series.get("name", "")
        attributes = [f'class="mark {look(self.series)}"', f'data-name="{esc(name)}"']
        if system is not None:
            attributes.append(f'data-mark="{system}"')
        if self.at:
            attributes.append(f'data-at="{" ".join(f"{px(x)},{px(y)}" for x, y in self.at)}"')
            attributes.append(f'data-says="{esc("|".join(own.replace("|", "/") for own in self.says))}"')
        return f"<g {' '.join(attributes)}><title>{esc(told(name, self.says))}</title>{''.join(self.body)}</g>"


def told(name: str, says: Sequence[str]) -> str:
    """Return the title of a series: its values, of many the first and the last."""
    if not says:
        return name
    shown = says if len(says) <= LISTED else [*says[:3], "…", *says[-3:]]
    return f"{name}\n" + "\n".join(shown)
