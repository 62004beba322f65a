"""Build the page Accumulation: what the labels said while they came in."""

from evaluation.labels.decision_order import order_of_decision
from evaluation.sections.growth_curves import (
    asked_rows,
    order_notes,
    settled_from,
    tau_chart,
    tau_table,
    values_chart,
    values_table,
)
from evaluation.sections.section import (
    Analysis,
    Cell,
    Chart,
    Column,
    Context,
    Part,
    Section,
    Table,
    evaluated,
    label_caption,
)
from evaluation.statistics.growth import LabelGrowth, accumulation_curve

AXIS = "judgements"


STEP = Column(
    "judgements",
    "Judgements",
    "count",
    "the first ones, in the order in which they were decided; 0: no judgement yet, seeds and filters only",
)


def by_labels(context: Context) -> list[Section]:
    chosen, settings, table = context.labels, context.settings, context.table
    decided, shared = order_of_decision(context.pool, len(table.triples), table.position_of)
    curve = accumulation_curve(
        asked_rows(chosen), chosen.state, decided, settings.measures, assumed_is_judged=settings.assumed_is_judged
    )
    counts = [int(n) for n in curve.labels]
    judged = counts[-1]
    first = context.measures[0]
    caption = (
        f"{label_caption(chosen, settings)} {judged:,} judgements in the order in which they were decided, at"
        f" {len(counts)} even steps; later ones count as unjudged. Undecided ones are counted among them and give no"
        " label. Filters count from the start, so 0 is no judgement yet: seeds and filters only. A judgement that"
        f" changed counts from its last change. At the end n = {evaluated(chosen)}."
    )
    notes = []
    if shared:
        notes.append(
            f"{shared:,} of {judged:,} judgements share their time with others, as imported labels do: among these the"
            " order is that of the triples in the pool, not one of decision."
        )
    return [
        Section(
            "accumulation-values",
            f"{first.label} as judgements came",
            "The values of the systems after each part of the judgements. Where lines cross, the order changed then.",
            caption,
            [values_table(context, curve, first, "accumulation-values", STEP, counts)],
            values_chart(context, curve, first, curve.labels, AXIS),
            "" if judged else "Nothing is judged yet: there are seeds and filters only.",
            notes,
        ),
        Section(
            "accumulation-tau",
            "Against the order of all judgements",
            "How much of the present order was there after each part of the judgements."
            " A measure that reaches 1 early and stays there did not need the rest for its order.",
            f"{caption} Kendall's tau-b between the orders of the systems; ties count for neither side.",
            [
                tau_table(
                    context,
                    curve,
                    curve.tau_to_full,
                    "accumulation-tau",
                    "Tau against the order of all judgements",
                    STEP,
                    counts,
                )
            ],
            tau_chart(context, curve.tau_to_full, curve.labels, AXIS, "all judgements"),
            _settled(context, curve),
            order_notes(context),
        ),
        _yield(context, curve, caption),
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
    return f"By {first.label} the order is the present one from {int(curve.labels[at]):,} of {judged:,} judgements on."


def _yield(context: Context, curve: LabelGrowth, caption: str) -> Section:
    seeds = int(curve.positives[0])
    found = (curve.positives - seeds).tolist()
    rows: list[list[Cell]] = []
    for i, judged in enumerate(curve.labels.tolist()):
        share = (found[i] - found[i - 1]) / (judged - int(curve.labels[i - 1])) if i else ""
        rows.append([judged, int(curve.positives[i]), found[i], share, int(curve.questions[i])])
    judged = int(curve.labels[-1])
    columns = [
        STEP,
        Column("positives", "Positive triples", "count"),
        Column("new", "New positives", "count", "positive triples beside the seeds"),
        Column("yield", "Positive since the row above", "share", "share of the judgements of this step"),
        Column("questions", "Questions", "count", "with an answer among the positive triples"),
    ]
    series = [{"name": "new positives", "x": curve.labels.tolist(), "y": found}]
    return Section(
        "accumulation-yield",
        "Yield",
        "How many new positive triples the judgements brought."
        " A line that flattens says that what is left to judge holds fewer of them.",
        caption,
        [Table("accumulation-yield", "Yield of the judgements", columns, rows)],
        Chart(
            "lines", "New positive triples by judgements", {"series": series, "x": AXIS, "y": "new positive triples"}
        ),
        f"{judged:,} judgements found {found[-1]:,} new positives: {100 * found[-1] / judged:.1f} %." if judged else "",
    )


ANALYSIS = Analysis(
    "accumulation",
    "Accumulation",
    "Accumulation of labels",
    "What did the labels say while they came in, and since when do they say what they say now?",
    "accumulation",
    ("measures", "questions", "assumed"),
    (Part("labels", by_labels),),
)
