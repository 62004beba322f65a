"""Build the sections about the two parameters of PROBE: answers by rank and popularity, and how much each counts."""

from collections.abc import Callable

import numpy as np

from evaluation.measures.rank_table import Floats
from evaluation.measures.registry import Measure, parse_measure
from evaluation.measures.values import NO_ANSWER
from evaluation.probe.answers import PAPER_ROBUSTNESSES, PAPER_SHARPNESSES, ProbeAnswers, missing_notes, with_scores
from evaluation.probe.kernel import popularity_weights, rank_scores
from evaluation.sections.builders import chart, series_of, table_of
from evaluation.sections.relation_groups import by_bands, caption
from evaluation.sections.section import Cell, Chart, Column, Context, Section, Table, cell
from evaluation.sections.wording import system_words
from pooling.graphs.kernels.degrees import band, band_names, entity_degree
from pooling.systems.shown_names import shown_name

RANK_EDGES = (1, 2, 3, 5, 10, 20, 50, 100)
SHOWN_RANKS = (1, 2, 3, 5, 10, 20, 50, 100, 1000, 10_000, 100_000)
SOURCE = "Moon and Ko 2025"
BY_NAME = {"type": "category"}


def by_popularity(context: Context, old: ProbeAnswers, new: ProbeAnswers) -> Section:
    """Show the mean score of each system in bands of the degree of the answer."""
    sharpness = context.settings.sharpness
    scored = [with_scores(one, sharpness) for one in (old, new)]
    return by_bands(context, score_measure(sharpness), *scored)


def score_measure(sharpness: float) -> Measure:
    """Return the score of ranks at one sharpness as a measure, for titles of sections."""
    return Measure(
        **{**vars(parse_measure("micro_mrr")), "name": "probe", "label": f"Score at sharpness {sharpness:g}"}
    )


def by_rank(context: Context, answers: ProbeAnswers) -> Section:
    """Show how many answers each system has at which rank."""
    names = ["1", *band_names(RANK_EDGES)[1:], "not returned"]
    finite = np.where(np.isinf(answers.ranks), 1, np.ceil(answers.ranks)).astype(np.int64)
    of_answer = np.where(np.isinf(answers.ranks), len(RANK_EDGES) + 1, band(finite, RANK_EDGES))
    counts = np.array([np.bincount(own, minlength=len(names)) for own in of_answer])
    used = [g for g in range(len(names)) if counts[:, g].any() or g < len(names) - 1]
    columns = [Column("rank", "Rank", "text"), *(Column(s, shown_name(s), "count") for s in context.systems)]
    rows: list[list[Cell]] = [[names[g], *counts[:, g].tolist()] for g in used]
    best = [
        (row, i + 1)
        for row, g in enumerate(used[: RANK_EDGES.index(10) + 1])
        for i in np.flatnonzero(counts[:, g] == counts[:, g].max()).tolist()
        if len(set(counts[:, g].tolist())) > 1
    ]
    shown = [names[g] for g in used]
    drawn = {"rows": context.systems, "columns": shown, "values": counts[:, used].tolist()}
    return Section(
        "ranks",
        f"Answers by rank, {answers.name}",
        "How many answers each system puts at which rank. Sharpness decides how much answers below rank 1"
        " count: high sharpness favours systems with many answers at rank 1, low sharpness those with many near it.",
        f"{caption(context, answers.under)} Filtered realistic ranks; between two whole ranks an answer counts in the"
        " worse. The most of a row is bold up to rank 10.",
        [Table("ranks", f"Answers by rank, {answers.name}", columns, rows, best)],
        Chart("matrix", f"Answers of every system by rank, {answers.name}", drawn),
        _says_by_rank(context, counts, answers.n),
        missing_notes(context, answers),
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
        told.append(f"{system_words(most)} {verb} the most answers {where} ({int(values.max()):,} of {n:,})")
    return f"{told[0]}; {told[1]}."


def by_weight(context: Context, answers: ProbeAnswers) -> Section:
    """Show the share of the weight that answers of each band of degree have, by robustness."""
    graph, names = context.table.graph, list(band_names())
    degree = entity_degree(graph.train, graph.num_entities)
    of_answer = band(answers.popularity)
    weights = {b: popularity_weights(answers.popularity, b) for b in PAPER_ROBUSTNESSES}
    shares = {b: _shares(of_answer, weight, len(names)) for b, weight in weights.items()}
    train = _shares(band(degree), degree.astype(np.float64), len(names))
    count = np.bincount(of_answer, minlength=len(names)).tolist()

    def share(of: Floats, reason: str) -> Callable[[int], Cell]:
        return lambda g: cell(of[g], reason)

    title = f"What robustness counts, {answers.name}"
    in_train = Column("train", "In train", "share", "share of all appearances of entities in train")
    table = table_of(
        "weights",
        title,
        range(len(names)),
        [
            (Column("group", "Degree of the answer", "text"), lambda g: names[g]),
            (Column("n", "Answers", "count"), lambda g: count[g]),
            (in_train, share(train, "train is empty")),
            *((Column(f"b_{b:g}", f"b = {b:g}", "share"), share(of, NO_ANSWER)) for b, of in shares.items()),
        ],
    )
    series = [series_of(f"b = {b:g}", names, 100 * of, measure=i) for i, (b, of) in enumerate(shares.items())]
    series.append(series_of("in train", names, 100 * train, quiet=True))
    low, high = (f"{100 * shares[b][:2].sum():.1f} %" for b in (PAPER_ROBUSTNESSES[0], PAPER_ROBUSTNESSES[-1]))
    told = f"{low} of the weight at b = {PAPER_ROBUSTNESSES[0]:g} and {high} at b = {PAPER_ROBUSTNESSES[-1]:g}"
    label = "Share of the weight by degree of the answer, for four robustnesses, and of train"
    return Section(
        "weights",
        title,
        "The weight of an answer is (d + 1)^−b, d the training triples in which it appears, b the robustness. At b = 0"
        " every answer weighs the same, and the answers that train has most about decide.",
        f"{caption(context, answers.under)} Share of the whole weight that lies on the answers of each band of degree."
        " In train: share of all appearances of entities as head or tail.",
        [table, _graph_table(context, degree)],
        chart("bars", label, series, x="degree of the answer", y="share, %", xaxis=BY_NAME),
        f"Answers of degree up to {names[1].partition('-')[2]} have {told}." if answers.n else "",
    )


def _shares(group: np.ndarray, weight: Floats, groups: int) -> Floats:
    """Return the share of the weight of each group, [groups]; nan where there is no weight."""
    total = weight.sum()
    found = np.bincount(group, weight, minlength=groups)
    return found / total if total > 0 else np.full(groups, np.nan)


def _graph_table(context: Context, degree: np.ndarray) -> Table:
    seen = degree[degree > 0]
    mean = float(seen.mean()) if seen.size else float("nan")
    return table_of(
        "graph",
        "The graph",
        [context.table.graph],
        [
            (Column("graph", "Graph", "text"), lambda _: context.pool.graph.name),
            (Column("entities", "Entities", "count"), lambda graph: graph.num_entities),
            (Column("relations", "Relations", "count"), lambda graph: len(graph.relations)),
            (Column("train", "Train triples", "count"), lambda graph: len(graph.train)),
            (Column("mean", "Mean degree", note="of the entities in train"), lambda _: cell(mean, "train is empty")),
            (Column("most", "Highest degree", "count"), lambda _: int(degree.max(initial=0))),
            (Column("unseen", "Not in train", "count"), lambda graph: graph.num_entities - int(seen.size)),
        ],
    )


def by_score(context: Context) -> Section:
    """Show the score of a rank by sharpness, which is the same for all labels."""
    entities, sharpnesses = context.table.graph.num_entities, PAPER_SHARPNESSES
    ranks = [*(r for r in SHOWN_RANKS if r < entities), entities]
    line = np.unique(np.geomspace(1, entities, 60).round()) if entities > 1 else np.ones(1)
    scores = {a: rank_scores(ranks, entities, a).tolist() for a in sharpnesses}
    rows: list[list[Cell]] = [
        [f"{rank:,}", *(scores[a][i] for a in sharpnesses), *(float(rank) ** -a for a in sharpnesses)]
        for i, rank in enumerate(ranks)
    ]
    thick, thin = [], []
    for i, a in enumerate(sharpnesses):
        thick.append(series_of(f"a = {a:g}", line, rank_scores(line, entities, a), measure=i, plain=True))
        thin.append(series_of(f"a = {a:g}, not rescaled", line, line**-a, measure=i, thin=True))
    columns = [
        Column("rank", "Rank", "text"),
        *(Column(f"a_{a:g}", f"a = {a:g}") for a in sharpnesses),
        *(Column(f"power_{a:g}", f"r^−{a:g}", note="not rescaled") for a in sharpnesses),
    ]
    axes = {"x": "rank", "y": "score", "xaxis": {"type": "log"}, "yrange": [-0.02, 1.02]}
    return Section(
        "scores",
        "What sharpness counts",
        "The score of a rank r is an affine change of r^−a, a the sharpness, by which rank 1 scores 1 and the last rank"
        " 0. The thin lines are r^−a itself, which at a low sharpness leaves bad ranks a good score.",
        f"{entities:,} entities. At a = 0 the score is its limit, 1 − ln r / ln {entities:,}. Source: {SOURCE},"
        " equations 1 and 2.",
        [Table("scores", "Score by rank", columns, rows)],
        chart("lines", "Score by rank for four sharpnesses", [*thick, *thin], **axes),
    )
