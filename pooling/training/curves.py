"""Draw curves of a training on the server, so that they need no script and follow the theme."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT = 480, 160  # of the drawing, in its own units
TOP, RIGHT, BOTTOM, LEFT = 12, 12, 24, 56  # room for the axes


@dataclass(frozen=True)
class Point:
    x: float
    y: float
    epoch: int
    value: float


@dataclass(frozen=True)
class Curve:
    label: str
    points: list[Point]
    ticks: list[tuple[float, str]]  # height and text of the lowest and highest value
    last_epoch: int

    @property
    def line(self) -> str:
        return " ".join(f"{point.x:.1f},{point.y:.1f}" for point in self.points)

    @property
    def last(self) -> Point:
        return self.points[-1]


def history_curves(history: Sequence[Mapping[str, Any]]) -> list[Curve]:
    """Return the curves of loss and validation MRR over epochs; a curve without values is left out."""
    found = (("Loss", values_of(history, "loss")), ("Validation MRR", values_of(history, "validation_mrr")))
    return [_curve(label, values) for label, values in found if values]


def values_of(history: Sequence[Mapping[str, Any]], key: str) -> dict[int, float]:
    """Return one figure of a history by epoch; epochs without it are left out."""
    return {int(row["epoch"]): float(row[key]) for row in history if row.get(key) is not None}


def _curve(label: str, values: Mapping[int, float]) -> Curve:
    last, low, high = max(values), min(values.values()), max(values.values())
    epochs, span = max(last - 1, 1), (high - low) or 1.0

    def height(value: float) -> float:
        return TOP + (high - value) / span * (HEIGHT - TOP - BOTTOM)

    points = [
        Point(LEFT + (epoch - 1) / epochs * (WIDTH - LEFT - RIGHT), height(value), epoch, value)
        for epoch, value in values.items()
    ]
    ticks = [(height(value), f"{value:.3f}") for value in ({low, high} if low != high else {low})]
    return Curve(label, points, ticks, last)


@dataclass(frozen=True)
class Compared:
    """Hold one chart of several systems, as core/charts draws it, and the table beneath."""

    key: str
    title: str
    data: dict[str, Any]
    columns: list[str]
    rows: list[tuple[int, list[float | None]]]  # epoch, value of each column


def compared_charts(systems: Sequence[tuple[str, int, Sequence[Mapping[str, Any]]]]) -> list[Compared]:
    """Chart validation MRR and loss over epochs of several systems, given as name, colour and history."""
    charts = []
    for title, key in (("Validation MRR", "validation_mrr"), ("Loss", "loss")):
        found = {label: (colour, values_of(history, key)) for label, colour, history in systems}
        if curves := {label: curve for label, curve in found.items() if curve[1]}:
            charts.append(_compared(key.replace("_", "-"), title, curves))
    return charts


def _compared(name: str, title: str, curves: Mapping[str, tuple[int, Mapping[int, float]]]) -> Compared:
    series = [
        {"name": label, "x": list(values), "y": list(values.values()), "system": colour}
        for label, (colour, values) in curves.items()
    ]
    epochs = sorted({epoch for _, values in curves.values() for epoch in values})
    rows = [(epoch, [values.get(epoch) for _, values in curves.values()]) for epoch in epochs]
    label = f"{title} by epoch of {len(curves)} system{'s' if len(curves) != 1 else ''}"
    drawn = chart(name, "lines", label, series=series, x="epoch", y=title[:1].lower() + title[1:])
    return Compared(name, title, drawn, list(curves), rows)


def chart(key: str, kind: str, label: str, **data: Any) -> dict[str, Any]:
    """Return a chart as core/charts draws it; `label` is what a screen reader says."""
    return {"key": key, "kind": kind, "label": label, "data": data}
