"""Compare many orders pairwise by tau: all measures under one label set, all label sets by one measure."""

from collections.abc import Sequence

import numpy as np

from evaluation.labels.label_sets import LabelSet, label_set
from evaluation.measures.rank_table import Floats
from evaluation.sections.builders import matrix
from evaluation.sections.section import Cell, Column, Context, Section, Table, cell, evaluated, label_caption
from evaluation.sections.wording import compared, signed, steps, why_no_tau
from evaluation.statistics.correlation import kendall_tau, merit

ALWAYS = ("seeds", "current", "full-test")  # label sets that are compared whatever is chosen


def between_measures(context: Context) -> list[Section]:
    """Compare every measure with every other under `labels`."""
    found = context.labels.values(context.settings.measures, context.settings.assumed_is_judged)
    merits = np.array([merit(found[m.name].mean(), m.higher_is_better) for m in context.measures])
    return [
        _matrix(
            context,
            "measures",
            f"Measures with each other, under {context.labels.name}",
            "Tau-b between the orders that two measures give on the same labels. Where it is low, the choice of the"
            " measure decides which system is the better one.",
            f"{label_caption(context.labels, context.settings)} n = {evaluated(context.labels)}.",
            [(m.name, m.label) for m in context.measures],
            merits,
        )
    ]


def between_many_sets(context: Context) -> list[Section]:
    """Compare label sets with each other by the first measure."""
    measure = context.measures[0]
    sets = {chosen.key: chosen for chosen in distinct_sets(context)}
    assumed = context.settings.assumed_is_judged
    means = [chosen.values([measure.name], assumed)[measure.name].mean() for chosen in sets.values()]
    merits = np.array([merit(mean, measure.higher_is_better) for mean in means])
    captions = [f"{c.name}: {c.counts()['positive']:,} positive, n = {evaluated(c)}" for c in sets.values()]
    questions = (
        "All questions that each set opened"
        if context.settings.questions == "grown"
        else "Questions of the seeds only, but for full test, which has its own"
    )
    return [
        _matrix(
            context,
            "sets",
            f"Label sets with each other, by {measure.label}",
            "Tau-b between the orders that the first of the chosen measures gives on two label sets. Full test"
            " has its own questions and is read against all test triples.",
            f"{'; '.join(captions)}. {questions}. Assumed negatives {'' if assumed else 'not '}counted as judged.",
            [(key.replace(":", "-"), chosen.name) for key, chosen in sets.items()],
            merits,
        )
    ]


def distinct_sets(context: Context) -> list[LabelSet]:
    """Return the seeds, the two chosen label sets, the current labels and the full test, each once."""
    asked = {one.key: one for one in (context.against, context.labels)}
    return [
        asked.get(key) or label_set(context.pool, context.table, key, context.settings.questions)
        for key in dict.fromkeys((ALWAYS[0], *asked, *ALWAYS[1:]))
    ]


def _matrix(
    context: Context, key: str, title: str, text: str, caption: str, names: Sequence[tuple[str, str]], merits: Floats
) -> Section:
    """Build the section of one matrix of taus from merits [names, systems]."""
    labels = [label for _, label in names]
    tau = kendall_tau(merits[:, None], merits[None, :]) if len(names) else np.zeros((0, 0))  # [names, names]
    rows: list[list[Cell]] = [
        [label, *(cell(value, why_no_tau(compared(merits[i], merits[j]))) for j, value in enumerate(tau[i].tolist()))]
        for i, label in enumerate(labels)
    ]
    columns = [Column("name", "", "text"), *(Column(name, label, "tau") for name, label in names)]
    return Section(
        key,
        title,
        f"{text} {steps(len(context.systems))}",
        f"{caption} Kendall's tau-b over {len(context.systems)} systems.",
        [Table(key, title, columns, rows)],
        matrix(title, labels, tau),
        _least(labels, tau),
    )


def _least(labels: Sequence[str], tau: Floats) -> str:
    """Say which two orders agree least."""
    pairs = [(tau[i, j], i, j) for i in range(len(labels)) for j in range(i + 1, len(labels)) if np.isfinite(tau[i, j])]
    if not pairs:
        return ""
    value, i, j = min(pairs)
    if value == 1:
        return "All give the same order."
    return f"The least agreement is between {labels[i]} and {labels[j]}: tau-b {signed(value)}."
