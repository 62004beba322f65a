"""The page of Yang, Lin and Zhang (2022): its order, values from the formulas as printed, and the newest study."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from evaluation.open_world.kernels.study import METRICS
from evaluation.open_world.study_curves import StudyView, chooser_of, densities_of
from evaluation.open_world.study_sections import study_sections, summary_row
from evaluation.papers import paper_001, paper_001_study
from evaluation.papers.paper_001 import ANALYSIS
from evaluation.papers.paper_001_study import TABLE_2, newest_study, study_version
from pooling.models import Pool
from tests.evaluation.cases import columns_of, context_of, sections_of
from tests.evaluation.studies import TINY, finish, make_study

THEORY = [
    "table-1", "lemma-4-1", "corollaries-4-1-to-4-3", "theorem-4-1", "figure-1", "theorem-4-2", "corollary-4-4",
    "figure-2", "corollary-4-5",
]  # fmt: skip
STUDY = [
    "figure-3-90", "figure-3-60", "figure-4", "figure-5b-log-mrr", "figure-5b-p-mrr", "figure-6-90", "figure-6-60",
    "table-2", "all-drawn-90", "all-drawn-60", "all-correlated-90", "all-correlated-60", "claims",
]  # fmt: skip


@pytest.fixture(scope="module")
def theory() -> dict:
    return {section.key: section for section in paper_001.of_theory(None)}


def test_without_a_study_the_page_has_the_theory_and_says_what_is_missing(labelled: Pool):
    sections = sections_of(ANALYSIS, context_of(labelled))
    assert list(sections) == [*THEORY, "no-study"]
    assert "Open world, Studies" in sections["no-study"].notes[0]
    assert study_version(labelled) == "none"


def test_ranks_of_table_1_are_those_printed(theory: dict):
    shown = columns_of(theory["table-1"].tables[0])
    assert shown["before"] == shown["before_published"] and shown["after"] == shown["after_published"]
    assert len(shown["before"]) == 8


def test_remainder_of_lemma_4_1(theory: dict):
    bound = 0.3 * math.log(14_505 - 43) / (14_505 - 43)
    assert f"at most {bound:.4f} here" in theory["lemma-4-1"].notes[0]


def test_example_of_corollary_4_4_is_the_printed_formula(theory: dict):
    rows = {row[0]: row[1:] for row in theory["corollary-4-4"].tables[0].rows}
    for delta, printed in ((0.05, 1140), (0.01, 28500)):
        expected = [math.ceil(2 * (0.35 * 0.7 * 44 * norm.ppf(p)) ** 2 * 0.0074 / delta**2) for p in (0.05, 0.1)]
        assert rows[f"{delta:g}"] == [*expected, printed]


def test_corollary_4_5_is_the_slope_of_the_printed_logarithm(theory: dict):
    n, beta = 43, 0.35

    def logarithm(strength: float, rho: float) -> tuple[float, float]:
        spread, alpha = math.sqrt(strength * (1 - strength)), 1 - beta
        one = strength + spread * math.sqrt(alpha / beta) * rho
        two = strength - spread * math.sqrt(beta / alpha) * rho
        inner = math.log(one) + math.log(beta) + math.log(n + 2) + np.euler_gamma
        return two / one * inner / (beta * (n + 1)), one

    rows = theory["corollary-4-5"].tables[0].rows
    assert len(rows) == 20
    for strength, rho, holds, slope, _ in rows:
        level, at = float(strength), float(rho.replace("−", "-"))
        wide = (logarithm(level, at + 1e-3)[0] - logarithm(level, at - 1e-3)[0]) / 2e-3
        assert slope == pytest.approx(wide, rel=1e-2)
        least = math.exp(0.65 + math.sqrt(0.65 * 0.35 * (1 - level) / level) - 0.5772156649)
        assert holds == ("yes" if logarithm(level, at)[1] * beta * 45 >= least else "no")
        assert holds == "no" or slope < 0
    assert "at 16 of 20 points; the slope is below 0 at 16" in theory["corollary-4-5"].finding


def test_study_in_the_order_of_the_paper_with_the_values_of_its_own_page(labelled: Pool):
    study = make_study()
    before = study_version(labelled)
    finish(study)
    assert newest_study() == study and study_version(labelled) != before
    sections = sections_of(ANALYSIS, context_of(labelled))
    assert list(sections) == [*THEORY, *STUDY]
    chooser = chooser_of(study)
    for key, density, division, of in (
        ("figure-3-90", 0.9, "independent", "mrr"),
        ("figure-3-60", 0.6, "independent", "mrr"),
        ("figure-6-60", 0.6, "predicted-present", "mrr"),
        ("figure-5b-p-mrr", 0.9, "independent", "p-mrr"),  # 0.9 and 0.6 are as near to 0.75: the first
    ):
        page = {section.key: section for section in study_sections(study, StudyView(density, division, chooser))}
        assert sections[key].chart.data == page[of].chart.data
        assert sections[key].tables[0].rows == page[of].tables[0].rows
    assert str(round(100 * 0.9)) in sections["figure-3-90"].key and "density 0.9" in sections["figure-3-90"].title
    drawn = densities_of(study, "independent", chooser)
    rows = sections["all-drawn-60"].tables[0].rows
    assert [row[0] for row in rows] == list(METRICS.values())
    assert rows[0] == ["MRR", *summary_row(drawn[1], "mrr")]
    page = study_sections(study, StudyView(0.6, "predicted-present", chooser))
    panels = sections["all-correlated-60"].chart.data["panels"]
    own = {section.title: section.chart.data for section in page if section.title in METRICS.values()}
    assert {panel["name"]: panel["series"] for panel in panels} == {name: of["series"] for name, of in own.items()}
    models = sections["table-2"].tables[0].rows
    assert [row[0] for row in models if row[1] == "here"] == list(TINY.systems)
    assert [(row[0], *row[2:]) for row in models if row[1] == "published"] == list(TABLE_2)
    assert [row[2] for row in models if row[1] == "here"] == [8] * len(TINY.systems)


def test_figures_have_the_numbers_of_the_paper(labelled: Pool, monkeypatch):
    monkeypatch.setattr(paper_001_study, "FIGURES", {"independent": {0.9: 7}, "predicted-present": {0.6: 14}})
    finish(make_study())
    sections = sections_of(ANALYSIS, context_of(labelled))
    assert sections["figure-7"].title.startswith("Figure 7. All metrics, density 0.9, missing: drawn")
    assert sections["figure-14"].title.startswith("Figure 14. All metrics, density 0.6, missing: what DistMult")
    assert "all-drawn-60" in sections


def test_claims_are_counted_over_the_densities(labelled: Pool, monkeypatch):
    finish(make_study())
    falls = {("mrr", 0.9): 0.4, ("mrr", 0.6): -0.1, ("log_mrr", 0.9): 0.5, ("log_mrr", 0.6): -0.2}
    monkeypatch.setattr(
        "evaluation.papers.paper_001_study.median_fall", lambda of, metric: falls.get((metric, of.density), 0.3)
    )
    rows = sections_of(ANALYSIS, context_of(labelled))["claims"].tables[0].rows
    assert rows[0][1] == "at 1 of 2 densities"
    assert rows[1][1] == "at 2 of 2 densities"
