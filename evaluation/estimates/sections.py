"""Estimates: what the whole pool would say, from a random sample of its labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from annotation.judging.judgements import current_verdicts
from annotation.models import Campaign
from evaluation.estimates.estimate import TEXTS, Estimated, beyond, estimate
from evaluation.estimates.kernels.jackknife import Estimate
from evaluation.estimates.kernels.quantities import COUNTS, LISTS, MEASURED
from evaluation.estimates.kernels.weights import total_interval
from evaluation.estimates.sample import NoSampleError, PoolSample, drawn_version, pool_sample
from evaluation.measures.rank_table import Floats
from evaluation.measures.registry import parse_measure
from evaluation.sections.section import Analysis, Cell, Chart, Column, Context, Part, Section, Table, cell, numbers
from evaluation.sections.wording import named_ticks
from pooling.enums import FilterReason

SHOWN = ("micro_mrr", "macro_mrr")  # in the charts
WIDE = 0.25  # an interval that reaches so far to one side says nothing about systems


def of_sample(context: Context) -> list[Section]:
    try:
        drawn = pool_sample(context.pool, context.table)
    except NoSampleError as refusal:
        return [_refused(context, refusal)]
    rows: list[list[Cell]] = [
        [
            one.name,
            one.triples,
            one.judged,
            one.judged / one.triples,
            one.positive,
            one.undecided,
            _positives(one.triples, one.judged, one.positive),
        ]
        for one in drawn.strata
    ]
    columns = [
        Column("stratum", "Stratum", "text"),
        Column("triples", "Triples", "count", "pooled triples for people"),
        Column("judged", "Drawn and judged", "count"),
        Column("share", "Share", "share"),
        Column("positive", "Positive", "count"),
        Column("undecided", "Undecided", "count", "judged without a decision; they count as not positive"),
        Column("estimated", "Estimated positives", "count", "triples * positive / judged, 95 % Wilson interval"),
    ]
    judged, triples = sum(one.judged for one in drawn.strata), sum(one.triples for one in drawn.strata)
    finding = f"{judged:,} of {triples:,} triples are drawn and judged."
    if judged == triples:
        finding = "Every triple for people is judged: the values below are exact."
    return [
        Section(
            "estimates-sample",
            "The sample",
            "Which triples were drawn for judging, at random within each stratum."
            " Estimates rest on these, on the seeds, and on nothing else.",
            _caption(drawn),
            [Table("estimates-sample", "Strata", columns, rows)],
            None,
            finding,
            drawn.notes,
        )
    ]


def of_values(context: Context) -> list[Section]:
    settings = context.settings
    try:
        found = estimate(
            context.pool,
            questions=settings.questions,
            assumed_is_judged=settings.assumed_is_judged,
            seed=settings.seed,
            progress=context.progress,
        )
    except NoSampleError:
        return []  # the part above says why
    asked = "questions of the seeds only" if settings.questions == "original" else "all questions with an answer"
    caption = (
        f"{_caption(found.drawn)} {asked.capitalize()}. 95 % intervals by a jackknife that leaves out groups"
        f" within strata, seed {settings.seed}."
    )
    sections = [
        _counts(found, caption),
        _section(found, "unbiased", "Unbiased estimates", found.unbiased, caption),
        _section(found, "modelled", "Model-assisted estimates", found.modelled, caption),
        _lists(found, caption),
    ]
    notes = [found.drawn.narrow] if found.drawn.narrow else []
    return [replace(section, notes=[*notes, *section.notes]) for section in sections]


def _positives(triples: int, judged: int, positive: int) -> Cell:
    low, high = total_interval(triples, judged, positive)
    return cell(triples * positive / judged, low=low, high=high)


def _caption(drawn: PoolSample) -> str:
    certain = int((drawn.sample.positive & ~drawn.sample.drawn).sum())
    return (
        f"Sample: order {drawn.order.lower()}; {certain:,} positives are certain (seeds, and labels that were there"
        " before anything was drawn). Undecided triples count as not positive, as measures have it. Filtered triples"
        " count by their label, else as negative."
    )


def _refused(context: Context, refusal: NoSampleError) -> Section:
    campaign = Campaign.objects.filter(pool=context.pool).first()
    rows: list[list[Cell]] = [
        ["triples for people", context.pool.triples.filter(reason=FilterReason.NONE).count()],
        ["given to people", campaign.items.count() if campaign else 0],
        ["judged", len(current_verdicts(context.pool).triple_id)],
    ]
    return Section(
        "no-sample",
        "No sample",
        "Estimates by inverse probability need labels of triples drawn at random.",
        "Counts of pooled triples; imported labels are judgements too.",
        [Table("estimates-sample", "Triples", [Column("what", "", "text"), Column("count", "Count", "count")], rows)],
        None,
        f"No estimates: {refusal}",
    )


# -- values -----------------------------------------------------------------------------------------------------


def _cells(estimates: Sequence[Estimate], i: int) -> list[Cell]:
    """Of one system, with intervals where they are known."""
    return [
        cell(one.value[i], "no value under this sample", low=one.low[i], high=one.high[i])
        if np.isfinite(one.low[i]) and np.isfinite(one.high[i])
        else cell(one.value[i], "no value under this sample")
        for one in estimates
    ]


def _counts(found: Estimated, caption: str) -> Section:
    rows: list[list[Cell]] = [
        [
            count.label,
            *_cells([found.unbiased[count.name]], 0),
            *(_cells([found.modelled[count.name]], 0) if count.name in found.modelled else [""]),
        ]
        for count in COUNTS
    ]
    columns = [
        Column("what", "Count", "text"),
        Column("estimate", "Unbiased", "count"),
        Column("modelled", "Model-assisted", "count", "where an unbiased one can spread far"),
    ]
    return Section(
        "estimates-counts",
        "Counts",
        "How many positive triples (seeds among them), answers (each positive once for each of its questions) and"
        " questions with an answer there would be if the whole pool were judged.",
        caption,
        [Table("estimates-counts", "Estimated counts", columns, rows)],
    )


def _section(found: Estimated, key: str, title: str, estimates: Mapping[str, Estimate], caption: str) -> Section:
    columns = [Column("system", "System", "system")]
    columns += [Column(name, parse_measure(name).label, "value") for name in MEASURED]
    rows: list[list[Cell]] = [
        [system, *_cells([estimates[name] for name in MEASURED], i)] for i, system in enumerate(found.systems)
    ]
    return Section(
        f"estimates-{key}",
        title,
        TEXTS[key],
        caption,
        [Table(f"estimates-{key}", title, columns, rows)],
        _chart(found, estimates, title),
        _useless(estimates) if key == "unbiased" else "",
        _beyond(estimates, MEASURED),
    )


def _beyond(estimates: Mapping[str, Estimate], names: Sequence[str]) -> list[str]:
    note = beyond(estimates, names)
    return [note] if note else []


def _useless(estimates: Mapping[str, Estimate]) -> str:
    wide = [parse_measure(name).label for name in MEASURED if np.any(np.nan_to_num(_reach(estimates[name])) > WIDE)]
    if not wide:
        return ""
    return (
        f"Too wide to use here: {', '.join(wide)}. An interval reaches more than {WIDE:g} to one side; read the"
        " model-assisted values."
    )


def _reach(of: Estimate) -> Floats:
    """How far the value is from the further end of its interval: the nearer one may be cut at 0 or 1."""
    return np.maximum(of.high - of.value, of.value - of.low)


def _chart(found: Estimated, estimates: Mapping[str, Estimate], title: str) -> Chart:
    """Points of every system, measure by measure."""
    steps = np.linspace(-0.3, 0.3, len(found.systems)) if len(found.systems) > 1 else np.zeros(1)
    of = np.array([estimates[name] for name in SHOWN])  # [measures, value low high, systems]
    of = np.where(np.isfinite(of), of, of[:, :1])  # where the spread is unknown a point has no line
    series = [
        {
            "system": i,
            "name": system,
            "x": [float(m + steps[i]) for m in range(len(SHOWN))],
            "y": numbers(of[:, 0, i]),
            "low": numbers(of[:, 1, i]),
            "high": numbers(of[:, 2, i]),
        }
        for i, system in enumerate(found.systems)
    ]
    labels = [parse_measure(name).label for name in SHOWN]
    ends = np.array([estimates[name] for name in SHOWN])
    ends = np.clip(ends[np.isfinite(ends)], 0.0, 1.0)  # an interval that is wider than the measure goes off the chart
    drawn = [float(ends.min()) - 0.02, float(ends.max()) + 0.02] if ends.size else [0.0, 1.0]
    return Chart(
        "points",
        f"{title} of {' and '.join(labels)} with 95 % intervals",
        {"series": series, "y": "value", "yrange": drawn, "xaxis": named_ticks(labels, divided=True)},
    )


def _lists(found: Estimated, caption: str) -> Section:
    columns = [Column("system", "System", "system")]
    columns += [Column(one.name, one.label, "value", one.description) for one in LISTS]
    if found.plain is not None:
        columns.append(Column("infap", "infAP", "value", "trec_eval's; it needs no weights under one stratum"))
    rows: list[list[Cell]] = []
    for i, system in enumerate(found.systems):
        row = [system, *_cells([found.unbiased[one.name] for one in LISTS], i)]
        rows.append(row if found.plain is None else [*row, cell(found.plain[i])])
    return Section(
        "estimates-lists",
        "List measures",
        TEXTS["lists"],
        caption,
        [Table("estimates-lists", "List measures", columns, rows)],
        notes=_beyond(found.unbiased, [one.name for one in LISTS]),
    )


ANALYSIS = Analysis(
    "estimates",
    "Estimates",
    "Estimates",
    "What would the measures say if the whole pool were judged, as far as a random sample of it tells?",
    "estimates",
    ("questions", "assumed", "seed"),
    (Part("sample", of_sample), Part("values", of_values, heavy=True, title="the estimates", needs="estimates-sample")),
    version=drawn_version,
)
