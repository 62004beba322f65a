"""Build the page of Zhou et al. (2022): its tables and figures in its order, published figures beside measured ones.

Re-thinking knowledge graph completion evaluation from an information retrieval perspective, SIGIR.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from evaluation.analyses import depth, discriminative, stability
from evaluation.labels.label_sets import LabelSet, label_set
from evaluation.labels.pool_table import EvaluationError
from evaluation.measures.label_state import positive
from evaluation.measures.rank_table import Floats, Ints
from evaluation.measures.registry import parse_measure
from evaluation.papers import published
from evaluation.papers.paper_003_orders import orders
from evaluation.papers.published import NOT_PUBLISHED
from evaluation.sections.relation_groups import categories
from evaluation.sections.relation_shares import positives_by_relation, relation_shares
from evaluation.sections.section import Analysis, Cell, Chart, Column, Context, Part, Section, Table, cell, seed_columns
from evaluation.sections.wording import why_no_tau
from evaluation.statistics.correlation import tau_of_means
from evaluation.statistics.groups import boxes, by_relation, by_side_and_category, group_means, reweighted
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.pools.kernels.shares import shares
from pooling.questions.kernel import questions_from_keys
from pooling.systems.shown_names import shown_name

SETS = {"full-test": "O", "seeds": "S", "current": "S-C"}
MICRO = ("micro_mr", "micro_mrr", "micro_hits@1", "micro_hits@3", "micro_hits@10")
FIGURE_5 = ("micro_mrr", "micro_hits@10", "macro_mrr", "macro_hits@10")
FIGURE_7 = (*FIGURE_5, "map@20", "ndcg@20")
MEASURES = (*MICRO, "macro_mrr", "macro_hits@10", "map@20", "ndcg@20")
EXAMPLES, MOST_NAMES = 3, 8
EXAMPLE_COLUMNS = (("question", "Question"), ("original", "Original answers"), ("new", "Annotated as answers"))
BOX = ("low", "q1", "median", "q3", "high")
CATEGORIES = {"1-1": "one_to_one", "1-N": "one_to_many", "N-1": "many_to_one", "N-N": "many_to_many"}
SYSTEMS = ("transe", "rotate", "hake", "atte", "distmult", "rescal", "complex", "tucker", "bique", "conve", "compgcn",
           "interacte", "hitter")  # fmt: skip
# printed in the paper
TABLE_1 = {"O": (20_466, 20_466, 0), "S": (1_023, 1_023, 0), "S-C": (22_492, 2_738, 19_754)}
DIVERGENCES = {"full test ‖ seeds only": 0.0889, "all triples of the graph ‖ full test": 0.2789,
               "full test ‖ current labels": 0.2386}  # fmt: skip
TABLE_4 = {"S-C": (0.2308, -0.2308, -0.0519, -0.4358, 0.2598), "S": (0.2308, -0.2051, 0.0256, -0.2051, 0.3377)}
NO_ANSWER = "no positive triple under these labels"
DIFFERS = (
    "Published figures are of thirteen systems, trained by their authors' settings, on FB15k-237 and its published"
    " pool. Other systems, shorter training or another pool give other figures; tau moves most, since it rests on gaps"
    " between systems."
)


def sets_of(context: Context) -> dict[str, LabelSet]:
    """Return the paper's three test sets by name: O is full test, S the seeds, S-C the current labels."""
    return {name: label_set(context.pool, context.table, key) for key, name in SETS.items()}


def light(context: Context) -> list[Section]:
    sets = sets_of(context)
    return [
        _table_1(context, sets),
        _table_2(context, sets["S-C"]),
        _figure_2(context),
        _measures(context, sets),
        *orders(context.systems, published.names(context.seeds_of, SYSTEMS), sets, _caption(context)),
        *_by_depth(context, "figure-4", "Figure 4. Micro measures by pool depth", MICRO),
        _table_3(context, sets),
        *_by_depth(context, "figure-5", "Figure 5. Micro and macro measures by pool depth", FIGURE_5),
        _figure_6(context, sets),
        _table_4(context, sets),
        *_figure_8(context),
    ]


def _section(context: Context, key: str, title: str, text: str, tables: Sequence[Table], **more: object) -> Section:
    return replace(Section(key, title, text, _caption(context), tables), **more)  # type: ignore[arg-type]


def _caption(context: Context) -> str:
    pool = f"Pool {context.pool.name} of {context.pool.graph.name}; {len(context.systems)} systems"
    return f"{pool}. O: full test, S: the seeds, S-C: the current labels."


def _pairs(measures: Sequence[str], kind: str = "value") -> Iterator[Column]:
    """Yield two columns of each measure, measured and published."""
    for name in measures:
        yield Column(name, parse_measure(name).label, kind)
        yield Column(f"{name}_published", "Published", kind)


def _table_1(context: Context, sets: dict[str, LabelSet]) -> Section:
    graph = context.table.graph
    rows: list[list[Cell]] = []
    for name, chosen in sets.items():
        counts = chosen.counts()
        right = len(graph.test) if name == "O" else counts["positive"]
        wrong = counts["negative"] + counts["assumed_negative"] + counts["unjudged"] if name == "S-C" else 0
        pairs = zip((right + wrong, right, wrong), TABLE_1[name], strict=True)
        rows.append([name, *(n for pair in pairs for n in pair)])
    columns = [Column("set", "Test set", "text")]
    for key in ("triples", "positives", "negatives"):
        columns += [Column(key, key.capitalize(), "count"), Column(f"{key}_published", "Published", "count")]
    text = "How many triples the three test sets have. As in the paper, what nobody judged counts as negative on S-C."
    table = Table("table-1", "Statistics of the test sets", columns, rows)
    notes = [DIFFERS, *_missing(context, sets)]
    return _section(context, "table-1", "Table 1. Statistics of the test sets", text, [table], notes=notes)


def _missing(context: Context, sets: dict[str, LabelSet]) -> Iterator[str]:
    """Say what this pool lacks of the paper, and how to get it."""
    graph, pool = context.pool.graph.name, context.pool.name
    if lacking := published.lacking(context, SYSTEMS):
        yield (
            f"Of the paper's thirteen systems this pool lacks {', '.join(map(shown_name, lacking))}: train them on the"
            f" page Systems of {graph}, then have them scored on the overview of {pool}."
        )
    if not sets["S-C"].counts()["negative"] and sets["S-C"].counts()["positive"] == sets["S"].counts()["positive"]:
        yield (
            "Nobody has labelled a triple yet, so S-C is S: open the campaign of the pool, or bring labels with"
            " the command import_labels."
        )
    if not published.rows("systems"):
        yield (
            "The published result files are missing, so ours are compared with the printed figures only: set"
            " TRIPLEPOOL_DATA to a folder that has published/."
        )


def _table_2(context: Context, chosen: LabelSet) -> Section:
    """Show the questions for which labels found most new answers."""
    table, graph = chosen.prepared.table, context.table.graph
    right, is_seed = positive(chosen.state)[table.triple], context.table.is_seed[table.triple]
    found = np.bincount(table.question[right & ~is_seed], minlength=table.questions)
    rows: list[list[Cell]] = []
    for q in np.argsort(-found, kind="stable")[:EXAMPLES].tolist():
        if not found[q]:
            break
        asked = questions_from_keys(context.table.question_keys[q : q + 1], *graph.shape)
        given, relation = graph.label(int(asked.entity[0])), graph.relation_name(int(asked.relation[0]))
        words = f"?, {relation}, {given}" if asked.side[0] else f"{given}, {relation}, ?"
        of_question = table.question == q
        old, new = (_names(graph, table.entity[of_question & right & of]) for of in (is_seed, ~is_seed))
        rows.append([words, old, new])
    columns = [Column(key, label, "text") for key, label in EXAMPLE_COLUMNS]
    title = "Table 2. Examples of what was labelled"
    text = (
        "The questions with most new answers: what test knew, and what people found in the candidates of the systems."
    )
    return _section(context, "table-2", title, text, [Table("table-2", "Examples", columns, rows)])


def _names(graph: GraphArrays, entities: Ints) -> str:
    names = [graph.label(entity) for entity in entities.tolist()]
    more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _figure_2(context: Context) -> Section:
    section = relation_shares(context)
    found = {row[0]: row[1] for row in section.tables[0].rows}
    rows: list[list[Cell]] = [[name, found.get(name), value] for name, value in DIVERGENCES.items() if name in found]
    columns = [Column("pair", "P ‖ Q", "text"), Column("divergence", "D, nats"), Column("published", "Published")]
    table = Table("figure-2-divergence", "Kullback-Leibler divergence of relation shares", columns, rows)
    shown = replace(section.tables[1], key="figure-2-shares", in_files=True)
    title = "Figure 2. Relations of the test sets, and their divergences"
    return _section(
        context, "figure-2", title, section.text, [table, shown], chart=section.chart, finding=section.finding,
        caption=section.caption,
    )  # fmt: skip


def _measures(context: Context, sets: dict[str, LabelSet]) -> Section:
    tables = []
    for key, name in SETS.items():
        found = sets[name].values(MEASURES)
        rows: list[list[Cell]] = []
        for i, theirs in enumerate(published.names(context.seeds_of, SYSTEMS)):
            row: list[Cell] = [context.systems[i]]
            for measure in MEASURES:
                row.append(cell(float(found[measure].mean()[i]), found[measure].reasons()[i]))
                row.append(cell(published.value(key, theirs, measure), NOT_PUBLISHED))
            rows.append(row)
        columns = [Column("system", "System", "system"), *_pairs(MEASURES)]
        table = Table(f"measures-{name.lower()}", f"Measures on {name}", columns, rows)
        tables.append(seed_columns(table, range(1, len(columns), 2), context.spread(partial(_means, key=key))))
    text = "All measures of every system on the three test sets, which the other tables and figures compare."
    return _section(context, "measures", "Measures on the three test sets", text, tables)


def _means(context: Context, key: str) -> Floats:
    found = label_set(context.pool, context.table, key).values(MEASURES)
    return np.stack([found[measure].mean() for measure in MEASURES], axis=1)


def _by_depth(context: Context, key: str, title: str, measures: tuple[str, ...]) -> Iterator[Section]:
    """Show tau against the seeds by pool depth; nothing where the pool has no depths."""
    own = replace(context, settings=replace(context.settings, measures=measures))
    try:
        found = next(section for section in depth.by_depth(own) if section.key == "depth-seeds")
    except EvaluationError:
        return
    theirs = published.rows("depth")
    seeds = {name: published.values(theirs, name, depth="0") for name in measures}
    rows: list[list[Cell]] = []
    for row in found.tables[0].rows:
        cells: list[Cell] = [*row[:2]]
        for name, tau in zip(measures, row[2:], strict=True):
            at = published.values(theirs, name, depth=str(row[0]))
            cells += [tau, cell(published.tau(name, seeds[name], at), NOT_PUBLISHED)]
        rows.append(cells)
    columns = [*found.tables[0].columns[:2], *_pairs(measures, "tau")]
    text = "Tau between the order of the systems on S and with the labels to each depth, which ends at S-C."
    table = Table(f"{key}-tau", found.tables[0].title, columns, rows)
    yield _section(context, key, title, text, [table], chart=found.chart, finding=found.finding)


def _table_3(context: Context, sets: dict[str, LabelSet]) -> Section:
    measures = ("micro_mrr", "micro_hits@1", "micro_hits@3", "micro_hits@10")
    groups = by_side_and_category(context.table.ranks, *categories(context))
    found = {name: sets[name].values(measures) for name in ("S", "S-C")}
    means = {m: [group_means(found[name][m], groups).mean for name in ("S", "S-C")] for m in measures}
    theirs = published.rows("categories")
    rows: list[list[Cell]] = []
    for g, group in enumerate(groups.names):
        side, _, category = group.partition(" ")
        row: list[Cell] = [group]
        for name in measures:
            one, other = (mean[:, g] for mean in means[name])
            row.append(cell(tau_of_means(one, other), "undefined for a system, or all systems are equal"))
            where = {"side": side, "category": CATEGORIES.get(category, "")}
            sparse, dense = (
                published.values(theirs, name, test_set=published.SETS[key], **where) for key in ("seeds", "current")
            )
            row.append(cell(published.tau(name, sparse, dense), NOT_PUBLISHED))
        rows.append(row)
    columns = [Column("group", "Side and category", "text"), *_pairs(measures, "tau")]
    text = "Tau between the orders on S and on S-C, of the questions of one side and of relations of one category."
    table = Table("table-3", "Kendall's tau-b by side and relation category", columns, rows)
    return _section(context, "table-3", "Table 3. Tau by relation category", text, [table])


def _figure_6(context: Context, sets: dict[str, LabelSet]) -> Section:
    """Show the relations of HittER, as the paper does, or of the best system on O."""
    found = {name: chosen.values(["micro_mrr"])["micro_mrr"] for name, chosen in sets.items()}
    best = int(np.argmax(np.nan_to_num(found["O"].mean(), nan=-1.0)))
    names = published.names(context.seeds_of, SYSTEMS)
    i = names.index("hitter") if "hitter" in names else best
    groups = by_relation(context.table.ranks, context.table.graph.relations)
    rows: list[list[Cell]] = []
    drawn = []
    for slot, (name, values) in enumerate(found.items()):
        of = boxes(group_means(values, groups))
        parts = {key: float(getattr(of, key)[i]) for key in BOX}
        rows.append([name, int(of.relations[i]), *(cell(part, NO_ANSWER) for part in parts.values())])
        if of.relations[i]:
            drawn.append({"name": name, "measure": slot, "boxes": [{"x": name, **parts}]})
    columns = [Column("set", "Test set", "text"), Column("relations", "Relations", "count")]
    columns += [Column(key, key.capitalize()) for key in BOX]
    title = f"Figure 6. Relations by Micro MRR of {shown_name(context.systems[i])}"
    return _section(
        context, "figure-6", title,
        "Quartiles over relations, each of which counts alike. In the paper HittER's medians on O and S-C are similar,"
        " the one on S a little smaller: what was labelled is not easier than what was there.",
        [Table("figure-6", title, columns, rows)],
        chart=Chart("box", f"{title}, a box for each test set", {"groups": drawn, "y": "Micro MRR"}),
    )  # fmt: skip


def _table_4(context: Context, sets: dict[str, LabelSet]) -> Section:
    groups = by_relation(context.table.ranks, context.table.graph.relations)
    values = {name: sets[name].values(MICRO) for name in ("S", "S-C")}
    rows: list[list[Cell]] = []
    for of in ("S-C", "S"):
        weight = np.nan_to_num(shares(positives_by_relation(context, sets[of])))
        row: list[Cell] = [f"S-C, shares of {of}"]
        for name, theirs in zip(MICRO, TABLE_4[of], strict=True):
            again: Floats = reweighted(group_means(values["S-C"][name], groups), weight).value
            tau = tau_of_means(values["S"][name].mean(), again, parse_measure(name).higher_is_better)
            row += [cell(tau, why_no_tau(len(context.systems))), theirs]
        rows.append(row)
    columns = [Column("order", "Order on", "text"), *_pairs(MICRO, "tau")]
    text = (
        "Tau with the order on S, of the order on S-C with its own shares of relations and with those of S. Where the"
        " second is no closer to 1, the mixture of relations is not what changes the order."
    )
    table = Table("table-4", "Kendall's tau-b with the order on S", columns, rows)
    return _section(context, "table-4", "Table 4. Tau with the relation shares of S", text, [table])


def _figure_7(context: Context) -> list[Section]:
    told = "The paper reads about 0.8 for micro and above 0.95 for macro measures at 80 % of O from its figure."
    found = []
    for key, name in (("full-test", "O"), ("current", "S-C")):
        own = replace(context, settings=replace(context.settings, labels=key, measures=FIGURE_7))
        for section in stability.by_labels(own):
            tables = [replace(table, key=f"figure-7-{key}") for table in section.tables]
            new = {"key": f"figure-7-{key}", "title": f"Figure 7. Stability on {name}", "tables": tables}
            found.append(replace(section, **new, notes=[*section.notes, told]))  # type: ignore[arg-type]
    return found


def _figure_8(context: Context) -> Iterator[Section]:
    theirs = published.rows("p_values")
    for key in ("full-test", "current"):
        own = replace(context, settings=replace(context.settings, labels=key, measures=FIGURE_7))
        section = discriminative.by_measure(own)[0]
        rows: list[list[Cell]] = []
        for name in FIGURE_7:
            column = published.COLUMNS.get(name, name)
            p = np.array([float(row[column]) for row in theirs if row["test_set"] == published.SETS[key]])
            area, below = (float(p.mean()), float((p < 0.05).mean())) if p.size else (np.nan, np.nan)
            rows.append([parse_measure(name).label, cell(area, NOT_PUBLISHED), cell(below, NOT_PUBLISHED)])
        columns = [Column("measure", "Measure", "measure"), Column("area", "Area (mean p)", "p")]
        columns.append(Column("below", "p < 0.05", "share"))
        table = Table(f"figure-8-{key}-published", "The same of the published p-values of 78 pairs", columns, rows)
        tables = [replace(of, key=f"figure-8-{key}") for of in section.tables]
        yield replace(
            section,
            key=f"figure-8-{key}",
            title=f"Figure 8. p-values of all pairs on {SETS[key]}",
            tables=[*tables, table],
        )


ANALYSIS = Analysis(
    "paper-003",
    "Zhou et al. (2022), Re-thinking knowledge graph completion evaluation",
    "What sparse test labels say of systems, and what the labels of a pool change."
    " Tables and figures in the order of the paper, published beside measured.",
    "zhou-et-al-2022",
    ("seed",),
    (
        Part("figures", light),
        Part("stability", _figure_7, heavy=True, title="figure 7, subsets of the positive triples"),
    ),
    also=("current", "full-test", "seeds"),
    docs_page="reproduction",
    by_family=True,
)
