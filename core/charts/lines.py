"""Draw lines over a numeric axis, each named at its end; points of one value each get their name beside them."""

import math
from collections.abc import Sequence
from typing import Any

from core.charts.frame import WIDE, Data, Drawing, Plot, axes, height_of, key, plot, references
from core.charts.labels import GAP, Taken, shorten, spread, width_of
from core.charts.marks import Group, Point, Series, dash, joined, line, look, px, symbols, text
from core.charts.scales import exact, is_number

MOST_NAMED = 24  # more names go into a key
DOTTED = 30  # points of a line that are drawn as such; more would hide it
HOVERED = 60  # points of a line that hover knows, at most


def lines(data: Data, width: float, height: float = 0.0) -> Drawing:
    """Draw `series`: [{name, x, y, low?, high?, spread?, spread_down?, system | measure, …}].

    plain: without points; thin, wide: of another weight; ring, marks: points only; steps: level until the next x.
    """
    data = numbered(data)
    every = data["series"]
    named = [one for one in every if _is_named(one)]
    high = height or max(300.0 if width == WIDE else 230.0, GAP * len(named))
    scattered = any(len(one["x"]) == 1 for one in named)
    at_ends = not scattered and len(named) <= MOST_NAMED
    most = width * (0.3 if width == WIDE else 0.34)
    room = 14.0
    if len(named) > 1 and at_ends:
        room = min(most, max(width_of(one["name"]) for one in named)) + 22
    top, taken_by_key = key(named, width) if not at_ends and not scattered else ("", 0.0)
    area = plot(data, all_x(data), all_y(data), width, high, room)
    body = [axes(area, data), references(area, data)]
    groups = [(one, drawn_series(one, area, data)) for one in every]
    body.append(area.clipped(group.svg() for _, group in groups))
    if scattered:
        body.append(_names_beside(named, area, width))
    elif len(named) > 1 and at_ends:
        body.append(_names_at_ends(named, area, room - 18))
    drawn = "".join(body)
    if taken_by_key:
        drawn = f'{top}<g transform="translate(0 {px(taken_by_key)})">{drawn}</g>'
    return Drawing(width, height_of(area, data) + taken_by_key, drawn)


def numbered(data: Data) -> Data:
    """Return a chart whose x are numbers: named places of an ordered axis are counted from 0."""
    names = list(dict.fromkeys(x for one in data["series"] for x in one["x"] if isinstance(x, str)))
    if not names:
        return data
    at = {name: i for i, name in enumerate(names)}
    series = [{**one, "x": [at.get(x, x) for x in one["x"]]} for one in data["series"]]
    ticks = {"tickvals": list(range(len(names))), "ticktext": names, "range": [-0.3, len(names) - 0.7]}
    return {**data, "series": series, "xaxis": ticks, "names": names}


def _is_named(one: Series) -> bool:
    return not (one.get("thin") or one.get("ring") or one.get("marks"))


def all_x(data: Data) -> list[Any]:
    """Return the values that the x axis has to hold."""
    return [x for one in data["series"] for x in one["x"]]


def all_y(data: Data) -> list[Any]:
    """Return the values that the axis has to hold, with the ends of bands where they are possible."""
    found = [one["y"] for one in data.get("references", ())]
    for one in data["series"]:
        found += one["y"]
        for end in ends(one, data) or ():
            found += end
    return found


def ends(one: Series, data: Data) -> tuple[list[float | None], list[float | None]] | None:
    """Return low and high of each point, within what is possible (`possible`: [least, most])."""
    if one.get("low"):
        low, high = one["low"], one["high"]
    elif one.get("spread"):
        down = one.get("spread_down") or one["spread"]
        low, high = _add(one["y"], down, -1), _add(one["y"], one["spread"], 1)
    else:
        return None
    least, most = data.get("possible", (float("-inf"), float("inf")))
    return (
        [max(v, least) if is_number(v) else None for v in low],
        [min(v, most) if is_number(v) else None for v in high],
    )


def _add(values: Sequence[Any], more: Sequence[Any], sign: int) -> list[float | None]:
    return [
        v + sign * m if is_number(v) and is_number(m) else None for v, m in zip(values, more, strict=True)
    ]  # fmt: skip


def drawn_series(one: Series, area: Plot, data: Data) -> Group:
    """Return the marks of one series in an area, with what hover says where."""
    group, between = Group(one), ends(one, data)
    points = places(one, area)
    if between:
        group.body.append(_uncertainty(one, area, between))
    if not (one.get("ring") or one.get("marks")):
        weight = " thin" if one.get("thin") else " wide" if one.get("wide") else ""
        group.body.append(f'<path class="line{weight}"{dash(one)} d="{_path(one, points)}"/>')
    seen = [point for point in points if point is not None]
    if one.get("ring"):
        group.body.append(f'<path class="dots hollow" d="{symbols("circle", seen, 6)}"/>')
    elif not (one.get("thin") or one.get("plain") or len(seen) > DOTTED):
        group.body.append(f'<path class="dots" d="{symbols("circle", seen, one.get("size", 4) / 2)}"/>')
    form, every = data.get("yaxis", {}).get("tickformat", ""), max(1, math.ceil(len(points) / HOVERED))
    for i in range(0, len(points), every):
        if (point := points[i]) is not None:
            group.point(*point, _says(one, i, data, form, between))
    return group


def _says(one: Series, i: int, data: Data, form: str, between: Any) -> str:
    x = data["names"][one["x"][i]] if "names" in data else exact(one["x"][i])
    told = f"{data['x']} {x}" if data.get("x") else x
    said = f"{told}: {exact(one['y'][i], form)}"
    if between and is_number(between[0][i]) and is_number(between[1][i]):
        said += f" ({exact(between[0][i], form)} to {exact(between[1][i], form)})"
    return said


def places(one: Series, area: Plot) -> list[Point | None]:
    """Return the pixels of each point; None where it is undefined."""
    return [_place(x, y, area) for x, y in zip(one["x"], one["y"], strict=True)]


def _place(x: Any, y: Any, area: Plot) -> Point | None:
    fits = is_number(x) and is_number(y) and not (area.x.log and x <= 0) and not (area.y.log and y <= 0)
    return (area.x.at(x), area.y.at(y)) if fits else None


def _last_place(one: Series, area: Plot) -> Point:
    """Return the pixels of the last point that is defined; the corner of the area if there is none."""
    found = (_place(x, y, area) for x, y in zip(reversed(one["x"]), reversed(one["y"]), strict=True))
    return next((point for point in found if point), (area.right, area.bottom))


def _path(one: Series, points: Sequence[Point | None]) -> str:
    if not one.get("steps"):
        return joined(points)
    stepped: list[Point | None] = []
    for before, point in zip([None, *points], points, strict=False):
        if before and point:
            stepped.append((point[0], before[1]))
        stepped.append(point)
    return joined(stepped)


def _uncertainty(one: Series, area: Plot, between: tuple[list[Any], list[Any]]) -> str:
    """Return a band for a line, a whisker for each point of others."""
    found = [
        (area.x.at(x), area.y.at(low), area.y.at(high))
        for x, low, high in zip(one["x"], *between, strict=True)
        if is_number(x) and is_number(low) and is_number(high)
    ]
    if one.get("low") and len(found) > 1:
        around = joined([(x, high) for x, _, high in found] + [(x, low) for x, low, _ in reversed(found)])
        return f'<path class="band" d="{around}Z"/>'
    return '<path class="whisker" d="' + "".join(f"M{px(x)} {px(a)}V{px(b)}" for x, a, b in found) + '"/>'


def _names_at_ends(named: Sequence[Series], area: Plot, room: float) -> str:
    """Write the name of each line at its last point, apart from each other, with a thin line where they had to move."""
    last = [_last_place(one, area) for one in named]
    # a line may leave the area: its name stays inside
    wanted = [min(max(y, area.top), area.bottom) for _, y in last]
    found = []
    for one, point, at in zip(named, last, spread(wanted, area.top, area.bottom), strict=True):
        x, y = area.right + 4, min(max(point[1], area.top), area.bottom)
        name = shorten(one["name"], room)
        system = f' data-mark="{one["system"]}"' if one.get("system") is not None else ""
        leader = line(point[0] + 4, y, x + 8, at, "leader") if point[0] < area.right - 6 or abs(at - y) > 3 else ""
        label = text(area.right + 15, at + 4, name, whole=one["name"])
        found.append(f'<g class="mark {look(one)}"{system}>{leader}{label}</g>')
    return "".join(found)


def _names_beside(named: Sequence[Series], area: Plot, width: float) -> str:
    """Write the name of each point beside it, and that of a line at the place of its middle."""
    taken, found = Taken(width, area.bottom), []
    points = [(one, [p for p in places(one, area) if p]) for one in named]
    for _, own in points:
        for x, y in own[:: max(1, len(own) // 20)]:
            taken.add(x - 4, y - 4, 8, 8)
    for one, own in points:
        if not own:
            continue
        x, y = own[0] if len(own) == 1 else own[len(own) * 2 // 3]
        wide, leader = width_of(one["name"]), ""
        if (place := taken.place(x, y, wide)) is None:
            if (place := taken.place_away(x, y, wide)) is None:
                continue  # hover, title and table have it
            leader = line(x, y, min(max(x, place[0]), place[0] + wide), place[1] - 4, "leader")
        system = f' data-mark="{one["system"]}"' if one.get("system") is not None else ""
        found.append(f'<g class="mark {look(one)}"{system}>{leader}{text(*place, one["name"])}</g>')
    return "".join(found)
