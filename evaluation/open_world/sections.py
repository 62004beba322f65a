"""Build the page Open world of a pool: how many answers the test set lacks, and what theory expects of that."""

from typing import NamedTuple

import numpy as np

from evaluation.labels.pool_table import EvaluationError
from evaluation.open_world.kernels.pool import AnswerCounts, discordant_share, missing_share
from evaluation.open_world.pool_world import CURVE, LEAST_JUDGED, PoolWorld, ReportedMetric, pool_world
from evaluation.open_world.theory_settings import COMPARED, METRICS
from evaluation.sections.builders import chart, series_of, table_of
from evaluation.sections.relation_names import named_relations, relation_axis
from evaluation.sections.section import Analysis, Column, Context, Part, Section, Table, cell, label_caption
from pooling.systems.shown_names import shown_name

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


class _ShareRow(NamedTuple):
    """A relation, or a group of relations: counts of each AnswerCounts field, and β."""

    name: str
    questions: int
    test: int
    new: int
    judged: int
    candidates: int
    beta: float
    per_question: float


def _share_row(name: str, questions: int, found: AnswerCounts, i: int = 0) -> _ShareRow:
    test, new, judged, candidates = (int(counts[i]) for counts in found)
    mean = (new + test) / questions if questions else np.nan
    return _ShareRow(name, int(questions), test, new, judged, candidates, float(missing_share(found)[i]), mean)


def _shares(context: Context, world: PoolWorld) -> Section:
    shares, total = missing_share(world.by_relation), _share_row("all relations", world.questions.sum(), world.total)
    own = np.flatnonzero(world.enough)
    own = own[np.argsort(-shares[own], kind="stable")]
    few = f"; the chart has the {MOST_BARS} largest." if own.size > MOST_BARS else "."
    left, graph = total.candidates - total.judged, context.table.graph
    shown = own[:MOST_BARS].tolist()
    bars = series_of("β", [graph.relations[r] for r in shown], shares[shown])
    look = {"lying": True, "x": "β, at least", "yaxis": relation_axis(shown, graph)}
    return Section(
        "share",
        "Share of right answers that the test set lacks (β), at least",
        "Of the right answers to the questions of the seeds, the share that judging found and that train, valid and"
        " test do not have: new / (new + all original test answers of the same questions).",
        f"{label_caption(context.labels, context.settings)} Questions: those of the seeds. Relations with fewer than"
        f" {LEAST_JUDGED} judged candidates are one group{few}",
        [named_relations(_share_table(graph.relations, world, total, own), graph)],
        chart("bars", "Share of missing answers by relation", [bars], **look) if own.size else None,
        finding=f"At least {100 * total.beta:.1f} % of the right answers are missing:"
        f" {total.new:,} new ones beside {total.test:,} of the test set.",
        notes=[
            f"This is a lower bound. {left:,} of {total.candidates:,} candidates are not judged by people"
            " (unjudged, or filtered as assumed negatives), and what no system returned was not pooled."
        ],
    )


def _share_table(names: list[str], world: PoolWorld, total: _ShareRow, own: np.ndarray) -> Table:
    rows = [total, *(_share_row(names[r], world.questions[r], world.by_relation, int(r)) for r in own)]
    others = np.flatnonzero(~world.enough & (world.questions > 0))
    if others.size:
        few = f"{others.size} with fewer than {LEAST_JUDGED} judged"
        rows.append(_share_row(few, world.questions[others].sum(), world.few))
    pooled = "Pooled answers to these questions that are not of test."
    sampled = "All of the original test set, sampled or not."
    return table_of(
        "share",
        "Missing answers by relation",
        rows,
        [
            (Column("relation", "Relation", "text"), lambda row: row.name),
            (Column("questions", "Questions", "count"), lambda row: row.questions),
            (Column("candidates", "Candidates", "count", pooled), lambda row: row.candidates),
            (Column("judged", "Judged", "count"), lambda row: row.judged),
            (Column("new", "New answers", "count"), lambda row: row.new),
            (Column("test", "Test answers", "count", sampled), lambda row: row.test),
            (Column("per_question", "Answers a question"), lambda row: cell(row.per_question)),
            (Column("beta", "β ≥", "share"), lambda row: cell(row.beta, "no answer")),
        ],
    )


REPORTED, EXPECTED = Column("sparse", "Reported"), Column("expected", "Expected by theory")
COMPLETED = Column("completed", "Completed (ℓ)")


def _caption(context: Context, world: PoolWorld) -> str:
    return (
        f"{label_caption(context.labels, context.settings)} n = {world.num_seed_answers:,} answers of seeds"
        f" ({world.num_answers:,} with the new ones), each ranked with the question's other answers removed. Expected:"
        " mean over the seeds of Ê(N, β, ℓ), N the answers found for the question, β that of its relation."
    )


def _summary(context: Context, world: PoolWorld, found: dict[str, ReportedMetric]) -> Section:
    opposite = "Of the pairs of systems with different values: those that the two put in opposite orders."
    untold, mrr = "fewer than two systems with different values", found["mrr"]
    turned = {metric: discordant_share(one.sparse, one.completed) for metric, one in found.items()}
    table = table_of(
        "reported",
        "Means over systems",
        found.items(),
        [
            (Column("metric", "Metric", "text"), lambda row: METRICS[row[0]]),
            (REPORTED, lambda row: float(row[1].sparse.mean())),
            (EXPECTED, lambda row: float(row[1].expected.mean())),
            (COMPLETED, lambda row: float(row[1].completed.mean())),
            (Column("discordant", "Pairs in other order", "share", opposite), lambda row: cell(turned[row[0]], untold)),
        ],
    )
    return Section(
        "reported",
        "What is reported, and what theory expects",
        "The same seeds twice: as a closed world reports them (new answers count as wrong), and with the new answers"
        " filtered out. Were all right answers known, the second is what the theory calls strength (ℓ), by any metric:"
        " so each system's ℓ is its own completed value, and theory says what is reported of it.",
        _caption(context, world),
        [table],
        finding=f"Over {len(context.systems)} systems, MRR of the same seeds is {mrr.sparse.mean():.3f} as reported and"
        f" {mrr.completed.mean():.3f} completed; theory expects {mrr.expected.mean():.3f} to be reported.",
        notes=[
            "The theory takes models that put all they recognise first, in random order. Real systems put wrong"
            " candidates between, and some answers always below others, so that they differ from it either way."
        ],
    )


def _metric(context: Context, world: PoolWorld, metric: str, found: ReportedMetric) -> Section:
    label = METRICS[metric]
    key = f"metric-{metric.replace('@', '-').replace('_', '-')}"
    sparse, expected, completed, every = (
        values.tolist() for values in (found.sparse, found.expected, found.completed, found.every)
    )
    grown = "Over the seeds and the new answers, which were pooled because some system put them high."
    table = table_of(
        key,
        f"{label} of the seeds",
        range(len(context.systems)),
        [
            (Column("system", "System", "system"), lambda i: context.systems[i]),
            (REPORTED, lambda i: sparse[i]),
            (EXPECTED, lambda i: expected[i]),
            (Column("difference", "Reported − expected", "change"), lambda i: sparse[i] - expected[i]),
            (COMPLETED, lambda i: completed[i]),
            (Column("every", "Completed, with the new answers", note=grown), lambda i: every[i]),
        ],
    )
    series = [
        series_of("theory", CURVE, found.curve, plain=True),
        series_of("closed world", [0, 1], [0, 1], plain=True, quiet=True, dash="dot"),
        *(series_of(name, [completed[i]], [sparse[i]], system=i, size=10) for i, name in enumerate(context.systems)),
    ]
    lost = found.completed - found.sparse
    most = int(np.argmax(lost))
    title, axes = f"{label} reported against completed", {"xaxis": {"range": [0, 1]}, "yrange": [0, 1]}
    across, up = f"{label}, completed (ℓ)", f"{label}, reported"
    return Section(
        key,
        f"{label}: reported against completed",
        "A point is a system: across, its value with the new answers filtered out; up, what is reported without them."
        " On the dotted line nothing would be lost; the curve is the theory's.",
        _caption(context, world),
        [table],
        chart("lines", f"{title}, by system, with the theory's curve", series, x=across, y=up, **axes),
        finding=f"{shown_name(context.systems[most])} loses most: {lost[most]:.3f} of {completed[most]:.3f} {label};"
        f" theory expects {completed[most] - expected[most]:.3f}.",
    )


ANALYSIS = Analysis(
    "open-world",
    "Open world",
    "How much of what is right does the test set lack, and what does that do to the reported numbers?",
    "open-world",
    ("labels",),
    (Part("open-world", open_world),),
    docs_page="lenses",
    by_family=True,
)
