"""Draw a grid of two parameters: who is best where, and the values of each system."""

from collections.abc import Sequence
from typing import Any

from core.charts.frame import WIDE, Data, Drawing, key
from core.charts.labels import width_of
from core.charts.marks import Group, esc, look, px, rect, symbols, text
from core.charts.scales import Scale, exact, is_number, scale_of

LEVELS = 12
LITTLE = 230.0  # the width of one of several maps


def winners(data: Data, width: float) -> Drawing:
    """Draw `regions`: [{system, name, share, label}] of `best`: [y][x] the index of a system, -1 where several tie."""
    regions = data["regions"]
    names = [{**one, "name": f"{one['name']}, {100 * one['share']:.1f} %", **_quiet(one)} for one in regions]
    top_key, top = key(names, width, "box")
    side = min(width - 60, 460.0 if width == WIDE else 260.0)
    x, y = _scales(data, 46, side, top + 22, side * 0.75)
    body = [top_key, _frame(data, x, y)]
    for one in regions:
        group = Group({**one, **_quiet(one)})
        own = -1 if one["system"] is None else one["system"]
        path = _runs(data, [[best == own for best in row] for row in data["best"]], x, y)
        group.body.append(f'<path class="region" d="{path}"/>')
        group.says.append(f"best at {100 * one['share']:.1f} % of the points")
        body.append(group.svg())
    for one in regions:
        if one["label"]:
            body.append(_note(one["name"], x.at(one["label"]["x"]), y.at(one["label"]["y"])))
    for one in data["points"]:
        at = x.at(one["x"]), y.at(one["y"])
        body.append(f'<path class="pin" d="{symbols("circle", [at], 5)}"/>')
        body.append(_note(one["name"], at[0], at[1] - 16))
    return Drawing(width, y.start + 42, "".join(body))


def _quiet(region: Data) -> Data:
    return {"quiet": True} if region["system"] is None else {}


def maps(data: Data) -> list[Drawing]:
    """Draw a map for each of `systems`: [{name, system, z: [y][x]}], all on one scale of colours."""
    every = [v for one in data["systems"] for row in one["z"] for v in row if is_number(v)]
    low, high = (min(every), max(every)) if every else (0.0, 1.0)
    return [_map(one, data, low, high) for one in data["systems"]]


def _map(one: Data, data: Data, low: float, high: float) -> Drawing:
    x, y = _scales(data, 34, LITTLE - 44, 40, LITTLE - 70)
    own = [v for row in one["z"] for v in row if is_number(v)]
    told = f"{exact(min(own))} to {exact(max(own))}" if own else "undefined"
    levels = [[_level(v, low, high) for v in row] for row in one["z"]]
    group = Group(one)
    for level in range(LEVELS):
        if path := _runs(data, [[v == level for v in row] for row in levels], x, y):
            opacity = 0.08 + 0.9 * level / (LEVELS - 1)
            group.body.append(f'<path class="region" fill-opacity="{opacity:.2f}" d="{path}"/>')
    group.says.append(told)
    head = f'<g class="mark {look(one)}"><text x="0" y="12" class="head">{esc(one["name"])}</text></g>'
    body = [head, text(LITTLE - 8, 12, told, "end", "tick"), _frame(data, x, y), group.svg()]
    return Drawing(LITTLE, y.start + 40, "".join(body))


def _level(value: Any, low: float, high: float) -> int:
    if not is_number(value):
        return -1
    return min(int((value - low) / ((high - low) or 1.0) * LEVELS), LEVELS - 1)


def _scales(data: Data, left: float, wide: float, top: float, high: float) -> tuple[Scale, Scale]:
    """Return both scales, whose ends are half a cell beyond the outer points."""
    ends = []
    for values in (data["x"], data["y"]):
        half = (values[1] - values[0]) / 2
        ends.append([values[0] - half, values[-1] + half])
    x = scale_of([], {"range": ends[0]}, left, left + wide, 56)
    return x, scale_of([], {"range": ends[1]}, top + high, top, 40)


def _frame(data: Data, x: Scale, y: Scale) -> str:
    found = [rect(x.start, y.end, x.end - x.start, y.start - y.end, 'class="frame"')]
    found += [text(x.at(v), y.start + 16, told, "middle", "tick") for v, told in x.ticks]
    found += [text(x.start - 6, y.at(v) + 4, told, "end", "tick") for v, told in y.ticks]
    found.append(text(x.end, y.start + 33, data["names"]["x"], "end", "axis-name"))
    found.append(text(0, y.end - 8, data["names"]["y"], kind="axis-name"))
    return "".join(found)


def _runs(data: Data, inside: Sequence[Sequence[bool]], x: Scale, y: Scale) -> str:
    """Return a path over the cells that are inside, each run of a row as one rectangle.

    Neighbours share their rounded edges, so that no line of the background shows between them.
    """
    across = [px(x.start + i * (x.end - x.start) / len(data["x"])) for i in range(len(data["x"]) + 1)]
    up = [px(y.start - j * (y.start - y.end) / len(data["y"])) for j in range(len(data["y"]) + 1)]
    found = []
    for j, row in enumerate(inside):
        start = None
        for i, own in enumerate([*row, False]):
            if own and start is None:
                start = i
            elif not own and start is not None:
                found.append(f"M{across[start]} {up[j + 1]}H{across[i]}V{up[j]}H{across[start]}z")
                start = None
    return "".join(found)


def _note(name: str, x: float, y: float) -> str:
    wide = width_of(name) + 10
    return rect(x - wide / 2, y - 9, wide, 18, 'class="note" rx="3"') + text(x, y + 4, name, "middle")
