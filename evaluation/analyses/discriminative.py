"""Build the page Discriminative power: which pairs of systems a measure can tell apart."""

import numpy as np

from evaluation.analyses.tukey_hsd import (
    CLUSTERED,
    CORRECTED,
    ONE_SYSTEM,
    OTHER_TESTS,
    T_TEST,
    Tested,
    by_permutations,
    pair_notes,
    tested,
    why,
)
from evaluation.measures.rank_table import Floats
from evaluation.measures.registry import Measure
from evaluation.sections.builders import matrix, series_of, small_multiples
from evaluation.sections.cell_text import SMALLEST_P
from evaluation.sections.section import (
    Analysis,
    Cell,
    Chart,
    Column,
    Context,
    Part,
    Section,
    Table,
    beside,
    cell,
    label_caption,
)
from evaluation.statistics.correlation import merit
from evaluation.statistics.t_tests import PairTests


def by_measure(context: Context) -> list[Section]:
    found = tested(context)
    return [_curve(context, found), _matrix(context, found)]


def of_full_test(context: Context) -> list[Section]:
    """Build all sections for the published test set, beside those of the pool."""
    return beside([*by_measure(context), *by_permutations(context)], "full-test")


def _curve(context: Context, found: Tested) -> Section:
    alpha = context.settings.alpha
    series, rows = [], list[list[Cell]]()
    for i, measure in enumerate(context.measures):
        main, plain = found.main[measure.name], found.plain.get(measure.name)
        lines = [(measure.label, "clustered by question" if plain else "paired", main)]
        if plain:
            lines.append((f"{measure.label}, not clustered", "paired, not clustered", plain))
        for name, test, tests in lines:
            curve, look = tests.descending(), {"thin": True} if tests is plain else {}
            series.append(series_of(name, list(range(1, len(curve) + 1)), curve, measure=i, **look))
            rows.append(_row(measure, tests, test, alpha, why(found.values[measure.name], main)))
    columns = [
        Column("measure", "Measure", "measure"),
        Column("test", "t-test", "text"),
        Column("unit", "Unit", "text"),
        Column("n", "n", "count", "units: answers (micro) or questions (macro)"),
        Column("clusters", "Clusters", "count", "questions, where the test is clustered"),
        Column("pairs", "Pairs", "count", "pairs of systems with a defined p-value"),
        Column("area", "Area", "p", "area under the curve, the mean p: less tells more pairs apart"),
        Column("raw", f"p < {alpha:g}", "share", "share of the pairs, not corrected"),
        Column("holm", f"Holm < {alpha:g}", "share", "any false finding has a chance below alpha"),
        Column("bh", f"BH < {alpha:g}", "share", "Benjamini-Hochberg: expected share of false findings below alpha"),
    ]
    pairs = len(context.systems) * (len(context.systems) - 1) // 2
    label = "p-values of all pairs of systems in descending order"
    references = [{"y": alpha, "name": f"α = {alpha:g}"}] if pairs else []
    axes = {"x": "pairs of systems, by descending p", "y": "p", "yrange": [0, 1.02], "references": references}
    return Section(
        "discriminative-curve",
        "p-values of all pairs, descending",
        "The p-values of all pairs of systems, sorted: the earlier a line falls below alpha, the more pairs its measure"
        f" tells apart. A difference that is told apart need not be a large one.{OTHER_TESTS}",
        f"{label_caption(context.labels, context.settings)} {T_TEST} {pairs:,} pairs, dashed: α = {alpha:g}."
        f' {CLUSTERED}; dotted lines and rows "not clustered" take its answers as independent. {CORRECTED}',
        [Table("discriminative-measures", "Discriminative power by measure", columns, rows)],
        small_multiples(label, series, **axes),
        _finding(context, found),
        pair_notes(context, found),
    )


def _row(measure: Measure, tests: PairTests, test: str, alpha: float, reason: str) -> list[Cell]:
    unit = "answer" if measure.kind == "micro" else "question"
    clusters = "" if tests.clusters is None else tests.clusters
    shares = (tests.area(), *(tests.share_below(alpha, by) for by in (None, "holm", "fdr_bh")))
    pairs = int(np.isfinite(tests.p).sum())
    return [measure.label, test, unit, tests.n, clusters, pairs, *(cell(share, reason) for share in shares)]


def _finding(context: Context, found: Tested) -> str:
    """Say which measures tell most and fewest pairs apart."""
    alpha = context.settings.alpha
    shares = {m.label: found.main[m.name].share_below(alpha, "holm") for m in context.measures}
    defined = {label: share for label, share in shares.items() if np.isfinite(share)}
    if not defined:
        return ""
    most, least = (pick(defined, key=defined.__getitem__) for pick in (max, min))
    text = f"{most} tells {100 * defined[most]:.0f} % of the pairs apart at α = {alpha:g} after Holm's correction"
    return f"{text}; {least} {100 * defined[least]:.0f} %." if defined[least] < defined[most] else f"{text}."


def _matrix(context: Context, found: Tested) -> Section:
    measure, alpha, systems = context.measures[0], context.settings.alpha, context.systems
    tests = found.main[measure.name]
    square, holm = (_square(tests, p, len(systems)) for p in (tests.p, tests.corrected("holm")))
    reason = why(found.values[measure.name], tests)
    rows: list[list[Cell]] = [
        [name, *("" if i == j else cell(square[i, j], reason) for j in range(len(systems)))]
        for i, name in enumerate(systems)
    ]
    below = [(i, j + 1) for i, j in np.argwhere(holm < alpha).tolist()]
    columns = [Column("system", "System", "system"), *(Column(name, name, "p") for name in systems)]
    clustered = f" {CLUSTERED}." if tests.clusters is not None else ""
    return Section(
        "discriminative-matrix",
        f"Pairs of systems by {measure.label}",
        "The p-value of each pair: small ones are pairs that the labels tell apart."
        " They are not corrected; those that stay below alpha after Holm's correction are bold in the table.",
        f"{label_caption(context.labels, context.settings)} {T_TEST} n = {tests.n:,}"
        f" {'answers' if measure.kind == 'micro' else 'questions'}, α = {alpha:g}.{clustered} Correction over the"
        " pairs: Holm, bold where it stays below α.",
        [Table("discriminative-pairs", f"p-values by {measure.label}", columns, rows, best=below)],
        _drawn(context, measure, found.values[measure.name].mean(), square),
        notes=[] if len(systems) > 1 else [ONE_SYSTEM],
    )


def _drawn(context: Context, measure: Measure, mean: Floats, square: Floats) -> Chart:
    """Draw the p-values with the best systems first; `mean` [systems]."""
    order = np.argsort(-merit(mean, measure.higher_is_better), kind="stable")
    names = [context.systems[i] for i in order]
    label = f"p-values of the pairs of systems by {measure.label}"
    return matrix(label, names, square[np.ix_(order, order)], digits=4, smallest=SMALLEST_P)


def _square(tests: PairTests, p: np.ndarray, systems: int) -> np.ndarray:
    """Return p-values as a symmetric matrix [systems, systems], nan on the diagonal."""
    square = np.full((systems, systems), np.nan)
    square[tests.first, tests.second] = square[tests.second, tests.first] = p
    return square


ANALYSIS = Analysis(
    "discriminative",
    "Discriminative power",
    "How many pairs of systems does a measure tell apart, and which?",
    "discriminative-power",
    ("labels", "measures", "questions", "assumed", "alpha", "seed", "seeds"),
    (
        Part("curve", by_measure),
        Part("hsd", by_permutations, heavy=True, title="randomised Tukey HSD", at_once=True),
        Part("full-test", of_full_test, heavy=True, title="full test beside it", labels="full-test"),
    ),
    # the full test stands beside for comparison only, folded
    opened=("discriminative-curve", "discriminative-matrix", "discriminative-hsd"),
    group="Reliability",
)
