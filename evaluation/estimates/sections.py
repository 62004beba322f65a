"""Build the page Estimates: measures of the whole pool, estimated from a random sample of its labels."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from annotation.judging.judgements import current_verdicts
from annotation.models import Campaign
from evaluation.estimates.estimate import TEXTS, Estimated, beyond, estimate, of_chosen
from evaluation.estimates.kernels.intervals import Estimate
from evaluation.estimates.kernels.quantities import COUNTS, LISTS, MEASURED, MODELLED, NO_INTERVAL
from evaluation.estimates.kernels.weights import total_interval
from evaluation.estimates.sample import NoSampleError, PoolSample, Stratum, drawn_version, pool_sample
from evaluation.measures.rank_table import Floats
from evaluation.measures.registry import parse_measure
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
    seed_columns,
)
from evaluation.sections.wording import named_ticks
from evaluation.statistics.seeds import SeedSpread
from pooling.enums import TO_PEOPLE

SHOWN = ("micro_mrr", "macro_mrr")  # in the charts


def of_sample(context: Context) -> list[Section]:
    try:
        drawn = pool_sample(context.pool, context.table)
    except NoSampleError as refusal:
        return [_refused(context, refusal)]
    undecided = "judged without a decision; they count as not positive"
    wilson = "triples * positive / judged, 95 % Wilson interval"
    table = table_of(
        "estimates-sample",
        "Strata",
        drawn.strata,
        [
            (Column("stratum", "Stratum", "text"), lambda one: one.name),
            (Column("triples", "Triples", "count", "pooled triples for people"), lambda one: one.triples),
            (Column("judged", "Drawn and judged", "count"), lambda one: one.judged),
            (Column("share", "Share", "share"), lambda one: one.judged / one.triples),
            (Column("positive", "Positive", "count"), lambda one: one.positive),
            (Column("undecided", "Undecided", "count", undecided), lambda one: one.undecided),
            (Column("estimated", "Estimated positives", "count", wilson), _positives),
        ],
    )
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
            [table],
            None,
            finding,
            drawn.notes,
        )
    ]


def of_values(context: Context) -> list[Section]:
    settings = context.settings
    try:
        chosen: dict[str, Any] = {"questions": settings.questions, "assumed_is_judged": settings.assumed_is_judged}
        chosen["systems"] = settings.systems
        found = estimate(context.pool, **chosen, seed=settings.seed, progress=context.progress)
    except NoSampleError:
        return []  # the part above says why
    asked = "questions of the seeds only" if settings.questions == "original" else "all questions with an answer"
    caption = (
        f"{_caption(found.drawn)} {asked.capitalize()}. Intervals are of 95 %; labels are imputed with seed"
        f" {settings.seed}."
    )
    shown = of_chosen(found, context.families) if context.is_folded else found
    unbiased, modelled = (
        context.spread(lambda _, of=of: _values(of, MEASURED))  # type: ignore[misc]
        for of in (found.unbiased, found.modelled)
    )
    lists = context.spread(lambda _: _listed(found))
    counts = _counts(shown, caption)
    narrow = [found.drawn.narrow] if found.drawn.narrow else []
    return [
        replace(counts, notes=[*narrow, *counts.notes]),
        _section(shown, "unbiased", "Unbiased estimates", shown.unbiased, caption, unbiased),
        _section(shown, "modelled", "Estimates by a model", shown.modelled, caption, modelled),
        _lists(shown, caption, lists),
    ]


def _positives(one: Stratum) -> Cell:
    low, high = total_interval(one.triples, one.judged, one.positive)
    return interval_cell(one.triples * one.positive / one.judged, low, high)


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
        ["triples for people", context.pool.triples.filter(reason=TO_PEOPLE).count()],
        ["given to people", campaign.items.count() if campaign else 0],
        ["judged", len(current_verdicts(context.pool).triple_id)],
    ]
    return Section(
        "no-sample",
        "No sample",
        "Estimates by inverse probability need labels of triples drawn at random.",
        "Counts of pooled triples; imported labels are judgements too.",
        [
            Table(
                "estimates-sample",
                "Triples",
                [Column("what", "Triples", "text"), Column("count", "Count", "count")],
                rows,
            )
        ],
        None,
        f"No estimates: {refusal}",
        links=[ORDER_OF_JUDGING],
    )


# -- values -----------------------------------------------------------------------------------------------------


def _cells(estimates: Sequence[Estimate], i: int) -> list[Cell]:
    """Return the estimates of one system as cells, with intervals where they are known."""
    return [interval_cell(one.value[i], one.low[i], one.high[i], "no value under this sample") for one in estimates]


def _counts(found: Estimated, caption: str) -> Section:
    def counted(estimates: Mapping[str, Estimate], name: str) -> Cell:
        return _cells([estimates[name]], 0)[0]

    unbiased, model = (
        f"the number of questions has no interval. {NO_INTERVAL[key]}" for key in ("unbiased", "questions")
    )
    table = table_of(
        "estimates-counts",
        "Estimated counts",
        COUNTS,
        [
            (Column("what", "Count", "text"), lambda count: count.label),
            (Column("estimate", "Unbiased", "count", unbiased), lambda count: counted(found.unbiased, count.name)),
            (Column("modelled", "By the model", "count", model), lambda count: counted(found.modelled, count.name)),
        ],
    )
    return Section(
        "estimates-counts",
        "Counts",
        "How many positive triples (seeds among them), answers (each positive once for each of its questions) and"
        " questions with an answer there would be if the whole pool were judged.",
        caption,
        [table],
    )


def _values(estimates: Mapping[str, Estimate], names: Sequence[str]) -> Floats:
    """Return estimated values [systems, names]."""
    return np.stack([estimates[name].value for name in names], axis=1)


def _listed(found: Estimated) -> Floats:
    """Return the values of the table of list measures, [systems, columns]."""
    columns = [_values(found.modelled, MODELLED), _values(found.unbiased, [one.name for one in LISTS])]
    return np.hstack(columns if found.plain is None else [*columns, found.plain[:, None]])


def _section(
    found: Estimated, key: str, title: str, estimates: Mapping[str, Estimate], caption: str, spread: SeedSpread | None
) -> Section:
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
        [seed_columns(Table(f"estimates-{key}", title, columns, rows), range(1, len(columns)), spread)],
        _chart(found, estimates, title),
        notes=[*_without(key), *_beyond(estimates, MEASURED)],
    )


def _beyond(estimates: Mapping[str, Estimate], names: Sequence[str]) -> list[str]:
    note = beyond(estimates, names)
    return [note] if note else []


def _without(key: str) -> list[str]:
    """Say why estimates of a kind have no interval; nothing where they have one."""
    return [f"No interval: {NO_INTERVAL[key]}"] if key in NO_INTERVAL else []


def _chart(found: Estimated, estimates: Mapping[str, Estimate], title: str) -> Chart:
    """Draw the points of every system, measure by measure."""
    steps = np.linspace(-0.3, 0.3, len(found.systems)) if len(found.systems) > 1 else np.zeros(1)
    of = np.array([estimates[name] for name in SHOWN])  # [measures, value low high, systems]
    of = np.where(np.isfinite(of), of, of[:, :1])  # where the spread is unknown a point has no line
    places = np.arange(len(SHOWN))
    series = [
        series_of(system, places + steps[i], of[:, 0, i], system=i, low=of[:, 1, i], high=of[:, 2, i])
        for i, system in enumerate(found.systems)
    ]
    labels = [parse_measure(name).label for name in SHOWN]
    ends = np.array([estimates[name] for name in SHOWN])
    ends = np.clip(ends[np.isfinite(ends)], 0.0, 1.0)  # an interval that is wider than the measure goes off the chart
    drawn = [float(ends.min()) - 0.02, float(ends.max()) + 0.02] if ends.size else [0.0, 1.0]
    label, ticks = f"{title} of {' and '.join(labels)} with 95 % intervals", named_ticks(labels, divided=True)
    return chart("points", label, series, y="value", yrange=drawn, xaxis=ticks)


def _lists(found: Estimated, caption: str, spread: SeedSpread | None) -> Section:
    columns = [Column("system", "System", "system")]
    columns += [Column(name, parse_measure(name).label, "value", "by the model") for name in MODELLED]
    columns += [Column(one.name, one.label, "value", f"no interval. {one.description}") for one in LISTS]
    if found.plain is not None:
        columns.append(Column("infap", "infAP", "value", "no interval. trec_eval's, without weights: of one stratum"))
    rows: list[list[Cell]] = []
    listed = [one.name for one in LISTS]
    for i, system in enumerate(found.systems):
        row = [system, *_cells([found.modelled[name] for name in MODELLED], i)]
        row += _cells([found.unbiased[one.name] for one in LISTS], i)
        rows.append(row if found.plain is None else [*row, cell(found.plain[i])])
    return Section(
        "estimates-lists",
        "List measures",
        TEXTS["lists"],
        caption,
        [seed_columns(Table("estimates-lists", "List measures", columns, rows), range(1, len(columns)), spread)],
        notes=[f"infAP and infNDCG have no interval. {NO_INTERVAL['lists']}", *_beyond(found.unbiased, listed)],
    )


ANALYSIS = Analysis(
    "estimates",
    "Estimates",
    "What would the measures say if the whole pool were judged, as far as a random sample of it tells?",
    "estimates",
    ("questions", "assumed", "seed", "seeds"),
    (Part("sample", of_sample), Part("values", of_values, heavy=True, title="the estimates", needs="estimates-sample")),
    version=drawn_version,
    group="Coverage",
)
