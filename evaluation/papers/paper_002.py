"""Build the page of Mei and others (2018): its tables and figures in its order, published figures beside measured ones.

On Link Prediction in Knowledge Bases: Max-K Criterion and Prediction Protocols, SIGIR.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from evaluation.max_k.kernel import expected_sampling_recall, greedy_size, oracle_limits
from evaluation.max_k.sections import absent, compute, runs_under, shown_system, unanswered
from evaluation.max_k.softmax_sections import contrast, effect
from evaluation.max_k.stored_runs import find_runs, scoring_jobs
from evaluation.max_k.system_sections import SYSTEM, RunsUnderLabels, conventional, models, protocols
from evaluation.papers import published
from evaluation.papers.paper_002_published import SYSTEMS, TABLE_1, TABLE_2, TABLE_3, TABLE_4, TVD_TPM
from evaluation.papers.published import ABSENT, UNPRINTED
from evaluation.sections.builders import chart, series_of
from evaluation.sections.section import Analysis, Cell, Column, Context, Part, Section, Table, cell
from evaluation.statistics.answer_counts import answer_counts
from pooling.questions.kernel import questions_of

K = 10  # of table 4
ANSWERS = (1, 3, 10, 20, 100)  # of a question, to which lemma 1 is applied
LONG = 50  # rows of a table that only files have: a chart shows it
MOST = 20  # entities that may be returned in figure 1
EXAMPLES = {  # probabilities of 50 entities, and the size that the paper asks for; it draws them: the heights are ours
    "ten stand out": (np.repeat([0.099, 0.00025], [10, 40]), 10),
    "forty are alike": (np.repeat([0.0245, 0.002], [40, 10]), 20),
}
SIZES = ("entities", "relations", "train", "valid", "test")
OF_TABLE_4 = {  # tables, each with the columns of the page Max-k in the order of the printed figures
    "Conventional measures": ("micro_hits@10", "micro_mr", "micro_mrr"),
    "Sampling": ("sampling_precision", "sampling_recall", "sampling_f1"),
    "Greedy": ("greedy_precision", "greedy_recall", "greedy_f1"),
}
DIFFERS = (
    "Published figures are of the authors' programs with their usual settings, ours of the systems of this pool. The"
    " paper chose α on the test set; here it is chosen on validation."
)
DRAWS = "P of Sampling is the mass of the right answers, the precision of one draw, as in the paper."
PAPER_SAYS = {
    "figure-2": "The paper draws F1 and recall of Sampling at every α; a run has draws at its own α only, so F1 here is"
    " that of Greedy, and recall is the expected one.",
    "figure-3": "The paper has four systems, each with its panels; here a setting chooses the system.",
    "figure-4": "The paper finds F1 of Sampling and Greedy of all its systems above the top-k limit on FB15k-237.",
}


def of_graph(context: Context) -> list[Section]:
    """Return what needs no system: table 1, lemma 1, figure 1, table 2."""
    return [_table_1(context), _lemma_1(), _figure_1(), _table_2(context)]


def of_systems(context: Context) -> list[Section]:
    """Return what compares systems: figures 2 to 4, tables 3 and 4, on full test as in the paper."""
    filtered, raw = (_context(context, answers) for answers in ("filtered", "raw"))
    found = find_runs(context.pool, filtered.each.table, context.settings.systems)
    (runs,) = runs_under(filtered, found, ["labels"])
    if not runs.stored:
        return absent(filtered, found)
    if not runs.n:
        return [unanswered(filtered)]
    compute(filtered, runs)
    system = shown_system(raw, runs)
    sections = [
        *_numbered(effect(filtered, runs, system), "figure-2", "Figure 2"),
        _table_3(filtered, runs),
        _table_4(filtered, runs),
        *_numbered(protocols(raw, runs, system), "figure-3", "Figure 3"),
        _tvd_tpm(raw, runs),
        *_numbered([models(raw, [runs])], "figure-4", "Figure 4"),
    ]
    return [*sections, *absent(filtered, found)]


def _context(context: Context, answers: str) -> Context:
    settings = replace(context.settings, labels="full-test", questions="grown", answers=answers, k=K)
    return replace(context, settings=settings)


def _numbered(sections: Iterator[Section] | Sequence[Section], key: str, figure: str) -> Iterator[Section]:
    """Yield sections of another page as those of a figure; the first tells how the paper's own differs."""
    for i, section in enumerate(sections):
        tables = [replace(of, key=f"{key}-{of.key}", in_files=len(of.rows) > LONG) for of in section.tables]
        notes = [PAPER_SAYS[key]] if i == 0 else []
        new = {"key": f"{key}-{section.key}", "title": f"{figure}. {section.title}", "tables": tables}
        yield replace(section, **new, notes=[*notes, *section.notes])  # type: ignore[arg-type]


def _data_set(context: Context) -> str:
    """Return which of the paper's data sets this graph is, by its size; FB15k-237 if none."""
    graph = context.table.graph
    size = graph.num_entities, graph.num_relations
    return next((name for name, row in TABLE_2.items() if row[:2] == size), "FB15k-237")


def _beside(context: Context, own: Sequence[Cell], theirs: Mapping[str, Sequence[Cell]]) -> list[list[Cell]]:
    """Return a row of this graph, and one of each data set of the paper."""
    return [[context.pool.graph.name, *own], *([f"{name}, published", *row] for name, row in theirs.items())]


def _table_1(context: Context) -> Section:
    graph = context.table.graph
    known = np.concatenate([graph.train, graph.valid])
    counts = answer_counts(questions_of(known)[0], known, graph.num_entities, graph.num_relations)
    own: list[Cell] = [0, 0, cell(np.nan, "no triple"), cell(np.nan, "no triple"), 0]
    if counts.size:
        own = [int(counts.min()), int(counts.max()), float(counts.mean()), float(counts.std()), int(counts.sum())]
    columns = [Column("graph", "Graph", "text"), Column("min", "Min", "count"), Column("max", "Max", "count")]
    columns += [Column("mean", "Mean"), Column("sd", "Standard deviation"), Column("sum", "Sum", "count")]
    text = (
        "How many answers the questions of train and valid have there, on both sides. The number varies so much that no"
        " one k suits all questions."
    )
    table = Table("table-1", "Answers per question of train and valid", columns, _beside(context, own, TABLE_1))
    return Section("table-1", "Table 1. Answers per question", text, f"Graph {context.pool.graph.name}.", [table])


def _lemma_1() -> Section:
    columns = [Column("n", "Answers n", "count")]
    for key, label in (("top", "exactly k"), ("max", "at most k")):
        columns += [Column(f"{key}_{part.lower()}", f"{part}@{K}, {label}") for part in ("P", "R", "F1")]
    rows: list[list[Cell]] = [[n, *(float(v) for limit in oracle_limits(n, K) for v in limit)] for n in ANSWERS]
    return Section(
        "lemma-1",
        "Lemma 1. What an oracle reaches",
        "An oracle that knows the n answers and must return k entities has P = min(n/k, 1), R = min(k/n, 1) and"
        " F1 = min(2n, 2k)/(n + k). One that may return at most k has P = 1, the same R, and"
        " F1 = min(2k/(n + k), 1): never less.",
        f"k = {K}. Means over the questions of this graph are the limits in figures 3 and 4.",
        [Table("lemma-1", f"Limits at k = {K} by the number of answers", columns, rows)],
    )


def _figure_1() -> Section:
    rows: list[list[Cell]] = []
    series = []
    for i, (name, (p, wanted)) in enumerate(EXAMPLES.items()):
        drawn = float(expected_sampling_recall(p, MOST)) * p.size  # the mean number of distinct entities
        rows.append([name, wanted, greedy_size(p, MOST), drawn])
        series.append(series_of(name, list(range(1, p.size + 1)), p, measure=i))
    columns = [Column("example", "Distribution", "text"), Column("wanted", "Wanted in the paper", "count")]
    columns += [Column("greedy", "Greedy returns", "count"), Column("sampling", "Sampling returns", note="on average")]
    return Section(
        "figure-1",
        "Figure 1 and theorem 2. How many entities to return",
        f"Two examples of {EXAMPLES['ten stand out'][0].size} entities, of which at most {MOST} may be returned. Greedy"
        " returns the first k̂ + q: k̂ of them have p ≥ 1/k, and q is the integer nearest to k times the rest of p.",
        "The paper draws these distributions and prints no numbers: the heights are ours.",
        [Table("figure-1", "Sizes of what is returned", columns, rows)],
        chart("bars", "Probability of each of 50 entities, in two examples", series, x="entity", y="p"),
    )


def _table_2(context: Context) -> Section:
    graph = context.table.graph
    own: list[Cell] = [graph.num_entities, graph.num_relations, len(graph.train), len(graph.valid), len(graph.test)]
    columns = [Column("graph", "Graph", "text"), *(Column(key, key.capitalize(), "count") for key in SIZES)]
    table = Table("table-2", "Sizes of the graphs", columns, _beside(context, own, TABLE_2))
    text = "Entities, relations and triples of this graph and of those of the paper."
    return Section("table-2", "Table 2. Statistics of the graphs", text, f"Graph {context.pool.graph.name}.", [table])


def _interleaved(
    context: Context, table: Table, columns: Sequence[Column], theirs: Mapping[str, Sequence[Cell]]
) -> Table:
    """Return some columns of a table with one row a system, each with the published figures beside it."""
    named = dict(zip(context.systems, published.names(context.seeds_of, SYSTEMS), strict=True))
    places = {column.key: i for i, column in enumerate(table.columns)}
    rows: list[list[Cell]] = []
    for own in table.rows:
        name, row = own[0], [own[0]]
        printed = theirs.get(named[str(name)])
        for i, column in enumerate(columns):
            row += [own[places[column.key]], printed[i] if printed else UNPRINTED]
        rows.append(row)
    known = set(named.values())
    rows += [
        [name, *(c for value in row for c in (ABSENT, value))] for name, row in theirs.items() if name not in known
    ]
    both = [SYSTEM]
    for column in columns:
        both += [column, Column(f"{column.key}_published", "Published", column.kind)]
    return Table(table.key, table.title, both, rows)


def _table_3(context: Context, runs: RunsUnderLabels) -> Section:
    data = _data_set(context)
    rows: list[list[Cell]] = [[name, f"{stored.predictive.alpha:g}"] for name, stored in runs.stored.items()]
    own = Table("table-3", "The chosen α", [SYSTEM, Column("alpha", "α", "text")], rows)
    printed = {name: (f"{alpha:g}",) for name, alpha in TABLE_3[data].items()}
    table = _interleaved(context, own, [Column("alpha", "α", "text")], printed)
    text = "The α that gives the highest filtered F1@10; a model that was trained as a distribution keeps its own."
    return Section(
        "table-3", "Table 3. The chosen α", text, f"Published for {data}; ours by Greedy on validation.", [table],
        notes=[DIFFERS],
    )  # fmt: skip


def _table_4(context: Context, runs: RunsUnderLabels) -> Section:
    section, data = conventional(context, runs), _data_set(context)
    found, mass = section.tables[0], contrast(context, [runs]).tables[0]
    places = {column.key: i for i, column in enumerate(found.columns)}
    draw = next(i for i, column in enumerate(mass.columns) if column.key.startswith("filtered"))
    rows = [list(row) for row in found.rows]
    for row, of_draws in zip(rows, mass.rows, strict=True):
        row[places["sampling_precision"]] = of_draws[draw]
    tables = []
    for i, (title, keys) in enumerate(OF_TABLE_4.items()):
        chosen = [found.columns[places[key]] for key in keys]
        theirs = {name: row[3 * i : 3 * i + 3] for name, row in TABLE_4[data].items()}
        own = replace(found, key=f"table-4-{title.split()[0].lower()}", title=title, rows=rows)
        tables.append(_interleaved(context, own, chosen, theirs))
    return replace(
        section, key="table-4", title="Table 4. Conventional and max-k measures", tables=tables,
        caption=f"{section.caption} Published for {data}.", notes=[DRAWS],
    )  # fmt: skip


def _tvd_tpm(context: Context, runs: RunsUnderLabels) -> Section:
    section = contrast(context, [runs])
    chosen = [c for c in section.tables[0].columns if c.key.startswith(("tvd", "raw"))]
    table = _interleaved(context, replace(section.tables[0], key="tvd-tpm"), chosen, TVD_TPM)
    return replace(
        section, key="tvd-tpm", title="Section 6.2.4. How sharp and how right the distributions are", tables=[table],
        caption=f"{section.caption} Published for FB15k-237.",
    )  # fmt: skip


ANALYSIS = Analysis(
    "paper-002",
    "Mei et al. (2018), On link prediction in knowledge bases: max-k",
    "How many answers a system should return, and how good they are then."
    " Tables and figures in the order of the paper, published beside measured.",
    "mei-and-others-2018",
    ("system",),
    (
        Part("graph", of_graph),
        Part("systems", of_systems, heavy=True, title="figures 2 to 4, tables 3 and 4, on full test"),
    ),
    also=("full-test",),
    docs_page="reproduction",
    jobs=scoring_jobs,
    by_family=True,
    trained_only=True,
)
