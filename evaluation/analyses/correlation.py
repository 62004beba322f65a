"""Build the page Correlation: how much two label sets, or two measures, agree on the order of the systems."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from evaluation.analyses.matrices import between_many_sets, between_measures
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
from evaluation.sections.section import Analysis, Column, Context, Part, Section, evaluated, label_caption
from evaluation.sections.wording import both_captions, set_notes, signed, steps, undefined_notes, words
from evaluation.statistics.bootstrap import bootstrap_correlations
from evaluation.statistics.seeds import SeedSpread

ByName = Mapping[str, Values]  # of measures
SCALE = "by four coefficients: 1 is the same order, −1 the reversed one (RBO: 0 to 1)."


Sides = tuple[ByName, ByName]


def _intervals(context: Context, sides: Callable[[Context], Sides], own: Sides, part: int) -> Intervals:
    """Return the intervals between both sides, `own` in this context; all their seeds where families are drawn from."""
    families = context.drawn_families
    one, other = (
        {name: question_sums(value) for name, value in side.items()}
        for side in (sides(context.each) if families else own)
    )
    return bootstrap_correlations(one, other, context.rng(part), RESAMPLES, LEVEL, families=families)


def _spread(context: Context, sides: Callable[[Context], Sides], measure: Measure) -> SeedSpread | None:
    """Return the spread over seeds of the means on both sides, [systems, 2]."""
    return context.spread(lambda each: np.stack([side[measure.name].mean() for side in sides(each)], axis=1))


# -- two label sets ---------------------------------------------------------------------------------------------


def between_sets(context: Context) -> list[Section]:
    """Compare the two chosen label sets: coefficients of every measure, and the slope chart of the first."""
    labels, against = context.labels, context.against
    both = before, found = _both_sets(context)
    intervals = _intervals(context, _both_sets, both, 1)
    means = {name: (before[name].mean(), found[name].mean()) for name in found}
    title = f"{against.name} against {labels.name}"
    label = f"Four coefficients by measure, {title}, with intervals"
    return [
        Section(
            "between",
            title[:1].upper() + title[1:],
            f"How much the two label sets agree on the order of the systems, {SCALE} {steps(len(context.systems))}",
            f"{both_captions(context)} n = {evaluated(against)}, and {evaluated(labels)}. {resampled(context)}",
            [coefficient_table("between", title, context.measures, intervals, means)],
            coefficient_points(label, dict(enumerate(context.measures)), intervals),
            _sets_agree(context, intervals),
            [
                *set_notes(labels, against),
                *undefined_notes(against, before, context.measures, context.systems),
                *undefined_notes(labels, found, context.measures, context.systems),
                *resample_notes(intervals),
            ],
        ),
        _places(context, both),
    ]


def _both_sets(context: Context) -> Sides:
    names, assumed = context.settings.measures, context.settings.assumed_is_judged
    return context.against.values(names, assumed), context.labels.values(names, assumed)


def _sets_agree(context: Context, intervals: Intervals) -> str:
    if not context.measures or context.labels.key == context.against.key:
        return "Both are the same label set." if context.measures else ""
    first = context.measures[0]
    tau = intervals[first.name]["tau_b"]
    if not np.isfinite(tau.value):
        text = f"By {first.label} tau-b is undefined."
    else:
        sure = f" ({100 * LEVEL:g} % interval {signed(tau.low)} to {signed(tau.high)})" if tau.defined else ""
        text = f"By {first.label} the two orders agree with tau-b {signed(tau.value)}{sure}."
    defined = {m.label: intervals[m.name]["tau_b"].value for m in context.measures}
    defined = {label: value for label, value in defined.items() if np.isfinite(value)}
    if len(defined) < 2:
        return text
    low, high = min(defined, key=defined.__getitem__), max(defined, key=defined.__getitem__)
    if defined[low] == defined[high]:
        return f"{text} All {len(defined)} measures give the same tau-b."
    ends = f"{signed(defined[low])} ({low}) and {signed(defined[high])} ({high})"
    return f"{text} Over the measures it lies between {ends}."


def _places(context: Context, sides: Sides) -> Section:
    measure = context.measures[0]
    both = one, other = sides[0][measure.name], sides[1][measure.name]
    title = f"Places by {measure.label}"
    return places_section(
        context,
        "places",
        title,
        "The order of the systems by the first of the chosen measures on both label sets. Lines that cross are pairs"
        " of systems whose comparison turns; systems with equal values share a place.",
        f"{both_captions(context)} n = {one.n:,} and {other.n:,} {one.unit}s.",
        (Column("against", context.against.name), Column("labels", context.labels.name)),
        both,
        _spread(context, _both_sets, measure),
        f"{title}, from {context.against.name} to {context.labels.name}",
    )


# -- two measures -----------------------------------------------------------------------------------------------


def against_first(context: Context) -> list[Section]:
    """Compare the first chosen measure with each other one on the same labels; [] for one measure only."""
    chosen, settings = context.labels, context.settings
    if len(context.measures) < 2:
        return []
    first, *others = context.measures
    both = by_first, by_other = _by_measures(context)
    found = {first.name: by_first[others[0].name], **by_other}
    intervals = _intervals(context, _by_measures, both, 2)
    means = {m.name: (by_first[m.name].mean(), by_other[m.name].mean()) for m in others}
    title = f"{first.label} against the other measures, under {chosen.name}"
    caption = f"{label_caption(chosen, settings)} n = {evaluated(chosen)}."
    label = f"Four coefficients, {title}, with intervals"
    return [
        Section(
            "first",
            title,
            "How much the order by the first of the chosen measures agrees with the order by each other one, on the"
            f" same labels, {SCALE} {steps(len(context.systems))}",
            f"{caption} {resampled(context)}",
            [coefficient_table("first", title, others, intervals, means, "by both measures", "by either measure")],
            coefficient_points(label, dict(enumerate(others, start=1)), intervals),
            _measures_agree(first, others, intervals),
            [
                *set_notes(chosen),
                *undefined_notes(chosen, found, context.measures, context.systems),
                *resample_notes(intervals),
            ],
        ),
        _places_by_two(context, first, others[0], both, caption),
    ]


def _by_measures(context: Context) -> Sides:
    """Return the values by the first measure and by each other one; a pair has one key, that of the other one."""
    found = context.labels.values(context.settings.measures, context.settings.assumed_is_judged)
    first, *others = context.measures
    return {m.name: found[first.name] for m in others}, {m.name: found[m.name] for m in others}


def _measures_agree(first: Measure, others: Sequence[Measure], intervals: Intervals) -> str:
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


def _places_by_two(context: Context, first: Measure, second: Measure, sides: Sides, caption: str) -> Section:
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
        (sides[0][second.name], sides[1][second.name]),
        _spread(context, _by_measures, second),
        f"{title}, under {context.labels.name}",
    )


ANALYSIS = Analysis(
    "correlation",
    "Correlation",
    "How much do two label sets, or two measures, agree on the order of the systems?",
    "correlation",
    ("labels", "against", "measures", "questions", "assumed", "seed", "seeds", "training"),
    (
        Part("between", between_sets),
        Part("first", against_first),
        Part("measures", between_measures),
        Part("sets", between_many_sets),
    ),
    also=("current",),
    full_test=True,
    group="Reliability",
)
