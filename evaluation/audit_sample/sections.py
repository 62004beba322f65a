"""Build the page Audit: how often each filter errs, and what that does to the comparison of systems."""

import numpy as np

from evaluation.audit_sample import error_rates
from evaluation.audit_sample.error_rates import ENDS, IMPUTATIONS, AuditedFilter, Effect, audited_filters
from evaluation.measures.rank_table import Floats
from evaluation.measures.registry import Measure
from evaluation.sections import section
from evaluation.sections.builders import chart, interval_cell, series_of, table_of
from evaluation.sections.section import (
    ORDER_OF_JUDGING,
    Analysis,
    Cell,
    Chart,
    Column,
    Context,
    Part,
    Section,
    Table,
    cell,
)
from evaluation.sections.wording import beside, compared, named_ticks, place_cell, places_on_both, why_no_tau, words
from pooling.pools.kernels.filters import reason_label

RATES = "audit-filters"  # the first section, where some filter has a rate
NO_SAMPLE = "no triple of this filter is in the audit sample"
NOT_JUDGED = "no triple of its sample is judged yet"
NO_VALUE = "the measure has no value now or with the missed answers"


def by_filter(context: Context) -> list[Section]:
    filters = audited_filters(context.pool)
    title = "False negatives of each filter"
    has_rates = any(one.rates is not None for one in filters)
    counts = zip(*((one.filtered, one.drawn, one.errors.n, one.errors.hits) for one in filters), strict=True)
    foot: list[Cell] = ["all filters", *map(sum, counts), "", ""]
    wilson = "positive of judged, with its 95 % Wilson interval"
    times = "rate times the triples that are still assumed negative"
    table = table_of(
        "audit-filters",
        title,
        filters,
        [
            (Column("filter", "Filter", "text"), lambda one: reason_label(one.reason)),
            (Column("filtered", "Filtered", "count"), lambda one: one.filtered),
            (Column("drawn", "In the sample", "count"), lambda one: one.drawn),
            (Column("judged", "Judged", "count", "positive or negative"), lambda one: one.errors.n),
            (Column("positive", "Positive", "count"), lambda one: one.errors.hits),
            (Column("rate", "False-negative rate", "share", wilson), lambda one: _interval(one, one.rates)),
            (Column("missed", "Expected missed", "count", times), lambda one: _interval(one, one.missed)),
        ],
        foot=foot if len(filters) > 1 else [],
    )
    undecided = sum(one.undecided for one in filters)
    notes = [f"{undecided:,} sampled triples are undecided and count for no rate."] if undecided else []
    return [
        Section(
            RATES if has_rates else "audit-no-rates",
            title,
            "Filtered triples count as negative although nobody looked. A random sample of them was judged like any"
            " other triple: the share that turned out positive is how often the filter errs.",
            f"Audit sample of pool {context.pool.name}, drawn at random from each filter. 95 % Wilson intervals.",
            [table],
            _rates_chart(filters),
            _filters_finding(filters),
            notes,
            links=[] if any(one.drawn for one in filters) or not filters else [ORDER_OF_JUDGING],
        )
    ]


def _interval(one: AuditedFilter, found: dict[str, float] | None) -> Cell:
    if found is None:
        return cell(float("nan"), NOT_JUDGED if one.drawn else NO_SAMPLE)
    return interval_cell(found["rate"], found["low"], found["high"])


def _filters_finding(filters: list[AuditedFilter]) -> str:
    known = [(one, one.missed) for one in filters if one.missed is not None]
    if not filters:
        return "No filter took a triple of this pool: there is nothing to audit."
    if not known:
        begun = any(one.drawn for one in filters)
        do = "wait for labels of the sample" if begun else "draw one on the page Order of judging"
        return f"No filtered triple has been judged in an audit sample yet: {do}."
    judged, hits = (sum(n) for n in zip(*((one.errors.n, one.errors.hits) for one, _ in known), strict=True))
    low, rate, high = (sum(missed[end] for _, missed in known) for end in ENDS)
    return (
        f"{hits:,} of {judged:,} judged filtered triples {'is' if hits == 1 else 'are'} positive:"
        f" about {rate:,.0f} answers are missed ({low:,.0f} to {high:,.0f} if all filters stood at the same end of"
        " their interval)."
    )


def _rates_chart(filters: list[AuditedFilter]) -> Chart | None:
    known = [(one, one.rates) for one in filters if one.rates is not None]
    if not known:
        return None
    low, y, high = ([rates[end] for _, rates in known] for end in ENDS)
    percents = [(one.reason, *(100 * rates[end] for end in ENDS)) for one, rates in known]
    hover = [f"{reason}: {rate:.1f} % ({least:.1f} to {most:.1f})" for reason, least, rate, most in percents]
    name, places = "false-negative rate", list(range(len(known)))
    series = series_of(name, places, y, measure=0, low=low, high=high, hover=hover)
    label = "False-negative rate of each filter with its 95 % interval"
    axis = {"tickformat": ".0%", "rangemode": "tozero"}
    ticks = named_ticks([one.reason for one, _ in known])
    return chart("points", label, [series], y=name, yaxis=axis, xaxis=ticks)


def on_measures(context: Context) -> list[Section]:
    filters = audited_filters(context.pool)
    if all(one.rates is None for one in filters):
        return []  # labels were taken back since: the part above says what to do
    found = error_rates.effects(context, filters)
    left = [one.reason for one in filters if one.rates is None]
    notes = [f"Not imputed, since they have no rate: {words(left)}."] if left else []
    caption = (
        f"{section.label_caption(context.labels, context.settings)} n = {section.evaluated(context.labels)} now."
        f" Means over {IMPUTATIONS} imputations, seed {context.settings.seed}; in brackets the least and the most of"
        " the means at the rate and at both ends of its 95 % interval."
    )
    return [
        _tau_section(context, found, caption, notes),
        *(_measure_section(context, measure, found[measure.name], caption) for measure in context.measures),
    ]


def _tau_section(context: Context, found: dict[str, Effect], caption: str, notes: list[str]) -> Section:
    rows: list[list[Cell]] = []
    for measure in context.measures:
        one = found[measure.name]
        reasons = {end: why_no_tau(compared(one.now, one.imputed[end])) for end in ENDS}
        rows.append([measure.label, *(cell(one.tau[end], reasons[end]) for end in ENDS)])
    title = "Order of the systems with the missed answers"
    names = ("low end", "at the rate", "high end")
    columns = [Column(end, f"Tau, {name}", "tau") for end, name in zip(ENDS, names, strict=True)]
    return Section(
        "audit-tau",
        title,
        "Each filtered triple that nobody has judged is made positive with the false-negative rate of its filter, and"
        " the systems are ordered again. Tau near 1: what filters throw away does not change who is better.",
        f"{caption} Kendall's tau-b against the order now.",
        [Table("audit-tau", title, [Column("measure", "Measure", "measure"), *columns], rows)],
        finding=_tau_finding(context, found),
        notes=notes,
    )


def _tau_finding(context: Context, found: dict[str, Effect]) -> str:
    measure = context.measures[0]
    one = found[measure.name]
    places = places_on_both(one.now, one.imputed["rate"], measure.higher_is_better)
    pairs = [(a, b) for a, b in zip(*places, strict=True) if a is not None and b is not None]
    if len(pairs) < 2:
        return ""
    moved = sum(a != b for a, b in pairs)
    if not moved:
        return f"By {measure.label} every system keeps its place."
    return f"By {measure.label}, {moved} of {len(pairs)} systems change their place."


def section_key(measure: Measure) -> str:
    """Return the key of a measure's section, without "@", which the address of a table cannot have."""
    return f"audit-{measure.name.replace('@', '-')}"


def _measure_section(context: Context, measure: Measure, one: Effect, caption: str) -> Section:
    now, then = one.now, one.imputed["rate"]
    now_places, then_places = places_on_both(now, then, measure.higher_is_better)
    all_ends = np.stack([one.imputed[end] for end in ENDS])
    low, high = all_ends.min(axis=0), all_ends.max(axis=0)
    ends = list(zip(low.tolist(), high.tolist(), strict=True))
    key, title = section_key(measure), f"{measure.label} with the missed answers"
    table = table_of(
        key,
        title,
        range(len(context.systems)),
        [
            (Column("system", "System", "system"), lambda i: context.systems[i]),
            (Column("now", "Now"), lambda i: cell(now[i], NO_VALUE)),
            (Column("now_place", "Place", "count"), lambda i: place_cell(now_places[i], NO_VALUE)),
            (Column("imputed", "With the missed answers"), lambda i: interval_cell(then[i], *ends[i], NO_VALUE)),
            (Column("imputed_place", "Place then", "count"), lambda i: place_cell(then_places[i], NO_VALUE)),
            (Column("change", "Change", "change"), lambda i: cell(then[i] - now[i], NO_VALUE)),
        ],
    )
    return Section(key, title, measure.description, caption, [table], _values_chart(context, measure, one, low, high))


def _values_chart(context: Context, measure: Measure, one: Effect, low: Floats, high: Floats) -> Chart | None:
    shown = np.flatnonzero(np.isfinite(one.now) & np.isfinite(low) & np.isfinite(high))
    if not shown.size:
        return None
    ticks = np.arange(shown.size)
    then, ends = one.imputed["rate"][shown], {"low": low[shown], "high": high[shown]}
    series = [
        series_of("now", ticks + beside(0, 2), one.now[shown], measure=0),
        series_of("with the missed answers", ticks + beside(1, 2), then, measure=1, **ends),
    ]
    names = named_ticks([context.systems[i] for i in shown], divided=True)
    label = f"{measure.label} of each system now and with the missed answers"
    return chart("points", label, series, y=measure.label, xaxis=names, sorted=True)


ANALYSIS = Analysis(
    "audit",
    "Audit of the filters",
    "How many answers do the filters throw away, and would they change who is better?",
    "audit-sample",
    ("measures", "questions", "assumed", "seed", "seeds"),
    (
        Part("filters", by_filter),
        Part("measures", on_measures, heavy=True, title="measures with the missed answers", needs=RATES),
    ),
    version=error_rates.sample_version,
    group="Coverage",
)
