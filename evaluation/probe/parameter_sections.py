"""What the two parameters of PROBE act on: answers by rank and by popularity, and what each of them then counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evaluation.measures.rank_table import Floats
from evaluation.measures.registry import Measure, parse_measure
from evaluation.measures.values import NO_ANSWER
from evaluation.probe.answers import (
    PAPER_ROBUSTNESSES,
    PAPER_SHARPNESSES,
    ProbeAnswers,
    missing_notes,
    probe_caption,
    with_scores,
)
from evaluation.probe.kernel import popularity_weights, rank_scores
from evaluation.sections.relation_groups import by_bands
from evaluation.sections.section import Cell, Chart, Column, Context, Section, Table, cell, numbers
from evaluation.sections.wording import words
from pooling.graphs.kernels.degrees import band, band_names, entity_degree

RANK_EDGES = (1, 2, 3, 5, 10, 20, 50, 100)
SHOWN_RANKS = (1, 2, 3, 5, 10, 20, 50, 100, 1000, 10_000, 100_000)
SOURCE = "Moon and Ko 2025"


def by_popularity(context: Context, old: ProbeAnswers, new: ProbeAnswers) -> Section:
    """The mean score of each system in bands of the degree of the answer."""
    sharpness = context.settings.sharpness
    measure = score_measure(sharpness)
    scored = [with_scores(one.side, rank_scores(one.ranks, one.entities, sharpness)) for one in (old, new)]
    return by_bands(context, measure, *scored)


def score_measure(sharpness: float) -> Measure:
    """The score of ranks at one sharpness as what sections are titled by."""
    return replace(parse_measure("micro_mrr"), name="probe", label=f"Score at sharpness {sharpness:g}")


# -- by rank ----------------------------------------------------------------------------------------------------


def by_rank(context: Context, side: ProbeAnswers) -> Section:
    """How many answers each system puts at which rank."""
    names = ["1", *band_names(RANK_EDGES)[1:], "not returned"]
    finite = np.where(np.isinf(side.ranks), 1, np.ceil(side.ranks)).astype(np.int64)
    of_answer = np.where(np.isinf(side.ranks), len(RANK_EDGES) + 1, band(finite, RANK_EDGES))
    counts = np.array([np.bincount(own, minlength=len(names)) for own in of_answer])
    used = [g for g in range(len(names)) if counts[:, g].any() or g < len(names) - 1]
    columns = [Column("rank", "Rank", "text"), *(Column(s, s, "count") for s in context.systems)]
    rows: list[list[Cell]] = [[names[g], *counts[:, g].tolist()] for g in used]
    best = [
        (row, i + 1)
        for row, g in enumerate(used[: RANK_EDGES.index(10) + 1])
        for i in np.flatnonzero(counts[:, g] == counts[:, g].max()).tolist()
        if len(set(counts[:, g].tolist())) > 1
    ]
    return Section(
        "ranks",
        f"Answers by rank, {side.name}",
        "How many answers each system puts at which rank. Sharpness decides how much those count that are not at rank"
        " 1: who has many at rank 1 gains by a high one, who has many close behind by a low one.",
        f"{probe_caption(context, side)} Filtered realistic ranks; between two whole ranks an answer counts in the"
        " worse. The most of a row is bold up to rank 10.",
        [Table("ranks", f"Answers by rank, {side.name}", columns, rows, best)],
        Chart(
            "bars",
            f"Answers of every system by rank, {side.name}",
            {
                "series": [
                    {"system": i, "name": name, "x": [names[g] for g in used], "y": counts[i, used].tolist()}
                    for i, name in enumerate(context.systems)
                ],
                "y": "answers",
                "xaxis": {"type": "category"},
            },
        ),
        _says_by_rank(context, counts, side.n),
        missing_notes(context, side),
    )


def _says_by_rank(context: Context, counts: np.ndarray, n: int) -> str:
    if len(context.systems) < 2 or not n:
        return ""
    first, near = counts[:, 0], counts[:, 1 : RANK_EDGES.index(10) + 1].sum(axis=1)
    told = []
    for values, where in ((first, "at rank 1"), (near, "at ranks 2 to 10")):
        most = [s for s, value in zip(context.systems, values, strict=True) if value == values.max()]
        if len(most) == len(context.systems):
            return ""
        verb = "have" if len(most) > 1 else "has"
        told.append(f"{words(most)} {verb} the most answers {where} ({int(values.max()):,} of {n:,})")
    return f"{told[0]}; {told[1]}."


# -- what the parameters count ----------------------------------------------------------------------------------


def by_weight(context: Context, side: ProbeAnswers) -> Section:
    """What share of the weight the answers of each band of degree have, by robustness."""
    graph, names = context.table.graph, list(band_names())
    degree = entity_degree(graph.train, graph.num_entities)
    of_answer = band(side.popularity)
    weights = [popularity_weights(side.popularity, b) for b in PAPER_ROBUSTNESSES]
    shares = [_shares(of_answer, weight, len(names)) for weight in weights]
    train = _shares(band(degree), degree.astype(np.float64), len(names))
    count = np.bincount(of_answer, minlength=len(names)).tolist()
    rows: list[list[Cell]] = [
        [name, count[g], cell(train[g], "train is empty"), *(cell(of[g], NO_ANSWER) for of in shares)]
        for g, name in enumerate(names)
    ]
    title = f"What robustness counts, {side.name}"
    return Section(
        "weights",
        title,
        "The weight of an answer is (d + 1)^−b, d the training triples in which it appears, b the robustness. At b = 0"
        " every answer weighs the same, and the answers that train has most about decide.",
        f"{probe_caption(context, side)} Share of the whole weight that lies on the answers of each band of degree."
        " In train: share of all appearances of entities as head or tail.",
        [
            Table(
                "weights",
                title,
                [
                    Column("group", "Degree of the answer", "text"),
                    Column("n", "Answers", "count"),
                    Column("train", "In train", "share", "share of all appearances of entities in train"),
                    *(Column(f"b_{b:g}", f"b = {b:g}", "share") for b in PAPER_ROBUSTNESSES),
                ],
                rows,
            ),
            _graph_table(context, degree),
        ],
        Chart(
            "bars",
            "Share of the weight by degree of the answer, for four robustnesses, and of train",
            {
                "series": [
                    *(
                        {"measure": i, "name": f"b = {b:g}", "x": names, "y": numbers(100 * of)}
                        for i, (b, of) in enumerate(zip(PAPER_ROBUSTNESSES, shares, strict=True))
                    ),
                    {"quiet": True, "name": "in train", "x": names, "y": numbers(100 * train)},
                ],
                "x": "degree of the answer",
                "y": "share, %",
                "xaxis": {"type": "category"},
            },
        ),
        _says_by_weight(names, shares) if side.n else "",
    )


def _shares(group: np.ndarray, weight: Floats, groups: int) -> Floats:
    """[groups]; nan where there is nothing to share."""
    total = weight.sum()
    found = np.bincount(group, weight, minlength=groups)
    return found / total if total > 0 else np.full(groups, np.nan)


def _says_by_weight(names: list[str], shares: list[Floats]) -> str:
    low, high = (100 * float(of[:2].sum()) for of in (shares[0], shares[-1]))
    return (
        f"Answers of degree up to {names[1].partition('-')[2]} have {low:.1f} % of the weight at b ="
        f" {PAPER_ROBUSTNESSES[0]:g} and {high:.1f} % at b = {PAPER_ROBUSTNESSES[-1]:g}."
    )


def _graph_table(context: Context, degree: np.ndarray) -> Table:
    graph, seen = context.table.graph, degree[degree > 0]
    return Table(
        "graph",
        "The graph",
        [
            Column("graph", "Graph", "text"),
            Column("entities", "Entities", "count"),
            Column("relations", "Relations", "count"),
            Column("train", "Train triples", "count"),
            Column("mean", "Mean degree", "value", "of the entities in train"),
            Column("most", "Highest degree", "count"),
            Column("unseen", "Not in train", "count"),
        ],
        [
            [
                context.pool.graph.name,
                graph.num_entities,
                len(graph.relations),
                len(graph.train),
                cell(float(seen.mean()) if seen.size else float("nan"), "train is empty"),
                int(degree.max(initial=0)),
                graph.num_entities - int(seen.size),
            ]
        ],
    )


def by_score(context: Context) -> Section:
    """The score of a rank, by sharpness; the same for all labels."""
    entities = context.table.graph.num_entities
    ranks = [*(r for r in SHOWN_RANKS if r < entities), entities]
    line = np.unique(np.geomspace(1, entities, 60).round()) if entities > 1 else np.ones(1)
    rows: list[list[Cell]] = [
        [
            f"{rank:,}",
            *(float(rank_scores([rank], entities, a)[0]) for a in PAPER_SHARPNESSES),
            *(float(rank) ** -a for a in PAPER_SHARPNESSES),
        ]
        for rank in ranks
    ]
    series = [
        {
            "measure": i,
            "name": f"a = {a:g}",
            "x": line.tolist(),
            "plain": True,
            "y": numbers(rank_scores(line, entities, a)),
        }
        for i, a in enumerate(PAPER_SHARPNESSES)
    ] + [
        {"measure": i, "name": f"a = {a:g}, not rescaled", "x": line.tolist(), "y": numbers(line**-a), "thin": True}
        for i, a in enumerate(PAPER_SHARPNESSES)
    ]
    return Section(
        "scores",
        "What sharpness counts",
        "The score of a rank r is an affine change of r^−a, a the sharpness, by which rank 1 scores 1 and the last rank"
        " 0. The thin lines are r^−a itself, which at a low sharpness leaves bad ranks a good score.",
        f"{entities:,} entities. At a = 0 the score is its limit, 1 − ln r / ln {entities:,}. Source: {SOURCE},"
        " equations 1 and 2.",
        [
            Table(
                "scores",
                "Score by rank",
                [
                    Column("rank", "Rank", "text"),
                    *(Column(f"a_{a:g}", f"a = {a:g}") for a in PAPER_SHARPNESSES),
                    *(Column(f"power_{a:g}", f"r^−{a:g}", note="not rescaled") for a in PAPER_SHARPNESSES),
                ],
                rows,
            )
        ],
        Chart(
            "lines",
            "Score by rank for four sharpnesses",
            {"series": series, "x": "rank", "y": "score", "xaxis": {"type": "log"}, "yrange": [-0.02, 1.02]},
        ),
    )
