"""Measure names, cut long ones, and keep labels from lying over each other."""

from collections.abc import Sequence
from itertools import pairwise

GAP = 14.0  # between the lines of two labels
AWAY = (20.0, 34.0, 50.0)  # pixels from a point to a label that finds no room beside it
NARROW, WIDE = set("ijltfrI.,:;'|!()[]/ "), set("mwMWABCDGHKNOQRUVXYZ@%–—−")


def width_of(text: str, size: float = 12.0) -> float:
    """Estimate the width of a text in pixels; a little too wide rather than too narrow."""
    return size * sum(0.34 if c in NARROW else 0.8 if c in WIDE else 0.58 for c in text)


def shorten(text: str, width: float, size: float = 12.0) -> str:
    """Cut a text to a width: a path at its beginning, since paths differ at their end, other names at their end."""
    if width_of(text, size) <= width:
        return text
    from_front = "/" in text or text.startswith("…")
    kept = text.lstrip("…")
    while kept and width_of(f"…{kept}", size) > width:
        kept = kept[1:] if from_front else kept[:-1]
    return f"…{kept}" if from_front else f"{kept.rstrip()}…"


def spread(wanted: Sequence[float], low: float, high: float, gap: float = GAP) -> list[float]:
    """Return places near the wanted ones that are at least `gap` apart and within low and high.

    Where they don't fit, they are as far apart as there is room.
    """
    if not wanted:
        return []
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    if len(wanted) > 1:
        gap = min(gap, (high - low) / (len(wanted) - 1))
    clusters: list[list[float]] = []  # [middle of its wanted places, members]
    for i in order:
        clusters.append([wanted[i], 1.0])
        while len(clusters) > 1 and _overlap(clusters[-2], clusters[-1], low, high, gap):
            (a, m), (b, n) = clusters[-2:]
            clusters[-2:] = [[(a * m + b * n) / (m + n), m + n]]
    places = [
        _start(cluster, low, high, gap) + k * gap for cluster in clusters for k in range(int(cluster[1]))
    ]  # fmt: skip
    found = [0.0] * len(wanted)
    for i, place in zip(order, places, strict=True):
        found[i] = place
    return found


def _start(cluster: Sequence[float], low: float, high: float, gap: float) -> float:
    """Return the place of the first label of a cluster, which is pushed inside the ends."""
    middle, count = cluster
    half = (count - 1) * gap / 2
    return min(max(middle - half, low), high - 2 * half)


def _overlap(one: Sequence[float], other: Sequence[float], low: float, high: float, gap: float) -> bool:
    end = _start(one, low, high, gap) + (one[1] - 1) * gap
    return _start(other, low, high, gap) < end + gap - 1e-9


def apart(places: Sequence[float], gap: float = GAP) -> bool:
    """Tell whether sorted places are at least `gap` apart."""
    return all(b - a >= gap - 1e-6 for a, b in pairwise(sorted(places)))


class Taken:
    """Remember rectangles, and find a free place for a label beside a point."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.boxes: list[tuple[float, float, float, float]] = []

    def add(self, x: float, y: float, width: float, height: float) -> None:
        self.boxes.append((x, y, x + width, y + height))

    def place(self, x: float, y: float, width: float, size: float = 12.0) -> tuple[float, float] | None:
        """Return where a label of this width starts (baseline) beside a point; None where there is no room."""
        beside = [(x + 8, y + 4), (x - 8 - width, y + 4)]
        over = [(x - width / 2, y - 9), (x - width / 2, y + 18)]
        corners = [(x + 6, y - 7), (x + 6, y + 15), (x - 6 - width, y - 7), (x - 6 - width, y + 15)]
        return self._first_free([*beside, *over, *corners], width, size)

    def place_away(self, x: float, y: float, width: float, size: float = 12.0) -> tuple[float, float] | None:
        """Return where a label starts (baseline) a little away from a point, so that it needs a line to it."""
        tried = []
        for far in AWAY:
            sides = [(x + far, y + 4 + far / 2), (x - far - width, y + 4 - far / 2)]
            others = [(x + far, y + 4 - far / 2), (x - far - width, y + 4 + far / 2)]
            tried += [*sides, *others, (x - width / 2, y + far + 12), (x - width / 2, y - far)]
        return self._first_free(tried, width, size)

    def _first_free(
        self, tried: Sequence[tuple[float, float]], width: float, size: float
    ) -> tuple[float, float] | None:
        for left, base in tried:
            box = (left, base - size + 2, left + width, base + 3)
            inside = box[0] >= 0 and box[1] >= 0 and box[2] <= self.width and box[3] <= self.height
            if inside and not any(_cross(box, other) for other in self.boxes):
                self.boxes.append(box)
                return left, base
        return None


def _cross(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
