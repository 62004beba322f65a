"""Build the page Accumulation: what the labels said while they came in."""

from evaluation.labels.decision_order import order_of_decision
from evaluation.sections.builders import chart, series_of, table_of
from evaluation.sections.growth_curves import (
    asked_rows,
    growth_spread,
    order_notes,
    settled_from,
    tau_chart,
    tau_table,
    values_chart,
    values_table,
)
from evaluation.sections.section import Analysis, Cell, Column, Context, Part, Section, evaluated, label_caption
from evaluation.statistics.growth import LabelGrowth, accumulation_curve

AXIS = "judgements"
STEP = Column(
    "judgements",
    "Judgements",
    "count",
    "the first ones, in the order in which they were decided; 0: no judgement yet, seeds and filters only",
)


def _curve(context: Context) -> LabelGrowth:
    chosen, settings, table = context.labels, context.settings, context.table
    decided, _ = order_of_decision(context.pool, len(table.triples), table.position_of)
    return accumulation_curve(
        asked_rows(chosen), chosen.state, decided, settings.measures, assumed_is_judged=settings.assumed_is_judged
    )


def by_labels(context: Context) -> list[Section]:
    chosen, settings, table = context.labels, context.settings, context.table
    _, shared = order_of_decision(context.pool, len(table.triples), table.position_of)
    curve, spread = _curve(context), growth_spread(context, _curve)
    counts, first = curve.labels.tolist(), context.measures[0]
    judged = counts[-1]
    caption = (
        f"{label_caption(chosen, settings)} {judged:,} judgements in the order in which they were decided, at"
        f" {len(counts)} even steps; later ones count as unjudged. Undecided ones are counted among them and give no"
        " label. Filters count from the start, so 0 is no judgement yet: seeds and filters only. A judgement that"
        f" changed counts from its last change. At the end n = {evaluated(chosen)}."
    )
    note = (
        f"{shared:,} of {judged:,} judgements share their time with others, as imported labels do: among these the"
        " order is that of the triples in the pool, not one of decision."
    )
    whole, taus = "Tau against the order of all judgements", curve.tau_to_full
    return [
        Section(
            "accumulation-values",
            f"{first.label} as judgements came",
            "The values of the systems after each part of the judgements. Where lines cross, the order changed then.",
            caption,
            [values_table(context, curve, first, spread and spread.at(0), "accumulation-values", STEP, counts)],
            values_chart(context, curve, first, curve.labels, AXIS),
            "" if judged else "Nothing is judged yet: there are seeds and filters only.",
            [note] if shared else [],
        ),
        Section(
            "accumulation-tau",
            "Against the order of all judgements",
            "How far the order after each part of the judgements agrees with the current one."
            " A measure that reaches 1 early and stays there did not need the rest for its order.",
            f"{caption} Kendall's tau-b between the orders of the systems; ties count for neither side.",
            [tau_table(context, curve, taus, "accumulation-tau", whole, STEP, counts)],
            tau_chart(context, taus, curve.labels, AXIS, "all judgements"),
            _settled(context, curve),
            order_notes(context),
        ),
        _yield(curve, caption),
    ]


def _settled(context: Context, curve: LabelGrowth) -> str:
    first, judged = context.measures[0], int(curve.labels[-1])
    at = settled_from(curve.tau_to_full[first.name])
    if at is None or judged == 0:
        return ""
    if at == len(curve.labels) - 1:
        last = judged - int(curve.labels[at - 1])
        return f"By {first.label} the order still changes with the last {last:,} judgements."
    if at == 0:
        return f"By {first.label} the order before any judgement is that of all {judged:,} judgements, throughout."
    return f"By {first.label} the order is the current one after {int(curve.labels[at]):,} of {judged:,} judgements."


def _yield(curve: LabelGrowth, caption: str) -> Section:
    judged, found = curve.labels.tolist(), (curve.positives - curve.positives[0]).tolist()

    def share(i: int) -> Cell:
        return (found[i] - found[i - 1]) / (judged[i] - judged[i - 1]) if i else ""

    new, step = "positive triples beside the seeds", "share of the judgements of this step"
    asked = "with an answer among the positive triples"
    table = table_of(
        "accumulation-yield",
        "Yield of the judgements",
        range(len(judged)),
        [
            (STEP, lambda i: judged[i]),
            (Column("positives", "Positive triples", "count"), lambda i: int(curve.positives[i])),
            (Column("new", "New positives", "count", new), lambda i: found[i]),
            (Column("yield", "Positive since the row above", "share", step), share),
            (Column("questions", "Questions", "count", asked), lambda i: int(curve.questions[i])),
        ],
    )
    label, series = "New positive triples by judgements", [series_of("new positives", judged, found)]
    last = judged[-1]
    return Section(
        "accumulation-yield",
        "Yield",
        "How many new positive triples the judgements brought."
        " A line that flattens says that what is left to judge holds fewer of them.",
        caption,
        [table],
        chart("lines", label, series, x=AXIS, y="new positive triples"),
        f"{last:,} judgements found {found[-1]:,} new positives: {100 * found[-1] / last:.1f} %." if last else "",
    )


ANALYSIS = Analysis(
    "accumulation",
    "Accumulation of labels",
    "What did the labels say while they came in, and since when do they say what they say now?",
    "accumulation",
    ("measures", "questions", "assumed", "seeds"),
    (Part("labels", by_labels),),
    group="Coverage",
)
