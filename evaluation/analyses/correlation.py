"""Build the page Correlation: how much two label sets, or two measures, agree on the order of the systems."""

from collections.abc import Mapping

import numpy as np

from evaluation.analyses.first_measure import against_first
from evaluation.analyses.matrices import between_many_sets, between_measures
from evaluation.measures.question_sums import question_sums
from evaluation.measures.values import Values
from evaluation.sections.coefficients import (
    LEVEL,
    RESAMPLES,
    Intervals,
    Means,
    coefficient_points,
    coefficient_table,
    places_section,
    resample_notes,
    resampled,
)
from evaluation.sections.section import Analysis, Column, Context, Part, Section, evaluated
from evaluation.sections.wording import both_captions, set_notes, signed, steps, undefined_notes
from evaluation.statistics.bootstrap import bootstrap_correlations


def between_sets(context: Context) -> list[Section]:
    """Compare the two chosen label sets: coefficients of every measure, and the slope chart of the first."""
    names, assumed = context.settings.measures, context.settings.assumed_is_judged
    found, before = context.labels.values(names, assumed), context.against.values(names, assumed)
    one, other = ({name: question_sums(of[name]) for name in names} for of in (before, found))
    intervals = bootstrap_correlations(one, other, context.rng(1), resamples=RESAMPLES, level=LEVEL)
    means = {name: (before[name].mean(), found[name].mean()) for name in names}
    notes = [
        *set_notes(context.labels, context.against),
        *undefined_notes(context.against, before, context.measures, context.systems),
        *undefined_notes(context.labels, found, context.measures, context.systems),
    ]
    return [_coefficients(context, intervals, means, notes), _places(context, before, found)]


def _coefficients(context: Context, intervals: Intervals, means: Means, notes: list[str]) -> Section:
    title = f"{context.against.name} against {context.labels.name}"
    return Section(
        "between",
        title[:1].upper() + title[1:],
        "How much the two label sets agree on the order of the systems, by four coefficients: 1 is the same order, −1"
        f" the reversed one (RBO: 0 to 1). {steps(len(context.systems))}",
        f"{both_captions(context)} n = {evaluated(context.against)}, and {evaluated(context.labels)}."
        f" {resampled(context.settings.seed)}",
        [coefficient_table("between", title, context.measures, intervals, means)],
        coefficient_points(
            f"Four coefficients by measure, {title}, with intervals", dict(enumerate(context.measures)), intervals
        ),
        _agreement(context, intervals),
        [*notes, *resample_notes(intervals)],
    )


def _agreement(context: Context, intervals: Intervals) -> str:
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


def _places(context: Context, before: Mapping[str, Values], found: Mapping[str, Values]) -> Section:
    measure = context.measures[0]
    both = (before[measure.name], found[measure.name])
    title = f"Places by {measure.label}"
    return places_section(
        context,
        "places",
        title,
        "The order of the systems by the first of the chosen measures on both label sets. Lines that cross are pairs"
        " of systems whose comparison turns; systems with equal values share a place.",
        f"{both_captions(context)} n = {both[0].n:,} and {both[1].n:,} {both[0].unit}s.",
        (Column("against", context.against.name), Column("labels", context.labels.name)),
        both,
        f"{title}, from {context.against.name} to {context.labels.name}",
    )


ANALYSIS = Analysis(
    "correlation",
    "Correlation",
    "Correlation",
    "How much do two label sets, or two measures, agree on the order of the systems?",
    "correlation",
    ("labels", "against", "measures", "questions", "assumed", "seed"),
    (
        Part("between", between_sets),
        Part("first", against_first),
        Part("measures", between_measures),
        Part("sets", between_many_sets),
    ),
    also=("current",),
)
