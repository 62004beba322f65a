"""Build the page Pool depth: what a shallower pool would have said."""

from evaluation.labels.pool_table import EvaluationError
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
from evaluation.sections.section import Analysis, Column, Context, Part, Section, evaluated, label_caption
from evaluation.sections.wording import signed
from evaluation.statistics.growth import DepthGrowth, depth_curve

AXIS = "pool depth"
STEP = Column(
    "depth",
    "Depth",
    "count",
    "the smallest rank at which a system of the pool found a triple; 0: labels of the seeds only, deeper triples"
    " unjudged",
)


def _curve(context: Context) -> DepthGrowth:
    chosen, settings = context.labels, context.settings
    rows, judged = asked_rows(chosen), settings.assumed_is_judged
    return depth_curve(rows, chosen.state, context.table.depth, settings.measures, assumed_is_judged=judged)


def by_depth(context: Context) -> list[Section]:
    """Build the sections by depth; EvaluationError for full test, whose triples were not found at a depth."""
    chosen, settings = context.labels, context.settings
    if chosen.key == "full-test":
        raise EvaluationError("Full test has no pool depth: choose other labels.")
    curve, spread = _curve(context), growth_spread(context, _curve)
    depths, first, many = curve.depths.tolist(), context.measures[0], len(context.measures) > 1
    deepest = depths[-1]
    caption = (
        f"{label_caption(chosen, settings)} A label, and a filter, counts from the depth at which its triple was found;"
        f" deeper triples count as unjudged. Depth 0: labels of the seeds only; depth {deepest}: everything that was"
        f" pooled, n = {evaluated(chosen)}."
    )
    zero, full = "Tau against depth 0", "Tau against the full depth"
    tau = "Kendall's tau-b between the orders of the systems; ties count for neither side."
    return [
        Section(
            "depth-values",
            "Measures by pool depth" if many else f"{first.label} by pool depth",
            "The values that the systems would have had with a pool of a smaller depth."
            " Where lines cross, a shallower pool orders the systems differently."
            + (f" The chart is of {first.label}; each measure has a table of its own." if many else ""),
            caption,
            [
                values_table(
                    context, curve, m, spread and spread.at(i), f"depth-{m.name.replace('@', '-')}", STEP, depths
                )
                for i, m in enumerate(context.measures)
            ],
            values_chart(context, curve, first, curve.depths, AXIS),
            _grown(curve, deepest),
        ),
        Section(
            "depth-seeds",
            "Against depth 0",
            "How much the order of the systems differs from the one at depth 0, for every depth and measure."
            " Depth 0 has labels of the seeds only; deeper triples are pooled and unjudged, which is not the same as"
            " the label set of the seeds for measures that look at unjudged triples.",
            f"{caption} {tau}",
            [tau_table(context, curve, curve.tau_to_seeds, "depth-tau-seeds", zero, STEP, depths)],
            tau_chart(context, curve.tau_to_seeds, curve.depths, AXIS, "depth 0"),
            _moved(context, curve),
            order_notes(context),
        ),
        Section(
            "depth-full",
            "Against the full depth",
            "How much of the final order a pool of a smaller depth has."
            " A measure that reaches 1 early and stays there would have needed fewer labels.",
            f"{caption} {tau}",
            [tau_table(context, curve, curve.tau_to_full, "depth-tau-full", full, STEP, depths)],
            tau_chart(context, curve.tau_to_full, curve.depths, AXIS, "the full depth"),
            _settled(context, curve),
            order_notes(context),
        ),
    ]


def _grown(curve: DepthGrowth, deepest: int) -> str:
    seeds, full = int(curve.positives[0]), int(curve.positives[-1])
    if deepest == 0:
        return "These labels are of seeds only: there is no depth to look at."
    return (
        f"To depth {deepest} the positive triples grow from {seeds:,} to {full:,},"
        f" and the questions with an answer from {curve.questions[0]:,} to {curve.questions[-1]:,}."
    )


def _moved(context: Context, curve: DepthGrowth) -> str:
    first = context.measures[0]
    tau = curve.tau_to_seeds[first.name][-1]
    if tau != tau:
        return ""
    return f"By {first.label} the order at the full depth has a tau of {signed(tau)} with that at depth 0."


def _settled(context: Context, curve: DepthGrowth) -> str:
    first = context.measures[0]
    at = settled_from(curve.tau_to_full[first.name])
    if at is None:
        return ""
    depth, deepest = int(curve.depths[at]), int(curve.depths[-1])
    if depth == deepest and deepest > 0:
        return f"By {first.label} the order still changes at the last step, to depth {deepest}."
    return f"By {first.label} the order is that of the full depth from depth {depth} on."


ANALYSIS = Analysis(
    "depth",
    "Pool depth",
    "What would a shallower pool have said of the systems, and from which depth on does nothing change?",
    "depth",
    ("labels", "measures", "questions", "assumed", "seeds"),
    (Part("depth", by_depth),),
    group="Coverage",
)
