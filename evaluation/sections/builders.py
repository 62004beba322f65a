"""Build the tables, cells and charts that many sections repeat."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from evaluation.sections.section import Cell, Chart, Column, Json, Table, cell, numbers

T = TypeVar("T")


def table_of(
    key: str,
    title: str,
    items: Iterable[T],
    pairs: Sequence[tuple[Column, Callable[[T], Cell]]],
    best: Sequence[Sequence[int]] = (),
    foot: Sequence[Cell] = (),
) -> Table:
    """Return a table with a row for each item; the function beside a column makes the item's cell."""
    rows = [[make(item) for _, make in pairs] for item in items]
    return Table(key, title, [column for column, _ in pairs], rows, best, foot)


def interval_cell(value: float, low: float, high: float, reason: str = "") -> Cell:
    """Return a number with the ends of its interval, without ends where one of the three is undefined."""
    return cell(value, reason, **({"low": low, "high": high} if np.isfinite([value, low, high]).all() else {}))


def series_of(name: str, x: Any, y: Any, **more: Any) -> Json:
    """Return one series of a chart; arrays become lists of floats, null where undefined."""
    given = {"name": name, "x": x, "y": y, **more}
    return {key: numbers(value) if isinstance(value, np.ndarray) else value for key, value in given.items()}


def chart(kind: str, label: str, series: Sequence[Json], **look: Any) -> Chart:
    """Return a chart of series; `look` has the titles of the axes (x, y) and what else the script reads."""
    return Chart(kind, label, {"series": list(series), **look})


def small_multiples(label: str, series: Sequence[Json], **look: Any) -> Chart:
    """Return a small chart for each measure of some series, on the same axes; `look` as of `chart`.

    A panel has the name of the first series of its measure, and colour instead of dashes; its thin lines are dotted.
    """
    panels: dict[int, Json] = {}
    for one in series:
        panel = panels.setdefault(one["measure"], {"name": one["name"], "measure": one["measure"], "series": []})
        panel["series"].append(one if one.get("thin") else {**one, "dash": "solid"})
    return Chart("grid", f"{label}, a panel for each measure", {"panels": list(panels.values()), **look})


def matrix(label: str, names: Sequence[str], values: Any, **look: Any) -> Chart:
    """Return a chart of a square of numbers, float [names, names]; empty where undefined."""
    rows = [numbers(row) for row in values]
    return Chart("matrix", label, {"rows": names, "columns": names, "values": rows, **look})


def numbered(section: Json, systems: Sequence[str], every: Sequence[str]) -> Json:
    """Return the content of a section about `systems` with the numbers that they have among `every` one.

    The number decides the colour. What has a name of `every` is numbered by it, all else by its place in `systems`.
    """
    chart = section.get("chart")
    places = [every.index(name) for name in systems]
    if not chart or places == list(range(len(places))):
        return section
    data = _renumbered(chart["data"], places, every)
    if chart["kind"] == "winners":
        data["best"] = [[places[i] if i >= 0 else i for i in row] for row in data["best"]]
    return {**section, "chart": {**chart, "data": data}}


def _renumbered(data: Any, places: Sequence[int], every: Sequence[str]) -> Any:
    if isinstance(data, list | tuple):
        return [_renumbered(own, places, every) for own in data]
    if not isinstance(data, dict):
        return data
    found = {key: _renumbered(own, places, every) for key, own in data.items()}
    if isinstance(number := data.get("system"), int):
        found["system"] = every.index(data["name"]) if data.get("name") in every else places[number]
    return found
