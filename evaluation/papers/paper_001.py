"""Build the page of Yang, Lin and Zhang (2022): its theory and its experiment in its order, beside what is printed.

Rethinking Knowledge Graph Evaluation Under the Open-World Assumption, arXiv 2209.08858. The experiment is that of the
newest open-world study (`paper_001_study.py`); nothing here is of a pool.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evaluation.open_world.kernels.theory import (
    ENTITIES,
    allowed_rho,
    correlated_strengths,
    expected_metric,
    mrr_approximation,
    required_questions,
)
from evaluation.open_world.theory_by_strength import approximation, correlation, slopes, theory
from evaluation.open_world.theory_page import chosen_numbers, example, inconsistency, required
from evaluation.open_world.theory_settings import TheorySettings
from evaluation.papers.paper_001_study import of_study, study_version
from evaluation.sections.section import Analysis, Cell, Column, Context, Part, Section, Table, cell

PAPER = TheorySettings()  # N = 43, β = 0.35, ℓ = 0.7: the paper's example
# printed in the paper
TABLE_1 = {
    "swimming": (5, 1), "sailing": (5, 1), "water polo": (1, 1), "boxing": (2, 1), "dressage": (3, 1),
    "show jumping": (4, 1), "canoe sprint": (7, 3), "cycling": (9, 4),
}  # fmt: skip
VARIANCE, CHANCE = 0.0074, 0.05
QUESTIONS = {0.05: 1_140, 0.01: 28_500}  # by the difference in strength
STRENGTHS, CORRELATIONS = (0.1, 0.3, 0.5, 0.7, 0.9), (-0.1, 0.0, 0.1, 0.2)
STEP = 1e-5  # of ρ


def of_theory(context: Context) -> list[Section]:
    """Return table 1, lemma 4.1, theorems, corollaries and figures 1 and 2, at the paper's settings."""
    numbers = chosen_numbers(PAPER)
    return [
        _table_1(),
        _named(numbers, "lemma-4-1", "Lemma 4.1. The expected value of a metric", [_remainder(), *numbers.notes]),
        _named(slopes(PAPER), "corollaries-4-1-to-4-3", "Corollaries 4.1 to 4.3, section 5. The slope of each metric"),
        _named(approximation(PAPER), "theorem-4-1", "Theorem 4.1. The logarithm that MRR follows"),
        _named(theory(PAPER), "figure-1", "Figure 1. MRR by strength, theory against simulation"),
        _named(inconsistency(PAPER), "theorem-4-2", "Theorem 4.2. How often the weaker model looks at least as good"),
        _corollary_4_4(),
        _named(correlation(PAPER), "figure-2", "Theorem 4.3, figure 2. What is missing is what the model recognises"),
        _corollary_4_5(),
    ]


def _named(section: Section, key: str, title: str, notes: Sequence[str] | None = None) -> Section:
    tables = [replace(table, key=key, in_files=len(table.rows) > 20) for table in section.tables]
    return replace(section, key=key, title=title, tables=tables, notes=section.notes if notes is None else notes)


def _table_1() -> Section:
    section = example()
    own = section.tables[0]
    columns = [*own.columns[:4], Column("before_published", "Published", "count"), own.columns[4]]
    columns.append(Column("after_published", "Published", "count"))
    rows: list[list[Cell]] = []
    for name, of, position, before, after in own.rows:
        printed = TABLE_1[str(name)]
        rows.append([name, of, position, before, printed[0], after, printed[1]])
    title = "Table 1. Sports of the 1956 Olympics"
    return replace(section, key="table-1", title=title, tables=[Table("table-1", own.title, columns, rows)])


def _remainder() -> str:
    rest = (1 - PAPER.strength) * math.log(ENTITIES - PAPER.n) / (ENTITIES - PAPER.n)
    return (
        f"Ê leaves out δ, what answers add that the model does not recognise: for MRR at most {rest:.4f} here, by the"
        " bound of the lemma. The other metrics have no such bound; the column with the rest has it."
    )


def _corollary_4_4() -> Section:
    section = required(PAPER)

    def needed(delta: float, chance: float) -> int:
        return math.ceil(required_questions(PAPER.n, PAPER.beta, PAPER.strength, delta, chance, VARIANCE))

    rows: list[list[Cell]] = [
        [f"{delta:g}", needed(delta, CHANCE), needed(delta, 2 * CHANCE), printed]
        for delta, printed in QUESTIONS.items()
    ]
    columns = [Column("delta", "Δℓ", "text"), Column("five", "By the formula, p = 5 %", "count")]
    columns += [Column("ten", "p = 10 %", "count"), Column("published", "Published, p = 5 %", "count")]
    table = Table("corollary-4-4-published", f"The paper's example, with its V = {VARIANCE:g}", columns, rows)
    shown = _named(section, "corollary-4-4", "Corollary 4.4. How many questions it takes")
    return replace(shown, tables=[table, *shown.tables])


def _corollary_4_5() -> Section:
    """Show where the condition of the corollary holds, and the slope of the logarithm and of Ê by ρ."""
    n, beta = PAPER.n, PAPER.beta
    rows: list[list[Cell]] = []
    for strength in STRENGTHS:
        low, high = (float(end) for end in allowed_rho(beta, strength))
        for rho in CORRELATIONS:
            if not low < rho - STEP < rho + STEP < high:
                continue
            least = math.exp(1 - beta + math.sqrt((1 - beta) * beta * (1 - strength) / strength) - np.euler_gamma)
            holds = float(correlated_strengths(beta, strength, rho).missing) * beta * (n + 2) >= least
            ends = [
                [mrr_approximation(n, beta, strength, at), expected_metric(n, beta, strength, "mrr", rho=at)]
                for at in (rho - STEP, rho + STEP)
            ]
            slope = (np.array(ends[1], dtype=np.float64) - np.array(ends[0])) / (2 * STEP)
            rows.append(
                [f"{strength:g}", f"{rho:g}".replace("-", "−"), "yes" if holds else "no", *map(cell, slope.tolist())]
            )
    columns = [Column("strength", "ℓ", "text"), Column("rho", "ρ", "text"), Column("holds", "Condition holds", "text")]
    columns += [Column("logarithm", "Slope of the logarithm"), Column("expected", "Slope of Ê")]
    falls = [row[3] for row in rows if row[2] == "yes"]
    below = sum(value < 0 for value in falls if isinstance(value, float))
    return Section(
        "corollary-4-5",
        "Corollary 4.5. A smaller correlation reports more",
        "If the condition of the corollary holds, the logarithm of theorem 4.3 falls as ρ rises: of two models of equal"
        " strength, the one that recognises less of what is missing reports more.",
        f"N = {n}, β = {beta:g}. Condition: ℓ₁ β (N + 2) ≥ exp(α + √(αβ(1 − ℓ)/ℓ) − γ), α = 1 − β, ℓ₁ the strength on"
        " missing answers. Slopes dẼ/dρ and dÊ/dρ of MRR by a difference.",
        [Table("corollary-4-5", "Slope of MRR by the correlation", columns, rows)],
        finding=f"The condition holds at {len(falls)} of {len(rows)} points; the slope is below 0 at {below} of these.",
    )


ANALYSIS = Analysis(
    "paper-001",
    "Yang, Lin and Zhang (2022), Rethinking evaluation under the open-world assumption",
    "The theory of the paper at its settings, and its experiment by the newest open-world study here, in its order.",
    "yang-lin-and-zhang-2022",
    (),
    (Part("theory", of_theory), Part("study", of_study)),
    version=study_version,
    docs_page="reproduction",
    opened=(
        *("table-1", "lemma-4-1", "corollaries-4-1-to-4-3", "theorem-4-1", "figure-1", "theorem-4-2", "corollary-4-4"),
        *("figure-2", "corollary-4-5", "figure-3-95", "figure-4", "claims"),
    ),
)
