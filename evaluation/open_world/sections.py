"""Open world: how much of what is right the test set lacks, and what theory expects of the reported numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluation.labels.pool_table import EvaluationError
from evaluation.open_world.kernels.pool import Found, discordant_share, missing_share
from evaluation.open_world.pool_world import CURVE, LEAST_JUDGED, PoolWorld, Reported, pool_world
from evaluation.open_world.world_settings import COMPARED, LABELS
from evaluation.sections.section import (
    Analysis,
    Cell,
    Chart,
    Column,
    Context,
    Part,
    Section,
    Table,
    cell,
    label_caption,
    numbers,
)

MOST_BARS = 30


def open_world(context: Context) -> list[Section]:
    try:
        world = pool_world(context.table, context.labels)
    except EvaluationError as error:  # an answer too: other labels of the same page have more to say
        caption = label_caption(context.labels, context.settings)
        return [Section("share", "Nothing is known of missing answers", str(error), caption, [])]
    found = {metric: world.reported(metric) for metric in COMPARED}
    return [
        _shares(context, world),
        _summary(context, world, found),
        *(_metric(context, world, metric, reported) for metric, reported in found.items()),
    ]


# -- β ----------------------------------------------------------------------------------------------------------


def _shares(context: Context, world: PoolWorld) -> Section:
    names = context.table.graph.relations
    shares, total = missing_share(world.by_relation), world.total
    own = np.flatnonzero(world.enough)
    own = own[np.argsort(-shares[own], kind="stable")]
    rows = [_share_row("all relations", int(world.questions.sum()), total, 0)]
    rows += [_share_row(names[r], int(world.questions[r]), world.by_relation, int(r)) for r in own]
    others = np.flatnonzero(~world.enough & (world.questions > 0))
    if others.size:
        name = f"{others.size} with fewer than {LEAST_JUDGED} judged"
        rows.append(_share_row(name, int(world.questions[others].sum()), world.few, 0))
    shown = own[:MOST_BARS]
    left = int(total.candidates[0] - total.judged[0])
    chart = (
        Chart(
            "bars",
            "Share of missing answers by relation",
            {
                "series": [{"name": "β", "x": [names[r] for r in shown], "y": numbers(shares[shown])}],
                "lying": True,
                "x": "β, at least",
                "yaxis": {"autorange": "reversed"},
            },
        )
        if shown.size
        else None
    )
    return Section(
        "share",
        "Share of right answers that the test set lacks (β), at least",
        "Of the right answers to the questions of the seeds, the share that judging found and that train, valid and"
        " test do not have: new / (new + all original test answers of the same questions).",
        f"{label_caption(context.labels, context.settings)} Questions: those of the seeds. Relations with fewer than"
        f" {LEAST_JUDGED} judged candidates are one group"
        + (f"; the chart has the {MOST_BARS} largest." if own.size > MOST_BARS else "."),
        [
            Table(
                "share",
                "Missing answers by relation",
                [
                    Column("relation", "Relation", "text"),
                    Column("questions", "Questions", "count"),
                    Column(
                        "candidates", "Candidates", "count", "Pooled answers to these questions that are not of test."
                    ),
                    Column("judged", "Judged", "count"),
                    Column("new", "New answers", "count"),
                    Column("test", "Test answers", "count", "All of the original test set, sampled or not."),
                    Column("per_question", "Answers a question", "value"),
                    Column("beta", "β ≥", "share"),
                ],
                rows,
            )
        ],
        chart,
        finding=f"At least {100 * missing_share(total)[0]:.1f} % of the right answers are missing:"
        f" {total.new[0]:,} new ones beside {total.test[0]:,} of the test set.",
        notes=[
            f"This is a lower bound. {left:,} of {total.candidates[0]:,} candidates are not judged by people"
            " (unjudged, or filtered as assumed negatives), and what no system returned was not pooled."
        ],
    )


def _share_row(name: str, questions: int, found: Found, at: int) -> list[Cell]:
    answers = int(found.new[at] + found.test[at])
    return [
        name,
        questions,
        int(found.candidates[at]),
        int(found.judged[at]),
        int(found.new[at]),
        int(found.test[at]),
        cell(answers / questions if questions else np.nan),
        cell(missing_share(found)[at], "no answer"),
    ]


# -- reported and expected --------------------------------------------------------------------------------------


def _caption(context: Context, world: PoolWorld) -> str:
    return (
        f"{label_caption(context.labels, context.settings)} n = {world.num_seed_answers:,} answers of seeds"
        f" ({world.num_answers:,} with the new ones), each ranked with the question's other answers removed. Expected:"
        " mean over the seeds of Ê(N, β, ℓ), N the answers found for the question, β that of its relation."
    )


def _summary(context: Context, world: PoolWorld, found: dict[str, Reported]) -> Section:
    rows: list[list[Cell]] = []
    for metric, of in found.items():
        share = discordant_share(of.sparse, of.completed)
        rows.append(
            [
                LABELS[metric],
                float(of.sparse.mean()),
                float(of.expected.mean()),
                float(of.completed.mean()),
                cell(share, "fewer than two systems with different values"),
            ]
        )
    mrr = found["mrr"]
    return Section(
        "reported",
        "What is reported, and what theory expects",
        "The same seeds twice: as a closed world reports them (new answers count as wrong), and with the new answers"
        " filtered out. Were all right answers known, the second is what the theory calls strength (ℓ), by any metric:"
        " so each system's ℓ is its own completed value, and theory says what is reported of it.",
        _caption(context, world),
        [
            Table(
                "reported",
                "Means over systems",
                [
                    Column("metric", "Metric", "text"),
                    Column("sparse", "Reported", "value"),
                    Column("expected", "Expected by theory", "value"),
                    Column("completed", "Completed (ℓ)", "value"),
                    Column(
                        "discordant",
                        "Pairs in other order",
                        "share",
                        "Of the pairs of systems with different values: those that the two put in opposite orders.",
                    ),
                ],
                rows,
            )
        ],
        finding=f"Over {len(context.systems)} systems, MRR of the same seeds is {mrr.sparse.mean():.3f} as reported and"
        f" {mrr.completed.mean():.3f} completed; theory expects {mrr.expected.mean():.3f} to be reported.",
        notes=[
            "The theory takes models that put all they recognise first, in random order. Real systems put wrong"
            " candidates between, and some answers always below others, so that they differ from it either way."
        ],
    )


def _metric(context: Context, world: PoolWorld, metric: str, found: Reported) -> Section:
    label = LABELS[metric]
    series: list[dict[str, Any]] = [
        {"name": "theory", "x": numbers(CURVE), "y": numbers(found.curve), "plain": True},
        {"name": "closed world", "x": [0, 1], "y": [0, 1], "plain": True, "quiet": True, "dash": "dot"},
    ]
    series += [
        {"system": i, "name": name, "x": [float(found.completed[i])], "y": [float(found.sparse[i])], "size": 10}
        for i, name in enumerate(context.systems)
    ]
    rows: list[list[Cell]] = [
        [
            name,
            float(found.sparse[i]),
            float(found.expected[i]),
            float(found.sparse[i] - found.expected[i]),
            float(found.completed[i]),
            float(found.every[i]),
        ]
        for i, name in enumerate(context.systems)
    ]
    key = metric.replace("@", "-").replace("_", "-")
    return Section(
        f"metric-{key}",
        f"{label}: reported against completed",
        "A point is a system: across, its value with the new answers filtered out; up, what is reported without them."
        " On the dotted line nothing would be lost; the curve is the theory's.",
        _caption(context, world),
        [
            Table(
                f"metric-{key}",
                f"{label} of the seeds",
                [
                    Column("system", "System", "system"),
                    Column("sparse", "Reported", "value"),
                    Column("expected", "Expected by theory", "value"),
                    Column("difference", "Reported − expected", "change"),
                    Column("completed", "Completed (ℓ)", "value"),
                    Column(
                        "every",
                        "Completed, with the new answers",
                        "value",
                        "Over the seeds and the new answers, which were pooled because some system put them high.",
                    ),
                ],
                rows,
            )
        ],
        Chart(
            "lines",
            f"{label} reported against completed, by system, with the theory's curve",
            {
                "series": series,
                "x": f"{label}, completed (ℓ)",
                "y": f"{label}, reported",
                "xaxis": {"range": [0, 1]},
                "yrange": [0, 1],
            },
        ),
        finding=_finding(context, label, found),
    )


def _finding(context: Context, label: str, found: Reported) -> str:
    lost, told = found.completed - found.sparse, found.completed - found.expected
    most = int(np.argmax(lost))
    return (
        f"{context.systems[most]} loses most: {lost[most]:.3f} of {found.completed[most]:.3f} {label}; theory expects"
        f" {told[most]:.3f}."
    )


ANALYSIS = Analysis(
    "open-world",
    "Open world",
    "Open world",
    "How much of what is right does the test set lack, and what does that do to the reported numbers?",
    "open-world",
    ("labels",),
    (Part("open-world", open_world),),
    docs_page="lenses",
)
