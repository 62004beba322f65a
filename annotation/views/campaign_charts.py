"""The charts of a campaign's overview: labels a day, and agreement by week with its interval."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from annotation.quality.reports import GroupAgreement
from pooling.training.curves import chart


def labels_chart(days: Sequence[tuple[date, int]]) -> dict[str, Any]:
    """Return bars of the labels of each day."""
    names = [f"{day:%-d %b}" for day, _ in days]
    series = [{"name": "labels", "colour": "--accent", "x": names, "y": [n for _, n in days]}]
    axes = {"y": "labels", "xaxis": {"type": "category"}}
    return chart("labels-a-day", "bars", f"Labels a day over {len(days)} days", series=series, **axes)


def agreement_chart(weeks: Sequence[GroupAgreement]) -> dict[str, Any] | None:
    """Return the raw agreement of each week with its 95 % interval; None before there are two weeks."""
    found = [(week.name, raw, raw.interval) for week in weeks if (raw := week.agreement.raw).n]
    if len(found) < 2:  # one point is no course: the page of agreement has it
        return None
    series = {
        "name": "agreement",
        "colour": "--accent",
        "x": [name for name, _, _ in found],
        "y": [raw.value or 0.0 for _, raw, _ in found],
        "low": [low for _, _, between in found for low, _ in [between or (0.0, 1.0)]],
        "high": [high for _, _, between in found for _, high in [between or (0.0, 1.0)]],
    }
    axes = {"y": "items with two equal labels", "xaxis": {"type": "category"}, "possible": [0, 1]}
    label = f"Raw agreement by week, over {len(found)} week{'s' if len(found) != 1 else ''}"
    return chart("agreement-by-week", "lines", label, series=[series], yaxis={"tickformat": ".0%"}, **axes)
