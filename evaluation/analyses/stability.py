"""Build the page Stability: how much of the labels, or of the questions, the order of the systems needs."""

from collections.abc import Callable

import numpy as np

from evaluation.sections.builders import series_of, small_multiples
from evaluation.sections.growth_curves import asked_rows, order_notes
from evaluation.sections.section import (
    Analysis,
    Cell,
    Column,
    Context,
    Json,
    Part,
    Section,
    Table,
    beside,
    cell,
    label_caption,
    number,
)
from evaluation.statistics.stability import Stability, half_curve, question_stability, stability_curve

REPEATS = 50
CLOSE = 0.9  # tau from which two rankings count as nearly the same (Voorhees 2001)
FEWEST = 20  # questions or positive triples below which 5 % are not even one
NO_DISJOINT = "two disjoint subsets of this size do not exist"


def by_questions(context: Context) -> list[Section]:
    sums = context.labels.sums(context.settings.measures, context.settings.assumed_is_judged)
    curve = question_stability(sums, context.rng(1), repeats=REPEATS)
    halves = question_stability(sums, context.rng(2), repeats=REPEATS, halves=True)
    text = (
        "The order of the systems on random subsets of the evaluated questions, against the order on all of them."
        " A measure whose line rises early needs few questions."
    )
    return [_section(context, "questions", "Random subsets of the questions", curve, halves, "questions", text)]


def by_labels(context: Context) -> list[Section]:
    chosen, settings = context.labels, context.settings
    progress = context.progress or (lambda done, total: None)

    def drawn(draw: Callable[..., Stability], part: int, before: int) -> Stability:
        return draw(
            *(asked_rows(chosen), chosen.state, settings.measures, context.rng(part)),
            repeats=REPEATS,
            assumed_is_judged=settings.assumed_is_judged,
            progress=lambda done, total: progress(before * total + done, 2 * total),
        )

    curve, halves = drawn(stability_curve, 3, 0), drawn(half_curve, 4, 1)
    text = (
        "Here positive triples lose their label at random: they are no longer answers, and are not filtered either."
        " It shows what the sparseness of a test set does to the comparison."
    )
    return [
        _section(context, "labels", "Random subsets of the positive triples", curve, halves, "positive triples", text)
    ]


def of_full_test(context: Context) -> list[Section]:
    """Build all sections for the published test set, beside those of the pool."""
    return beside([*by_questions(context), *by_labels(context)], "full-test")


def _section(
    context: Context, key: str, title: str, curve: Stability, halves: Stability, of: str, text: str
) -> Section:
    series, rows = list[Json](), []
    for i, measure in enumerate(context.measures):
        mean, other, sd = curve.mean(measure.name), halves.mean(measure.name), curve.sd(measure.name)
        x, x_other = ([100 * size for size in found.sizes] for found in (curve, halves))
        up, down = np.minimum(sd, 1.0 - mean), np.minimum(sd, 1.0 + mean)
        series.append(series_of(measure.label, x, mean, measure=i, low=mean - down, high=mean + up, plain=True))
        series.append(series_of(f"{measure.label}, disjoint", x_other, other, measure=i, thin=True))
    for i, size in enumerate(curve.sizes):
        row: list[Cell] = [f"{100 * size:g} %", int(curve.triples[i])]
        for measure in context.measures:
            there_are = i < len(halves.sizes) and halves.triples[i] > 0
            row += [
                cell(curve.mean(measure.name)[i], "no subset orders the systems", sd=number(curve.sd(measure.name)[i])),
                cell(
                    halves.mean(measure.name)[i] if there_are else float("nan"),
                    "no two subsets order the systems" if there_are else NO_DISJOINT,
                ),
            ]
        rows.append(row)
    columns = [Column("size", "Size", "text"), Column("n", of.capitalize(), "count")]
    for measure in context.measures:
        columns += [
            Column(measure.name, measure.label, "sd"),
            Column(f"{measure.name}_disjoint", f"{measure.label}, disjoint", "value"),
        ]
    least = _least(series)
    axes = {
        "x": f"share of the {of}, %",
        "y": "Kendall's tau, part against all",
        "yrange": [least, 1.02],
        "xaxis": {"tickvals": [10, 50, 90]},
        "yaxis": {"tickvals": [tick for tick in (-1, -0.5, 0, 0.5, 1) if tick >= least]},
        "references": [{"y": CLOSE, "name": f"tau {CLOSE}"}],
    }
    return Section(
        key,
        title,
        text,
        f"{label_caption(context.labels, context.settings)} Kendall's tau-b, mean and standard deviation of {REPEATS}"
        f" subsets a size, of {curve.positives:,} {of} in all, seed {context.settings.seed}.{_left_out(curve, halves)}"
        " The band is one standard deviation to each side; it ends at 1, beyond which there is no tau. Near 95 % a"
        " subset overlaps the whole and tau tends to 1: dotted lines compare two disjoint subsets of that size. Dashed:"
        f" tau {CLOSE}, from which two rankings count as nearly the same.",
        [Table(f"stability-{key}", title, columns, rows)],
        small_multiples(f"Tau against the share of the {of}", series, **axes),
        finding=_finding(curve, context.measures[0].name, context.measures[0].label, of) if context.measures else "",
        notes=order_notes(context),
    )


def _finding(curve: Stability, measure: str, label: str, of: str) -> str:
    """Say from which share on the order of the systems is nearly the one of all; honest where there is too little."""
    if curve.positives < FEWEST:
        return f"There are only {curve.positives:,} {of}: too few to say how many the ranking needs."
    mean, (low, high) = curve.mean(measure), curve.interval(measure)
    if not np.isfinite(mean).any():
        return f"By {label} no subset of the {of} orders the systems, so nothing can be said of the ranking."
    enough = 2 * np.isfinite(curve.tau[measure]).sum(axis=1) >= curve.repeats  # a mean of few subsets says little
    agrees = enough & np.isfinite(mean) & (mean >= CLOSE)
    # from the first share on, not at one lucky share
    holds = np.flatnonzero(np.logical_and.accumulate(agrees[::-1])[::-1])
    if not holds.size:
        last = int(np.flatnonzero(np.isfinite(mean))[-1])
        return (
            f"The ranking by {label} is not stable: even with {100 * curve.sizes[last]:g} % of the {of} tau between"
            f" the order by a subset and the full order is only {mean[last]:.2f} (95 % of subsets {low[last]:.2f} to"
            f" {high[last]:.2f})."
        )
    i = int(holds[0])
    return (
        f"With {100 * curve.sizes[i]:g} % of the {of} ({curve.triples[i]:,} of {curve.positives:,}) the ranking by"
        f" {label} is nearly the full one: tau between the order by a subset and the full order is"
        f" {mean[i]:.2f} (95 % of subsets {low[i]:.2f} to {high[i]:.2f})."
    )


def _left_out(*curves: Stability) -> str:
    """Say how many subsets every mean has at least, where some have no tau; "" where all have one."""
    defined = [np.isfinite(tau).sum(axis=1)[curve.triples > 0] for curve in curves for tau in curve.tau.values()]
    counts = np.concatenate(defined) if defined else np.zeros(0, dtype=np.int64)
    if not (counts < REPEATS).any():
        return ""
    some = counts[counts > 0]
    least = f"; each mean rests on at least {some.min()} of the {REPEATS} subsets of its size" if some.size else ""
    return f" A subset that ties all systems has no tau and is left out{least}."


def _least(series: list[Json]) -> float:
    """Return where the axis begins: at 0, or below the lowest point."""
    lowest = min((low for one in series for low in one.get("low", []) if low is not None), default=0.0)
    return max(-1.02, lowest - 0.05) if lowest < 0 else 0.0


ANALYSIS = Analysis(
    "stability",
    "Stability",
    "How many questions, or how many labels, does it take until the order of the systems holds?",
    "stability",
    ("labels", "measures", "questions", "assumed", "seed", "seeds"),
    (
        Part("questions", by_questions),
        Part("labels", by_labels, heavy=True, title="subsets of the labels"),
        Part("full-test", of_full_test, heavy=True, title="full test beside it", labels="full-test"),
    ),
    group="Reliability",
)
