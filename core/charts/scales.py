"""Turn values into pixels, and choose round ticks."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
TINY, HUGE = 1e-3, 1e5  # beyond these, numbers are written with an exponent
Tick = tuple[float, str]


@dataclass(frozen=True)
class Scale:
    """Map the values from `low` to `high` to the pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    ticks: Sequence[Tick]
    log: bool = False

    def at(self, value: float) -> float:
        low, high, own = self.low, self.high, value
        if self.log:
            low, high, own = math.log10(low), math.log10(high), math.log10(own)
        return self.start + (own - low) / (high - low) * (self.end - self.start)

    def holds(self, value: float | None) -> bool:
        """Tell whether a value exists and is within the scale."""
        slack = 1e-9 * (self.high - self.low)
        return is_number(value) and self.low - slack <= float(value or 0.0) <= self.high + slack

    def clip(self, value: float) -> float:
        return min(max(value, self.low), self.high)


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def scale_of(values: Iterable[Any], axis: dict[str, Any], start: float, end: float, room: float) -> Scale:
    """Return the scale of an axis: its own range, or one that holds the values and ends at round ticks.

    `axis` has any of range, rangemode ("tozero"), type ("log"), autorange ("reversed"), tickvals, ticktext,
    tickformat, and tight: it ends at the outer values. `room` is how many pixels a tick needs.
    """
    found = [float(v) for v in values if is_number(v)]
    wanted = max(2, int(abs(end - start) / room))
    if axis.get("autorange") == "reversed":
        start, end = end, start
    if axis.get("type") == "log":
        return _log_scale([v for v in found if v > 0], start, end, wanted, bool(axis.get("tight")))
    if axis.get("rangemode") == "tozero":
        found.append(0.0)
    low, high = axis["range"] if axis.get("range") else _ends(found)
    counts = not axis.get("range") and high - low > 2 and all(v.is_integer() for v in found)
    if axis.get("rangemode") == "tozero" and not axis.get("range") and not any(found):  # no bar has a height
        low, high, counts = 0.0, 1.0, True
    step = _step((high - low) / wanted, whole=counts)
    if not axis.get("range") and not axis.get("tight"):
        low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    if axis.get("tickvals") is not None:
        named = zip(axis["tickvals"], axis.get("ticktext") or map(str, axis["tickvals"]), strict=True)
        return Scale(low, high, start, end, [(float(v), str(t)) for v, t in named])
    first = math.ceil(low / step - 1e-9)
    places = [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]
    return Scale(low, high, start, end, [(v, tick_text(v, step, axis.get("tickformat", ""))) for v in places])


def _ends(values: Sequence[float]) -> tuple[float, float]:
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    if low == high:
        return low - (abs(low) / 10 or 0.5), high + (abs(high) / 10 or 0.5)
    return low, high


def _step(rough: float, whole: bool = False) -> float:
    """Return the smallest round number that is at least `rough`; a whole number if what is drawn are counts."""
    power = 10.0 ** max(math.floor(math.log10(rough)), 0 if whole else -math.inf)
    steps = (power * step for step in STEPS if not whole or (power * step).is_integer())
    return next(step for step in steps if step >= rough * (1 - 1e-9))


def _log_scale(values: Sequence[float], start: float, end: float, wanted: int, tight: bool) -> Scale:
    low, high = _ends(values) if values else (1.0, 10.0)
    first, last = math.floor(math.log10(max(low, 1e-300)) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    last = max(last, first + 1)
    every = max(1, math.ceil((last - first) / wanted))
    low, high = (low, high) if tight else (10.0**first, 10.0**last)
    powers = [10.0**k for k in range(first, last + 1, every) if low * (1 - 1e-9) <= 10.0**k <= high * (1 + 1e-9)]
    return Scale(low, high, start, end, [(v, _power(v)) for v in powers], log=True)


def _power(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:.6f}".rstrip("0") if value >= 1e-6 else minus(f"{value:.0e}")


def tick_text(value: float, step: float, form: str = "") -> str:
    if form.endswith("%"):
        return minus(f"{100 * value:.{_decimals(100 * step)}f} %")
    return minus(f"{value:,.{_decimals(step)}f}")


def _decimals(step: float) -> int:
    """Return how many decimals tell ticks of this step apart."""
    for decimals in range(12):
        if abs(round(step, decimals) - step) < step * 1e-6:
            return decimals
    return 12


def exact(value: Any, form: str = "") -> str:
    """Write a value for hover, in the precision of our tables."""
    if not is_number(value):
        return "undefined" if value is None else str(value)
    if form.endswith("%"):
        return minus(f"{100 * value:.2f} %")
    if value == int(value) and abs(value) < 1e15:
        return minus(f"{int(value):,}")
    if TINY <= abs(value) < HUGE:
        return minus(f"{value:,.4f}" if abs(value) < 100 else f"{value:,.1f}")
    return minus(f"{value:.3g}")


def minus(text: str) -> str:
    """Put a true minus; a zero has none."""
    if text.startswith("-") and not any(c in "123456789" for c in text):
        text = text[1:]
    return text.replace("-", "−")
