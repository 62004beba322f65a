"""Show how two orders compare: coefficients with their intervals, and a slope chart of the places."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evaluation.measures.rank_table import Floats
from evaluation.measures.registry import Measure
from evaluation.measures.values import Values
from evaluation.sections.section import Cell, Chart, Column, Context, Section, Table, cell, number, numbers, seed_cells
from evaluation.sections.seed_notes import draws_seeds
from evaluation.sections.wording import (
    beside,
    compared,
    named_ticks,
    place_cell,
    places_on_both,
    rows_without_overlap,
    signed,
    why_no_tau,
)
from evaluation.statistics.bootstrap import Interval
from evaluation.statistics.correlation import CORRELATIONS
from evaluation.statistics.seeds import SeedSpread

RESAMPLES = 1000
LEVEL = 0.95
Intervals = Mapping[str, Mapping[str, Interval]]  # {measure: {coefficient: interval}}
Means = Mapping[str, tuple[Floats, Floats]]  # {measure: means [systems] of both sides}


def resampled(context: Context) -> str:
    """Say in a caption how intervals were made."""
    return (
        f"Brackets and bars: {100 * LEVEL:g} % percentile interval of {RESAMPLES:,} bootstrap resamples of the"
        f" questions, seed {context.settings.seed}; a drawn question brings all its answers.{draws_seeds(context)}"
    )


def coefficient_table(
    key: str,
    title: str,
    measures: Sequence[Measure],
    intervals: Intervals,
    means: Means,
    both: str = "under both label sets",
    either: str = "under either label set",
) -> Table:
    """Build a table with a row for each measure; `both` and `either` name the two orders in notes."""
    rows: list[list[Cell]] = []
    for measure in measures:
        systems = compared(*means[measure.name])
        row: list[Cell] = [measure.label]
        for name in CORRELATIONS:
            found = intervals[measure.name][name]
            ends = {"low": number(found.low), "high": number(found.high)} if found.defined else {}
            row.append(cell(found.value, why_no_tau(systems), **ends))
        some = next(iter(intervals[measure.name].values()))
        rows.append([*row, systems, some.questions])
    columns = [
        Column("measure", "Measure", "measure"),
        *(Column(c.name, c.label, "tau", f"{c.description} Source: {c.source}.") for c in CORRELATIONS.values()),
        Column("systems", "Systems", "count", f"Systems with a value {both}."),
        Column("questions", "Questions", "count", f"Evaluated {either}, drawn with replacement."),
    ]
    return Table(key, title, columns, rows)


def resample_notes(intervals: Intervals) -> list[str]:
    """Say how many resamples intervals have at least, where some resamples tie all systems."""
    least = min(
        (one.defined for row in intervals.values() for one in row.values() if np.isfinite(one.value)), default=RESAMPLES
    )
    if least == RESAMPLES:
        return []
    return [
        "Where all systems tie, a resample has no tau and is left out: each interval rests on at least"
        f" {least:,} of {RESAMPLES:,} resamples."
    ]


def coefficient_points(label: str, measures: Mapping[int, Measure], intervals: Intervals) -> Chart:
    """Draw a group of points for each coefficient, its measures side by side; `measures` by their colour."""
    series: list[dict[str, Any]] = []
    for at, (i, measure) in enumerate(measures.items()):
        found = [intervals[measure.name][name] for name in CORRELATIONS]
        offset = beside(at, len(measures))
        series.append(
            {
                "measure": i,
                "name": measure.label,
                "x": [place + offset for place in range(len(found))],
                "y": numbers([one.value for one in found]),
                "low": numbers([one.low for one in found]),
                "high": numbers([one.high for one in found]),
                "hover": [
                    f"{measure.label}, {entry.label}: {with_interval(one)}"
                    for entry, one in zip(CORRELATIONS.values(), found, strict=True)
                ],
            }
        )
    return Chart(
        "points",
        label,
        {
            "series": series,
            "y": "coefficient",
            "yrange": [-1.05, 1.05],
            "xaxis": named_ticks([_short(entry.label) for entry in CORRELATIONS.values()], divided=True),
        },
    )


def _short(label: str) -> str:
    """ "tau-b" of "Kendall's tau-b", "RBO" of "RBO (p = 0.9)"."""
    return label.split("'s ")[-1].split(" (")[0]


def with_interval(found: Interval) -> str:
    if not np.isfinite(found.value):
        return "undefined"
    if not found.defined:
        return signed(found.value)
    return f"{signed(found.value)} ({signed(found.low)} to {signed(found.high)})"


# -- places -----------------------------------------------------------------------------------------------------


def slope(
    label: str, sides: tuple[str, str], systems: Sequence[str], left: Sequence[int | None], right: Sequence[int | None]
) -> Chart:
    """Draw the places of the systems in two orders, named by `sides`; a system without a place has no line."""
    left_row, right_row = rows_without_overlap(left, right), rows_without_overlap(right, left)
    return Chart(
        "slope",
        label,
        {
            "left": sides[0],
            "right": sides[1],
            "lines": [
                {
                    "system": i,
                    "name": system,
                    "left": left[i],
                    "right": right[i],
                    "left_row": left_row[i],
                    "right_row": right_row[i],
                }
                for i, system in enumerate(systems)
                if left_row[i] is not None
            ],
        },
    )


def places_section(
    context: Context,
    key: str,
    title: str,
    text: str,
    caption: str,
    columns: tuple[Column, Column],
    both: tuple[Values, Values],
    spread: SeedSpread | None,
    chart: str,
) -> Section:
    """Build the section of places in two orders, with a column of values and one of places for each.

    `spread` is that of both means over seeds, [systems, 2].
    """
    one, other = both
    left, right = places_on_both(one.mean(), other.mean(), one.higher_is_better, other.higher_is_better)
    reasons = [values.reasons() for values in both]
    rows: list[list[Cell]] = [[system] for system in context.systems]
    for side, (values, places, why) in enumerate(zip(both, (left, right), reasons, strict=True)):
        means = seed_cells([*map(cell, values.mean(), why)], spread and spread.at(side))
        for row, mean, place, *whys in zip(rows, means, places, *reasons, strict=True):
            row += [mean, place_cell(place, whys[0] or whys[1])]
    wide = [(column, Column(f"{column.key}_place", f"Place, {column.label}", "count")) for column in columns]
    table = Table(key, title, [Column("system", "System", "system"), *wide[0], *wide[1]], rows)
    names = (columns[0].label, columns[1].label)
    drawn = slope(chart, names, context.systems, left, right)
    return Section(key, title, text, caption, [table], drawn, turned(left, right))


def turned(left: Sequence[int | None], right: Sequence[int | None]) -> str:
    """Say how many pairs of systems change their order."""
    defined = [(a, b) for a, b in zip(left, right, strict=True) if a is not None and b is not None]
    pairs = [(one, other) for i, one in enumerate(defined) for other in defined[i + 1 :]]
    if not pairs:
        return "There is no pair of systems to compare."
    count = sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in pairs)
    return f"{count} of {len(pairs)} pairs of systems turn{'s' if count == 1 else ''} round."
