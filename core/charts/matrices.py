"""Draw a matrix of numbers as a heat map whose colours span its own values."""

import math
from collections.abc import Sequence
from typing import Any

from core.charts.frame import SMALL_TEXT, WIDE, Data, Drawing
from core.charts.labels import shorten, width_of
from core.charts.marks import px, rect, text
from core.charts.scales import exact, is_number, minus

ROW = 28.0
SLANT = 0.72  # of the length of a name turned by 45 degrees
PALE, FULL = 0.06, 0.9  # opacities
HALF, DEEP = 0.63, 0.86  # from here on text is black in both themes; from there on white in the light one
OWN, OWN_MEANS = "cell own", "with itself"  # of the diagonal of a square: class, and words of the key
LEAST_P = 4.0  # -log10 of a p-value that has the full colour


def matrix(data: Data, width: float) -> Drawing:
    """Draw `rows`, `columns`: names; `values`: [rows][columns] or None; `smallest`: they are p-values, down to it."""
    rows, columns, values = data["rows"], data["columns"], data["values"]
    left = min(max(map(width_of, rows), default=0) + 16, width * (0.3 if width == WIDE else 0.34))
    told = [[_told(value, data) for value in row] for row in values]
    longest = max(map(width_of, columns), default=0)
    wide = min(84.0, (width - left) / max(len(columns), 1))
    turned = longest > wide - 6
    top = min(longest * SLANT + 16, 120.0) if turned else 22.0
    if turned:  # the last name leans over the right edge
        wide = min(wide, (width - left - (top - 16)) / (len(columns) - 0.5))
    shade = _shade(data)
    is_square = list(rows) == list(columns)
    fits = all(width_of(own, SMALL_TEXT) <= wide - 4 for row in told for own in row)
    body = [_heads(columns, left, wide, top, turned)]
    for i, name in enumerate(rows):
        y = top + i * ROW
        body.append(text(left - 10, y + ROW / 2 + 3, shorten(name, left - 12), "end", whole=name))
        for j, column in enumerate(columns):
            is_own = is_square and i == j
            strength = 0.0 if is_own else shade(values[i][j])
            title = f"{name}: {told[i][j]}" if is_own else f"{name}, {column}: {told[i][j]}"
            body.append(_cell(left + j * wide, y, wide, strength, title, is_own=is_own))
            if fits:
                body.append(text(left + (j + 0.5) * wide, y + ROW / 2 + 3, told[i][j], "middle", _text_kind(strength)))
    bottom = top + len(rows) * ROW
    scale, end = _scale_key(data, left, bottom + 10)
    body.append(scale)
    if not is_square:
        return Drawing(width, bottom + 30, "".join(body))
    fits_beside = end + 18 + 25 + width_of(OWN_MEANS, SMALL_TEXT) <= width
    x, y = (end + 18, bottom + 10) if fits_beside else (left, bottom + 28)
    body += [rect(x, y + 1, 19, 12, f'class="{OWN}"'), text(x + 25, y + 11, OWN_MEANS, kind="tick")]
    return Drawing(width, y + 20, "".join(body))


def _told(value: Any, data: Data) -> str:
    if not is_number(value):
        return "–"
    if value < data.get("smallest", float("-inf")):
        return f"< {data['smallest']}"
    if data.get("digits") is None and all(v is None or v == int(v) for row in data["values"] for v in row):
        return exact(value)
    return minus(f"{value:.{data.get('digits', 2)}f}")


def _bounds(data: Data) -> tuple[float, float]:
    """Return the least and the largest value beside the diagonal of a square, which is known beforehand."""
    rows, columns = data["rows"], data["columns"]
    is_square = list(rows) == list(columns)
    found = [
        v for i, row in enumerate(data["values"]) for j, v in enumerate(row)
        if is_number(v) and not (is_square and i == j)
    ]  # fmt: skip
    return (min(found), max(found)) if found else (0.0, 1.0)


def _shade(data: Data) -> Any:
    """Return a function from a value to its opacity, negative for a colour of its own."""
    low, high = _bounds(data)

    def of(value: Any) -> float:
        if not is_number(value):
            return 0.0
        if "smallest" in data:  # the smaller a p-value, the darker
            return PALE + (FULL - PALE) * min(-math.log10(max(value, 10**-LEAST_P)) / LEAST_P, 1.0)
        if low < 0:
            most = max(-low, high)
            return math.copysign(PALE + (FULL - PALE) * abs(value) / most, value) if most else 0.0
        share = (value - low) / (high - low) if high > low else 0.5
        return PALE + (FULL - PALE) * min(max(share, 0.0), 1.0)

    return of


def _cell(x: float, y: float, wide: float, strength: float, title: str, *, is_own: bool) -> str:
    """Draw a cell; `is_own`: of the diagonal, which has an outline and no colour of the scale."""
    kind = OWN if is_own else "cell empty" if not strength else "cell against" if strength < 0 else "cell"
    opacity = f' fill-opacity="{abs(strength):.2f}"' if strength else ""
    return rect(x + 1, y + 1, wide - 2, ROW - 2, f'class="{kind}"{opacity}', title)


def _text_kind(strength: float) -> str:
    """Return the classes of a cell's text, of which charts.css makes one of at least 4.5 to 1 on the cell's colour."""
    return "cell-text deep" if strength >= DEEP else "cell-text half" if abs(strength) >= HALF else "cell-text"


def _heads(columns: Sequence[str], left: float, wide: float, top: float, turned: bool) -> str:
    found = []
    for j, name in enumerate(columns):
        x = left + (j + 0.5) * wide
        if turned:
            short = shorten(name, (top - 14) / SLANT)
            turn = f' transform="rotate(-45 {px(x)} {px(top - 8)})"'
            found.append(text(x, top - 8, short, whole=name, more=turn))
        else:
            found.append(text(x, top - 8, name, "middle"))
    return "".join(found)


def _scale_key(data: Data, x: float, y: float) -> tuple[str, float]:
    """Draw what the colours mean: five steps between the least and the largest value. Return it and where it ends."""
    low, high = _bounds(data)
    shade = _shade(data)
    if "smallest" in data:
        steps, ends = [1.0, 0.1, 0.01, 0.001, 10**-LEAST_P], ("p = 1", f"{data['smallest']}")
    else:
        low = -max(-low, high) if low < 0 else low
        steps = [low + (max(high, -low) - low) * k / 4 if low < 0 else low + (high - low) * k / 4 for k in range(5)]
        ends = (_told(steps[0], data), _told(steps[-1], data))
    found = [text(x, y + 11, ends[0], kind="tick")]
    x += width_of(ends[0], SMALL_TEXT) + 6
    for k, step in enumerate(steps):
        strength = shade(step)
        kind = "cell empty" if not strength else "cell against" if strength < 0 else "cell"
        found.append(rect(x + 20 * k, y + 1, 19, 12, f'class="{kind}" fill-opacity="{abs(strength) or 1:.2f}"'))
    found.append(text(x + 106, y + 11, ends[1], kind="tick"))
    return "".join(found), x + 106 + width_of(ends[1], SMALL_TEXT)
