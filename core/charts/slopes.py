"""Draw two sides and a line for each system between them: places, or values."""

from collections.abc import Sequence
from typing import Any

from core.charts.frame import Data, Drawing
from core.charts.labels import shorten, spread, width_of
from core.charts.marks import Group, Series, dash, px, symbols, text
from core.charts.scales import exact, is_number

ROW, TOP = 24.0, 34.0
VALUE_HEIGHT = 260.0


def places(data: Data, width: float) -> Drawing:
    """Draw places: `left`, `right`: names of the sides; `lines`: [{system, name, left, right, left_row?, right_row?}].

    left_row, right_row: where lines are drawn, so that systems that share a place are not over each other.
    """
    every = data["lines"]
    rows = [(one.get("left_row") or one["left"], one.get("right_row") or one["right"]) for one in every]
    ends = [tuple(TOP + (row - 1) * ROW for row in own) for own in rows]
    told = [(f"{one['name']} {one['left']}", f"{one['right']} {one['name']}") for one in every]
    says = [f"{data['left']}: place {one['left']}; {data['right']}: place {one['right']}" for one in every]
    height = TOP + max((row for own in rows for row in own), default=1) * ROW - 6
    return _sides(every, ends, ends, told, says, (data["left"], data["right"]), width, height)


def values(data: Data, width: float) -> Drawing:
    """Draw a value of each series on two named sides; the names are apart, the points where they belong."""
    every = [one for one in data["series"] if all(map(is_number, one["y"])) and len(one["y"]) == 2]
    height = max(VALUE_HEIGHT, 15.0 * len(every))
    found = [v for one in every for v in one["y"]] or [0.0, 1.0]
    low, high = min(found), max(found)
    room = (high - low) or 1.0
    ends = [tuple(TOP + (high - v) / room * height for v in one["y"]) for one in every]
    sides = [spread([own[side] for own in ends], TOP, TOP + height) for side in (0, 1)]
    labels = list(zip(*sides, strict=True))
    told = [(f"{one['name']} {exact(one['y'][0])}", f"{exact(one['y'][1])} {one['name']}") for one in every]
    names = tuple(data["xaxis"]["ticktext"])
    says = [f"{names[0]} {exact(one['y'][0])}; {names[1]} {exact(one['y'][1])}" for one in every]
    heads = (f"{names[0]}", f"{names[1]}")
    drawn = _sides(every, ends, labels, told, says, heads, width, TOP + height + 12)
    name = data.get("y", "")
    return Drawing(width, drawn.height + 20, drawn.body + text(0, drawn.height + 12, name, kind="axis-name"))


def _sides(
    every: Sequence[Series],
    ends: Sequence[Any],
    labels: Sequence[Any],
    told: Sequence[tuple[str, str]],
    says: Sequence[str],
    heads: tuple[str, str],
    width: float,
    height: float,
) -> Drawing:
    """Draw the lines between `ends` (y of both sides) with names at `labels` (y of both sides)."""
    widest = max(width_of(own) for both in [*told, heads] for own in both) + 14
    room = min(widest, width * 0.36)
    width = min(width, max(2 * room + 300, 320))
    left, right = room + 8, width - room - 8
    heads = (shorten(heads[0], room), shorten(heads[1], room))
    body = [text(left, 14, heads[0], "end", "head"), text(right, 14, heads[1], kind="head")]
    for one, own, at, both, said in zip(every, ends, labels, told, says, strict=True):
        group = Group(one)
        group.body.append(f'<path class="line"{dash(one)} d="M{px(left)} {px(own[0])}L{px(right)} {px(own[1])}"/>')
        group.body.append(f'<path class="dots" d="{symbols("circle", [(left, own[0]), (right, own[1])], 3.5)}"/>')
        for x, y, label, side, anchor in ((left, own[0], at[0], 0, "end"), (right, own[1], at[1], 1, "")):
            shift = -12 if anchor else 12
            if abs(label - y) > 3:
                group.body.append(f'<path class="leader" d="M{px(x)} {px(y)}L{px(x + shift * 0.8)} {px(label)}"/>')
            whole = both[side]
            group.body.append(text(x + shift, label + 4, shorten(whole, room), anchor, whole=whole))
        for x, y in ((left, own[0]), (right, own[1])):
            group.point(x, y, said)
        body.append(group.svg())
    return Drawing(width, height, "".join(body))
