"""Build the page of Moon and Ko (2025): its figures, equations and tables in its order, beside what is published.

How Sharp and Bias-Robust is a Model? Dual Evaluation Perspectives on Knowledge Graph Completion, arXiv 2512.06296.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evaluation.measures.registry import parse_measure
from evaluation.papers import published
from evaluation.papers.published import ABSENT, NOT_PUBLISHED
from evaluation.probe.answers import (
    MRR,
    PAPER_ROBUSTNESSES,
    PAPER_SHARPNESSES,
    ProbeAnswers,
    missing_notes,
    probe_answers,
)
from evaluation.probe.parameter_sections import by_rank, by_score, by_weight
from evaluation.probe.sections import surface
from evaluation.probe.slices import LETTER, Slice
from evaluation.sections.relation_groups import ValuesUnder, by_bands, caption, values_under
from evaluation.sections.section import Analysis, Cell, Column, Context, Part, Section, Table, cell, seed_columns
from evaluation.sections.wording import places, system_words
from evaluation.statistics.groups import by_popularity
from pooling.graphs.kernels.degrees import entity_degree
from pooling.systems.shown_names import shown_name

# printed in the paper
SYSTEMS = ("rotate", "tucker", "plogicnet", "rnnlogic")
TABLE_1 = {"FB15k-237": (14_541, 237, 272_115, 37.5, 7_614), "WN18RR": (40_943, 11, 86_835, 4.3, 482)}
TABLE_2 = {
    ("FB15k-237", "sharpness"): ((0.544, 0.424, 0.314, 0.252), (0.579, 0.463, 0.355, 0.294),
                                 (0.549, 0.431, 0.324, 0.264), (0.534, 0.421, 0.320, 0.263)),
    ("WN18RR", "sharpness"): ((0.587, 0.520, 0.464, 0.431), (0.560, 0.509, 0.469, 0.447),
                              (0.629, 0.546, 0.474, 0.434), (0.575, 0.524, 0.482, 0.458)),
    ("FB15k-237", "robustness"): ((0.314, 0.261, 0.224, 0.177), (0.355, 0.294, 0.250, 0.194),
                                  (0.324, 0.275, 0.242, 0.204), (0.320, 0.260, 0.219, 0.170)),
    ("WN18RR", "robustness"): ((0.464, 0.445, 0.423, 0.375), (0.469, 0.445, 0.420, 0.367),
                               (0.474, 0.440, 0.409, 0.354), (0.482, 0.454, 0.426, 0.368)),
}  # fmt: skip
CUTS = (
    Slice("sharpness", PAPER_SHARPNESSES, PAPER_SHARPNESSES, MRR[1]),
    Slice("robustness", PAPER_ROBUSTNESSES, PAPER_ROBUSTNESSES, MRR[0]),
)
PART = {"sharpness": "P1", "robustness": "P2"}
DIFFERS = (
    "Published figures are means of three trainings by the authors' own programs, without a standard deviation. Ours"
    " are of the systems of this pool; where a system was trained with several seeds, brackets hold their mean and"
    " standard deviation. Systems of the paper that this pool lacks have their published values only."
)
HEADS = (
    "The text of the paper that we have lost the heads of its columns. Sharpness 1/4, 1/2, 1, 2 follows from the values"
    " and the mark of MRR; robustness 0, 1/4, 1/2, 1 is our reading and not certain."
)
MOVES = (
    "In the paper, on WN18RR, RNNLogic is first at a = 1 and RotatE last; at a = 1/4 RotatE is second. The text says"
    " that RNNLogic is then last, its table that it is third.",
    "There also pLogicNet is second at b = 0 and last at b = 1, RotatE last at b = 0 and first at b = 1.",
)
FIGURE_4 = (
    "The value of every system at every sharpness and robustness; choose the systems that are drawn. Their distance is"
    " small beside the slope: the page PROBE has a map of who is best where."
)
PAIR = ("rnnlogic", "rotate")  # which the paper compares in figure 1


class Claim(NamedTuple):
    """Hold one thing that the paper says of its systems, and whether it is so here; None: it cannot be told."""

    place: str
    words: str
    here: bool | None
    lacks: str = ""


def everything(context: Context) -> list[Section]:
    """Return all sections: on full test, as in the paper; table 2 on the current labels too."""
    own = replace(context, settings=replace(context.settings, labels="full-test", against="current"))
    full, current = probe_answers(own, "labels"), probe_answers(own, "against")
    mrr = parse_measure("micro_mrr")
    old, new = (values_under(own, key, mrr.name) for key in ("against", "labels"))
    ranked, weighed, drawn = by_rank(own, full), by_weight(own, full), surface(own, full)
    lacking = _lacking(own)
    return [
        _named(ranked, "figure-1a", "Figure 1 (a). Answers by rank", [*ranked.notes, *lacking]),
        _named(by_bands(own, mrr, old, new), "figure-1b", "Figure 1 (b). Micro MRR by popularity of the answer"),
        _named(by_score(own), "figure-2", "Equations 1 and 2, figure 2. The score of a rank by sharpness"),
        replace(
            _named(weighed, "figure-3", "Equations 3 and 4, figure 3. The weight of an answer by robustness"),
            tables=weighed.tables[:1],
        ),
        _table_1(own, weighed.tables[1]),
        _table_2(own, full),
        _table_2(own, current, shows_published=False),
        replace(_named(drawn, "figure-4", "Figure 4. PROBE by sharpness and robustness"), text=FIGURE_4),
        _claims(own, full, new),
    ]


def _named(section: Section, key: str, title: str, notes: Sequence[str] | None = None) -> Section:
    return replace(section, key=key, title=title, notes=section.notes if notes is None else notes)


def _lacking(context: Context) -> list[str]:
    """Say which systems of the paper this pool lacks, and how to get them."""
    graph, pool = context.pool.graph.name, context.pool.name
    if not (lacking := published.lacking(context, SYSTEMS)):
        return []
    return [
        f"Of the paper's four systems this pool lacks {', '.join(map(shown_name, lacking))}: train them on the page"
        f" Systems of {graph}, then have them scored on the overview of {pool}."
    ]


def _data_set(context: Context) -> str:
    """Return which of the paper's two graphs this one is, by its number of entities; FB15k-237 if none."""
    entities = context.table.graph.num_entities
    return next((name for name, row in TABLE_1.items() if row[0] == entities), "FB15k-237")


def _table_1(context: Context, measured: Table) -> Section:
    rows = [list(row) for row in measured.rows]
    rows += [[f"{name}, published", *row, cell(np.nan, NOT_PUBLISHED)] for name, row in TABLE_1.items()]
    table = Table("table-1", "The graphs", measured.columns, rows)
    text = "The graph of this pool, and the two of the paper. A degree counts the training triples of an entity."
    where = f"Graph {context.pool.graph.name}. The mean degree is of the entities that train has."
    return Section("table-1", "Table 1. Statistics of the graphs", text, where, [table])


def _table_2(context: Context, answers: ProbeAnswers, shows_published: bool = True) -> Section:
    key = "table-2" if shows_published else f"table-2-{answers.under.labels.key}"
    tables = [_cut(context, answers, cut, shows_published, f"{key}-{PART[cut.along]}".lower()) for cut in CUTS]
    text = "PROBE by sharpness a at robustness 0, and by robustness b at sharpness 1. Both have a column that is MRR."
    more = "" if shows_published else " The paper has no completed labels: the same table, with what people found."
    notes = [DIFFERS, HEADS, *missing_notes(context, answers)] if shows_published else missing_notes(context, answers)
    title = f"Table 2. Effects of sharpness and robustness, {answers.name}"
    return Section(key, title, text + more, caption(context, answers.under), tables, notes=notes)


def _cut(context: Context, answers: ProbeAnswers, cut: Slice, shows_published: bool, key: str) -> Table:
    values, data = cut.of(answers, cut.points), _data_set(context)
    theirs = dict(zip(SYSTEMS, TABLE_2[data, cut.along], strict=True))
    named = published.names(context.seeds_of, SYSTEMS)
    columns = [Column("system", "System", "system")]
    rows: list[list[Cell]] = [[name] for name in context.systems]
    best = []
    for j, point in enumerate(cut.points):
        best += [(i, len(columns)) for i, place in enumerate(places(values[:, j], True)) if place == 1]
        point_key = f"{LETTER[cut.along]}_{point:g}"
        columns.append(Column(point_key, f"{LETTER[cut.along]} = {point:g}{_mrr(cut, point)}"))
        for row, value in zip(rows, values[:, j], strict=True):
            row.append(answers.cell(value))
        if shows_published:
            columns.append(Column(f"{point_key}_published", "Published", note=f"on {data}"))
            for row, name in zip(rows, named, strict=True):
                row.append(cell(theirs[name][j] if name in theirs else np.nan, NOT_PUBLISHED))
    table = Table(key, f"{PART[cut.along]}. PROBE by {cut.along}", columns, rows, best if len(rows) > 1 else ())
    spread = answers.spread(lambda one: cut.of(one, cut.points))
    table = seed_columns(table, range(1, len(columns), 1 + shows_published), spread)
    if not shows_published:
        return table
    others = [
        [name, *(c for value in row for c in (ABSENT, value))] for name, row in theirs.items() if name not in named
    ]
    return replace(table, rows=[*table.rows, *others])


def _mrr(cut: Slice, point: float) -> str:
    return " (MRR)" if point == (MRR[0] if cut.along == "sharpness" else MRR[1]) else ""


def _claims(context: Context, full: ProbeAnswers, mrr: ValuesUnder) -> Section:
    """Show what the paper says of its systems, and whether it holds for those of this pool."""
    named = published.names(context.seeds_of, SYSTEMS)
    rule, embedding = (named.index(name) if name in named else None for name in PAIR)
    pair: list[bool | None] = [None, None]
    if rule is not None and embedding is not None and full.n:
        one, other = full.ranks[[rule, embedding]]
        first = (one == 1).sum() > (other == 1).sum()
        near = [((ranks > 1) & (ranks <= 100)).sum() for ranks in (one, other)]
        degree = entity_degree(context.table.graph.train, context.table.graph.num_entities)
        groups = by_popularity(mrr.labels.prepared.table, mrr.labels.state, degree)
        found = mrr.means(groups)
        lead = (found.mean[embedding] > found.mean[rule])[found.count > 0]
        pair = [bool(first and near[1] > near[0]), bool(lead[:-1].all() and not lead[-1])]
    asked = f"needs {system_words(PAIR)}"
    claims = [
        Claim("figure 1 (a)", "RNNLogic has more answers at rank 1, RotatE at ranks 2 to 100.", pair[0], asked),
        Claim(
            "figure 1 (b)", "RotatE is better than RNNLogic in all bands of popularity but the highest.", pair[1], asked
        ),
    ]
    for cut in CUTS:
        values = cut.of(full, cut.points)
        falls = bool((np.diff(values, axis=1) < 0).all()) if full.n else None
        placed = np.array([places(column, True) for column in values.T], dtype=object)
        moves = bool((placed != placed[0]).any()) if full.n and len(values) > 1 else None
        lacks = ("no answer", "one system, or no answer")
        claims.append(Claim(f"table 2, {PART[cut.along]}", f"Values fall as {cut.along} rises.", falls, lacks[0]))
        claims.append(Claim(f"table 2, {PART[cut.along]}", "So the order of the systems changes.", moves, lacks[1]))
    rows: list[list[Cell]] = [
        [
            claim.place,
            claim.words,
            f"cannot be told: {claim.lacks}" if claim.here is None else ("no", "yes")[claim.here],
        ]
        for claim in claims
    ]
    columns = [Column("place", "In the paper", "text"), Column("claim", "What it says", "text")]
    columns.append(Column("here", "Here", "text"))
    table = Table("claims", "What the paper says of its systems, and whether it is so here", columns, rows)
    text = "The conclusions that rest on the tables and figures above, for the systems of this pool."
    return Section("claims", "What holds here", text, caption(context, full.under), [table], notes=MOVES)


ANALYSIS = Analysis(
    "paper-004",
    "Moon and Ko (2025), How sharp and bias-robust is a model?",
    "How strictly a rank is scored, and how much answers about popular entities count."
    " Tables and figures in the order of the paper, published beside measured.",
    "moon-and-ko-2025",
    (),
    (Part("figures", everything),),
    also=("current", "full-test"),
    docs_page="reproduction",
    by_family=True,
)
