"""Compare the first chosen measure with each other one on the same labels, for the page Correlation."""

from collections.abc import Mapping, Sequence

import numpy as np

from evaluation.measures.question_sums import question_sums
from evaluation.measures.registry import Measure
from evaluation.measures.values import Values
from evaluation.sections.coefficients import (
    LEVEL,
    RESAMPLES,
    Intervals,
    coefficient_points,
    coefficient_table,
    places_section,
    resample_notes,
    resampled,
    with_interval,
)
from evaluation.sections.section import Column, Context, Section, evaluated, label_caption
from evaluation.sections.wording import set_notes, signed, steps, undefined_notes, words
from evaluation.statistics.bootstrap import bootstrap_correlations


def against_first(context: Context) -> list[Section]:
    """Return the coefficients of each pair, and the slope chart with the second measure; [] for one measure only."""
    chosen, settings = context.labels, context.settings
    if len(context.measures) < 2:
        return []
    found = chosen.values(settings.measures, settings.assumed_is_judged)
    first, *others = context.measures
    sums = {name: question_sums(value) for name, value in found.items()}
    intervals = bootstrap_correlations(  # a pair of measures has one key: that of the other one
        {other.name: sums[first.name] for other in others},
        {other.name: sums[other.name] for other in others},
        context.rng(2),
        resamples=RESAMPLES,
        level=LEVEL,
    )
    means = {other.name: (found[first.name].mean(), found[other.name].mean()) for other in others}
    title = f"{first.label} against the other measures, under {chosen.name}"
    caption = f"{label_caption(chosen, settings)} n = {evaluated(chosen)}."
    table = coefficient_table("first", title, others, intervals, means, "by both measures", "by either measure")
    return [
        Section(
            "first",
            title,
            "How much the order by the first of the chosen measures agrees with the order by each other one, on the"
            " same labels, by four coefficients: 1 is the same order, −1 the reversed one (RBO: 0 to 1)."
            f" {steps(len(context.systems))}",
            f"{caption} {resampled(settings.seed)}",
            [table],
            coefficient_points(
                f"Four coefficients, {title}, with intervals", dict(enumerate(others, start=1)), intervals
            ),
            _agreement(first, others, intervals),
            [
                *set_notes(chosen),
                *undefined_notes(chosen, found, context.measures, context.systems),
                *resample_notes(intervals),
            ],
        ),
        _places(context, first, others[0], found, caption),
    ]


def _agreement(first: Measure, others: Sequence[Measure], intervals: Intervals) -> str:
    defined = [m for m in others if np.isfinite(intervals[m.name]["tau_b"].value)]
    if not defined:
        return f"Tau-b of {first.label} with {'the other' if len(others) == 1 else 'every other'} measure is undefined."
    if len(defined) == 1:
        return f"{first.label} and {defined[0].label}: tau-b {with_interval(intervals[defined[0].name]['tau_b'])}."
    by_tau: dict[float, list[str]] = {}
    for m in defined:
        by_tau.setdefault(intervals[m.name]["tau_b"].value, []).append(m.label)
    low, high = min(by_tau), max(by_tau)
    if low == high:
        return f"{first.label} agrees with every other measure with tau-b {signed(low)}."
    return (
        f"{first.label} agrees least with {words(by_tau[low])} (tau-b {signed(low)}), most with"
        f" {words(by_tau[high])} ({signed(high)})."
    )


def _places(context: Context, first: Measure, second: Measure, found: Mapping[str, Values], caption: str) -> Section:
    title = f"Places by {first.label} and by {second.label}"
    one, other = (Column(m.name, m.label, "value", m.description) for m in (first, second))
    return places_section(
        context,
        "first-places",
        title,
        "The order of the systems by the first two of the chosen measures, on the same labels. Lines that cross are"
        " pairs of systems whose comparison depends on the measure; systems with equal values share a place.",
        caption,
        (one, other),
        (found[first.name], found[second.name]),
        f"{title}, under {context.labels.name}",
    )
