"""Draw values of named things as rows: bars, dots with intervals, boxes. No line connects two names."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.charts.frame import SMALL_TEXT, WIDE, Data, Drawing, Plot, axes, height_of, hollow, key
from core.charts.labels import shorten, width_of
from core.charts.lines import ends
from core.charts.marks import Group, Series, line, px, rect, symbol, symbols, text, with_symbols
from core.charts.scales import exact, is_number, scale_of

ROW, SLOT = 24.0, 10.0
ON_ONE_LINE = 4  # series without intervals that share the middle of a row
DOT = 4.5  # half of a dot's height, where series share a row
WIDEST = 64.0  # bar of columns: one day alone is not a wall


@dataclass(frozen=True)
class Row:
    """Hold a named row and where its slots are."""

    name: str
    label: str  # that is written; those of two rows can be equal
    top: float
    height: float
    slots: int

    def at(self, slot: int) -> float:
        return self.top + self.height / 2 + (slot - (self.slots - 1) / 2) * SLOT


def rows(data: Data, width: float, *, bars: bool = False) -> Drawing:
    """Draw series of values by name: [{name, x: names, y, low?, high?, hover?, system | measure}].

    `bars`: one series as bars that begin at 0, with their values. `sorted`: the largest of the first series on top.
    """
    data = by_name(data)
    every, names = with_symbols(data["series"]), data["names"]
    bars = bars and len(every) == 1
    counted = Counter(name for one in every for name in one["x"])
    alone = max(counted.values(), default=1) == 1  # each series has a row of its own
    together = alone or (len(every) <= ON_ONE_LINE and not any(ends(one, data) for one in every))
    slots = 1 if together else len(every)
    named_by_rows = alone and {one["name"] for one in every} <= set(names)
    top_key, below_key = key(every, width, "dot") if len(every) > 1 and not named_by_rows else ("", 0.0)
    values = [v for one in every for v in one["y"]] + ([0.0] if bars else [])
    for one in every:
        for end in ends(one, data) or ():
            values += end
    area, named = _area(data, names, [slots] * len(names), values, width, below_key)
    body = [top_key, _names(named, area), axes(area, _value_axis(data))]
    moved = _apart(every, named, area) if together else None
    groups = [
        _bars(one, named, area, data) if bars else _dots(one, i, named, area, data, moved)
        for i, one in enumerate(every)
    ]
    if together and len(every) > 1:
        body.append(_spans(every, named, area))
    body.append(area.clipped(group.svg() for group in groups))
    if bars:
        body.append(_values(every[0], named, area, data))
    return Drawing(width, height_of(area, _value_axis(data)), "".join(body))


def by_name(data: Data) -> Data:
    """Return a chart whose x are names, from one whose x are names or places near named ticks."""
    axis = data.get("xaxis", {})
    if axis.get("tickvals") is not None:
        told = [str(name) for name in axis["ticktext"]]
        series = [{**one, "x": [told[round(x)] for x in one["x"]]} for one in data["series"]]
    else:
        told, series = list(dict.fromkeys(str(x) for one in data["series"] for x in one["x"])), data["series"]
    if data.get("sorted"):
        first = dict(zip(series[0]["x"], series[0]["y"], strict=True)) if series else {}
        told = sorted(told, key=lambda name: -first[name] if is_number(first.get(name)) else float("inf"))
    return {**data, "series": series, "names": told}


def _value_axis(data: Data) -> Data:
    """Return the axis of values, which lies: the x axis of lying bars, the y axis of others."""
    return {"x": data.get("x") if data.get("lying") else data.get("y")}


def _area(
    data: Data, names: Sequence[str], slots: Sequence[int], values: Sequence[Any], width: float, top: float
) -> tuple[Plot, list[Row]]:
    labels = _labels(data)
    widest = max((width_of(labels.get(name, name)) for name in names), default=0) + 12
    left = min(widest, width * (0.36 if width == WIDE else 0.38))
    axis = dict(data.get("xaxis" if data.get("lying") else "yaxis", {}))
    if data.get("yrange"):
        axis["range"] = data["yrange"]
    for own in ("tickvals", "ticktext", "autorange"):
        axis.pop(own, None)
    found, at = [], top + 4
    for name, count in zip(names, slots, strict=True):
        height = max(ROW, SLOT * count + 10)
        found.append(Row(name, labels.get(name, name), at, height, count))
        at += height
    right = width - (44 if len(data.get("series", ())) == 1 else 16)
    x = scale_of(values, axis, left, right, 64)
    y = scale_of([0, 1], {"range": [0, 1], "tickvals": []}, at, top, 44)
    return Plot(x, y, left, top + 4, right, at), found


def _labels(data: Data) -> dict[str, str]:
    """Return the labels of rows by name, where lying bars have some (yaxis: tickvals, ticktext)."""
    axis = data.get("yaxis", {}) if data.get("lying") else {}
    return dict(zip(axis.get("tickvals", ()), axis.get("ticktext", ()), strict=True))


def _names(named: Sequence[Row], area: Plot) -> str:
    found = []
    for value, _ in area.x.ticks:
        at = area.x.at(value)
        found.append(line(at, area.top, at, area.bottom, "grid zero" if value == 0 else "grid"))
    divided = any(row.slots > 1 for row in named)
    for i, row in enumerate(named):
        if divided and i:
            found.append(line(0, row.top, area.right, row.top, "divider"))
        name = shorten(row.label, area.left - 12)
        found.append(text(area.left - 10, row.top + row.height / 2 + 4, name, "end", whole=row.label))
    return "".join(found)


def _at(one: Series, named: Sequence[Row]) -> list[tuple[Row, int]]:
    """Return the row of each value of a series, with the value's index."""
    row_of = {row.name: row for row in named}
    return [(row_of[name], i) for i, name in enumerate(one["x"]) if is_number(one["y"][i])]


def _says(one: Series, i: int, data: Data, between: Any) -> str:
    if one.get("hover"):
        return str(one["hover"][i]).removeprefix(f"{one['name']}, ").removeprefix(f"{one['name']}: ")
    form = data.get("xaxis" if data.get("lying") else "yaxis", {}).get("tickformat", "")
    said = f"{_labels(data).get(one['x'][i], one['x'][i])}: {exact(one['y'][i], form)}"
    if between and is_number(between[0][i]) and is_number(between[1][i]):
        said += f" ({exact(between[0][i], form)} to {exact(between[1][i], form)})"
    return said


def _apart(every: Sequence[Series], named: Sequence[Row], area: Plot) -> dict[tuple[str, int], float]:
    """Return how far dots are moved up or down, by row and series, so that none covers another of its row."""
    places: dict[str, list[tuple[float, int]]] = {row.name: [] for row in named}
    for slot, one in enumerate(every):
        for row, i in _at(one, named):
            places[row.name].append((area.x.at(one["y"][i]), slot))
    found = {}
    for row in named:
        own = sorted(places[row.name])
        while own:
            n = next((n for n in range(1, len(own)) if own[n][0] - own[n - 1][0] >= 2 * DOT), len(own))
            step = min(2 * DOT, (row.height - 2 * DOT) / max(n - 1, 1))
            found.update({(row.name, slot): (k - (n - 1) / 2) * step for k, (_, slot) in enumerate(own[:n])})
            own = own[n:]
    return found


def _dots(
    one: Series, slot: int, named: Sequence[Row], area: Plot, data: Data, moved: Mapping[tuple[str, int], float] | None
) -> Group:
    """Draw the dots of a series; `moved`: how far from the middle of their rows, None if series have places there."""
    group, between, points, whiskers = Group(one), ends(one, data), [], []
    for row, i in _at(one, named):
        at = row.at(slot) if moved is None else row.at(0) + moved[row.name, slot]
        points.append((area.x.at(one["y"][i]), at))
        if between and is_number(between[0][i]) and is_number(between[1][i]):
            low, high = (area.x.at(float(end[i] or 0.0)) for end in between)
            whiskers.append(f"M{px(low)} {px(at)}H{px(high)}")
        group.point(*points[-1], _says(one, i, data, between))
    if whiskers:
        group.body.append(f'<path class="whisker" d="{"".join(whiskers)}"/>')
    size = 3.5 if moved is None else DOT
    group.body.append(f'<path class="dots{hollow(one)}" d="{symbols(symbol(one), points, size)}"/>')
    return group


def _spans(every: Sequence[Series], named: Sequence[Row], area: Plot) -> str:
    """Join the smallest and the largest value of each row by a quiet line: how far they are apart."""
    values: dict[str, list[float]] = {}
    for one in every:
        for row, i in _at(one, named):
            values.setdefault(row.name, []).append(area.x.at(one["y"][i]))
    return "".join(
        line(min(own), row.at(0), max(own), row.at(0), "span") for row in named if (own := values.get(row.name))
    )


def _bars(one: Series, named: Sequence[Row], area: Plot, data: Data) -> Group:
    group, zero = Group(one), area.x.at(area.x.clip(0))
    for row, i in _at(one, named):
        end = area.x.at(area.x.clip(one["y"][i]))
        group.body.append(rect(min(zero, end), row.top + 4, abs(end - zero), row.height - 8, 'class="bar"'))
        group.point(end, row.top + row.height / 2, _says(one, i, data, None))
    return group


def _values(one: Series, named: Sequence[Row], area: Plot, data: Data) -> str:
    form = data.get("xaxis", {}).get("tickformat", "")
    found = []
    for row, i in _at(one, named):
        value = one["y"][i]
        short = exact(value, form) if value == int(value) or form else f"{value:.3g}".replace("-", "−")
        end = area.x.at(area.x.clip(max(value, 0)))
        found.append(text(end + 5, row.top + row.height / 2 + 4, short, kind="tick"))
    return "".join(found)


def boxes(data: Data, width: float) -> Drawing:
    """Draw quartiles by name: `groups`: [{name, hollow?, slot?, system | measure, boxes: [{x, low, …}]}]."""
    groups = data["groups"]
    names = list(dict.fromkeys(box["x"] for group in groups for box in group["boxes"]))
    slot_of = {slot: i for i, slot in enumerate(dict.fromkeys(group.get("slot", "") for group in groups))}
    values = [box[end] for group in groups for box in group["boxes"] for end in ("low", "high")]
    area, named = _area(data, names, [2 * len(slot_of)] * len(names), values, width, 0)
    rows_by_name = {row.name: row for row in named}
    body = [_names(named, area), axes(area, _value_axis(data))]
    marks = []
    for one in groups:
        group = Group(one)
        for box in one["boxes"]:
            row = rows_by_name[box["x"]]
            middle = row.at(2 * slot_of[one.get("slot", "")]) + SLOT / 2
            low, q1, median, q3, high = (area.x.at(box[k]) for k in ("low", "q1", "median", "q3", "high"))
            half = SLOT - 3
            whiskers = f"M{px(low)} {px(middle)}H{px(q1)}M{px(q3)} {px(middle)}H{px(high)}"
            group.body.append(f'<path class="whisker" d="{whiskers}"/>')
            kind = "box hollow" if one.get("hollow") else "box"
            group.body.append(rect(q1, middle - half, max(q3 - q1, 1), 2 * half, f'class="{kind}"'))
            group.body.append(line(median, middle - half, median, middle + half, "median"))
            told = f"median {exact(box['median'])}, quartiles {exact(box['q1'])} and {exact(box['q3'])}"
            group.point(median, middle, f"{told}, {exact(box['low'])} to {exact(box['high'])}")
        marks.append(group.svg())
    return Drawing(width, height_of(area, _value_axis(data)), "".join([*body, area.clipped(marks)]))


def columns(data: Data, width: float) -> Drawing:
    """Draw bars that stand beside each other in ordered places: numbers or bands."""
    # every second one is pale, in the key as well
    every = [{**one, "hollow": bool(place % 2)} for place, one in enumerate(data["series"])]
    names = list(dict.fromkeys(str(x) for one in every for x in one["x"]))
    top_key, below_key = key(every, width, "box") if len(every) > 1 else ("", 0.0)
    axis = {"rangemode": "tozero", **data.get("yaxis", {}), **({"range": data["yrange"]} if "yrange" in data else {})}
    top = below_key + 22
    y = scale_of([v for one in every for v in one["y"]], axis, top + 220, top, 44)
    left = max((width_of(t, SMALL_TEXT) for _, t in y.ticks), default=0) + 10
    ticks = {"range": [-0.5, len(names) - 0.5], "tickvals": range(len(names)), "ticktext": names}
    area = Plot(scale_of([], ticks, left, width - 12, 64), y, left, top, width - 12, top + 220)
    step = (area.right - area.left) / max(len(names), 1)
    wide = min(step * (0.8 if len(names) < 25 else 0.9) / len(every), WIDEST)
    marks = []
    for place, one in enumerate(every):
        group = Group(one)
        for x, value in zip(map(str, one["x"]), one["y"], strict=True):
            if is_number(value):
                at = area.x.at(names.index(x)) + (place - len(every) / 2) * wide
                end = y.at(y.clip(value))
                kind = "bar pale" if one["hollow"] else "bar"
                group.body.append(rect(at, min(end, area.bottom), wide - 1, area.bottom - end, f'class="{kind}"'))
                said = exact(value, axis.get("tickformat", ""))
                group.point(at + wide / 2, end, f"{data.get('x', '')} {x}: {said}".strip())
        marks.append(group.svg())
    named = {"x": data.get("x")}
    name = text(0, below_key + 11, data.get("y", ""), kind="axis-name")
    return Drawing(width, height_of(area, named), "".join([top_key, name, axes(area, named), *marks]))
