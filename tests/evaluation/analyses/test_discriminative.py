"""The page Discriminative power, against scipy and the corrections by their definition."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_rel

from evaluation.analyses import tukey_hsd
from evaluation.analyses.discriminative import ANALYSIS
from evaluation.measures.question_sums import question_sums
from evaluation.measures.registry import parse_measure
from evaluation.sections.section import Context, Section
from evaluation.statistics.t_tests import clustered_t_tests
from evaluation.statistics.tukey_hsd import RandomisedTests, randomised_tukey
from pooling.models import Pool, Run
from tests.evaluation.cases import (
    columns_of,
    context_of,
    nothing_returned,
    sections_of,
    tied_systems,
    without_positives,
)

SYSTEMS = ["transe", "distmult", "complex"]
PAIRS = list(combinations(range(3), 2))


@pytest.fixture(autouse=True)
def _few_permutations(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tukey_hsd, "PERMUTATIONS", 200)


def rows_of(section: Section, table: int = 0) -> list[dict[str, Any]]:
    keys = [column.key for column in section.tables[table].columns]
    return [dict(zip(keys, row, strict=True)) for row in section.tables[table].rows]


def t_tests(context: Context, name: str) -> list[float]:
    per_unit = context.labels.values([name], context.settings.assumed_is_judged)[name].per_unit
    return [float(ttest_rel(per_unit[i], per_unit[j]).pvalue) for i, j in PAIRS]


def holm(p: list[float]) -> list[float]:
    order, largest = sorted(range(len(p)), key=lambda i: p[i]), 0.0
    corrected = [0.0] * len(p)
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - place) * p[i]))
        corrected[i] = largest
    return corrected


def benjamini_hochberg(p: list[float]) -> list[float]:
    order, smallest = sorted(range(len(p)), key=lambda i: -p[i]), 1.0
    corrected = [0.0] * len(p)
    for place, i in enumerate(order):
        smallest = min(smallest, p[i] * len(p) / (len(p) - place))
        corrected[i] = smallest
    return corrected


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_row_of_a_macro_measure_is_the_paired_t_test(labelled: Pool, alpha: float):
    context = context_of(labelled, measures=("ndcg@20",), alpha=alpha)
    (row,) = rows_of(sections_of(ANALYSIS, context)["discriminative-curve"])
    p = t_tests(context, "ndcg@20")
    assert row == {
        "measure": "nDCG@20",
        "test": "paired",
        "unit": "question",
        "clusters": "",
        "pairs": 3,
        "n": context.labels.question_counts().answered,
        "area": pytest.approx(np.mean(p)),
        "raw": np.mean([value < alpha for value in p]),
        "holm": np.mean([value < alpha for value in holm(p)]),
        "bh": np.mean([value < alpha for value in benjamini_hochberg(p)]),
    }
    assert row["raw"] > 0


def test_micro_measure_is_tested_by_question_and_by_answer(labelled: Pool):
    context = context_of(labelled, measures=("micro_mrr",))
    clustered, plain = rows_of(sections_of(ANALYSIS, context)["discriminative-curve"])
    counts = context.labels.counts()["positive"] * 2, context.labels.question_counts().answered
    assert (clustered["test"], clustered["n"], clustered["clusters"]) == ("clustered by question", *counts)
    assert (plain["test"], plain["n"], plain["clusters"]) == ("paired, not clustered", counts[0], "")
    assert plain["area"] == pytest.approx(np.mean(t_tests(context, "micro_mrr")))
    tests = clustered_t_tests(context.labels.values(["micro_mrr"])["micro_mrr"])
    assert clustered["area"] == pytest.approx(tests.p.mean())
    assert clustered["area"] != pytest.approx(plain["area"])


def test_curve_falls_and_has_alpha_as_reference(labelled: Pool):
    context = context_of(labelled, measures=("macro_mrr", "micro_mrr"), alpha=0.1)
    chart = sections_of(ANALYSIS, context)["discriminative-curve"].chart
    assert chart is not None
    (macro,), (micro, plain) = (panel["series"] for panel in chart.data["panels"])
    assert macro["x"] == [1, 2, 3]
    assert macro["y"] == pytest.approx(sorted(t_tests(context, "macro_mrr"), reverse=True))
    assert (macro["measure"], micro["measure"], plain["measure"]) == (0, 1, 1)
    assert plain["thin"] and "thin" not in micro
    assert plain["y"] == pytest.approx(sorted(t_tests(context, "micro_mrr"), reverse=True))
    assert chart.data["references"] == [{"y": 0.1, "name": "α = 0.1"}]


def test_matrix_has_the_p_value_of_each_pair_on_both_sides(labelled: Pool):
    context = context_of(labelled, measures=("bpref",), questions="original", assumed="unjudged")
    section = sections_of(ANALYSIS, context)["discriminative-matrix"]
    (table,) = section.tables
    for (i, j), value in zip(PAIRS, t_tests(context, "bpref"), strict=True):
        assert table.rows[i][j + 1] == table.rows[j][i + 1] == pytest.approx(value)
    assert [table.rows[i][i + 1] for i in range(3)] == ["", "", ""]
    assert section.chart is not None
    assert [row[i] for i, row in enumerate(section.chart.data["values"])] == [None] * 3


@pytest.mark.parametrize("times", [2, 4])
def test_matrix_has_the_pairs_bold_that_stay_below_alpha_after_holm(labelled: Pool, times: int):
    """The smallest of three p-values counts three times: below twice of it is nothing."""
    p = t_tests(context_of(labelled, measures=("ndcg@20",)), "ndcg@20")
    alpha = times * min(p)
    sections = sections_of(ANALYSIS, context_of(labelled, measures=("ndcg@20",), alpha=alpha))
    below = {pair for pair, value in zip(PAIRS, holm(p), strict=True) if value < alpha}
    assert bool(below) == (times == 4)
    best = {tuple(at) for at in sections["discriminative-matrix"].tables[0].best}
    assert best == {(i, j + 1) for i, j in below} | {(j, i + 1) for i, j in below}


@pytest.mark.parametrize(
    ("p", "left_out", "told"),
    [
        ([0.01, 0.02, 0.9], [], " B is best, and told apart from A, not from C."),
        ([0.9, 0.02, 0.9], [], " B is best, and not told apart from A and C."),
        ([0.01, 0.9, 0.01], [], " B is best, and told apart from every other system."),
        ([np.nan, 0.03, np.nan], [1], " C is best, and told apart from every other system."),
        ([np.nan, np.nan, np.nan], [0, 1, 2], ""),
    ],
)
def test_hsd_says_whether_the_first_place_is_sure(monkeypatch, p, left_out, told):
    monkeypatch.setattr(tukey_hsd, "shown_name", str)
    first, second = np.triu_indices(3, 1)
    hsd = RandomisedTests(first, second, np.zeros(3), np.array(p), 200, 9, np.array(left_out, dtype=np.intp))
    context = SimpleNamespace(systems=["A", "B", "C"], settings=SimpleNamespace(alpha=0.05))
    measure = parse_measure("map@20")
    assert tukey_hsd._first_place(context, np.array([0.1, 0.4, 0.3]), hsd, measure) == told
    lower = parse_measure("micro_mr")
    assert tukey_hsd._first_place(context, -np.array([0.1, 0.4, 0.3]), hsd, lower) == told


def test_tukey_hsd_is_that_of_the_kernel_with_the_seed_of_the_page(labelled: Pool):
    context = context_of(labelled, measures=("map@20", "micro_mrr"), seed=11)
    told: list[tuple[int, int]] = []
    vars(context)["progress"] = lambda done, total: told.append((done, total))
    section = sections_of(ANALYSIS, context)["discriminative-hsd"]
    assert told[:2] == [(1, 2), (2, 2)]  # then those of full test
    found = context.labels.values(["map@20", "micro_mrr"])
    kernel = [
        randomised_tukey(question_sums(found[name]), np.random.default_rng([11, 10 + i]), 200)
        for i, name in enumerate(found)
    ]
    shares, pairs = rows_of(section), rows_of(section, 1)
    assert [row["hsd"] for row in shares] == [one.share_below(0.05) for one in kernel]
    assert [row["area"] for row in shares] == [one.area() for one in kernel]
    assert [row["questions"] for row in shares] == [context.labels.question_counts().answered] * 2
    surest = sorted(range(3), key=kernel[0].p.tolist().__getitem__)  # first
    p, means = t_tests(context, "map@20"), found["map@20"].mean()

    def sure(values) -> list[object]:
        in_order = list(values)
        return [in_order[i] for i in surest]

    assert [row["hsd"] for row in pairs] == sure(kernel[0].p) == sorted(kernel[0].p)
    assert [row["pair"] for row in pairs] == sure(f"{SYSTEMS[i]} − {SYSTEMS[j]}" for i, j in PAIRS)
    assert [row["p"] for row in pairs] == pytest.approx(sure(p))
    assert [row["holm"] for row in pairs] == pytest.approx(sure(holm(p)))
    assert [row["bh"] for row in pairs] == pytest.approx(sure(benjamini_hochberg(p)))
    assert [row["difference"] for row in pairs] == pytest.approx(sure(means[i] - means[j] for i, j in PAIRS))
    below = [(row, 5) for row, value in enumerate(sorted(kernel[0].p)) if value < 0.05]
    assert [tuple(at) for at in section.tables[1].best] == below
    assert "200 permutations, seed 11" in section.caption


def test_what_is_of_full_test_alone_is_folded(labelled: Pool):
    sections = sections_of(ANALYSIS, context_of(labelled, measures=("map@20",)))
    assert {key for key in sections if key not in ANALYSIS.opened} == {key for key in sections if "full-test" in key}


def test_captions_name_the_corrections(labelled: Pool):
    sections = sections_of(ANALYSIS, context_of(labelled, measures=("map@20", "micro_mrr")))
    for key in ("discriminative-curve", "discriminative-hsd"):
        assert "Corrections over the pairs of a measure: Holm; Benjamini-Hochberg (BH)." in sections[key].caption
    assert "Correction over the pairs: Holm, bold" in sections["discriminative-matrix"].caption


def test_one_system_has_no_pair(labelled: Pool):
    Run.objects.exclude(system__name="complex").delete()
    sections = sections_of(ANALYSIS, context_of(labelled, measures=("map@20",)))
    (row,) = rows_of(sections["discriminative-curve"])
    assert row["pairs"] == 0
    assert row["area"] == {"value": None, "reason": "one system only: there is no pair"}
    assert list(sections["discriminative-curve"].notes) == ["One system only: there is no pair to test."]
    assert rows_of(sections["discriminative-hsd"], 1) == []


def test_systems_that_tie_everywhere_have_p_1(labelled: Pool):
    chosen = tied_systems(context_of(labelled).labels)
    sections = sections_of(ANALYSIS, context_of(labelled, chosen, measures=("micro_mrr",)))
    assert [row["p"] for row in rows_of(sections["discriminative-hsd"], 1)] == [1.0, 1.0, 1.0]
    assert [row["hsd"] for row in rows_of(sections["discriminative-hsd"], 1)] == [1.0, 1.0, 1.0]
    assert rows_of(sections["discriminative-curve"])[0]["raw"] == 0.0


def test_system_with_an_undefined_value_has_no_p_values_and_the_page_says_why(labelled: Pool):
    chosen = nothing_returned(context_of(labelled).labels, 0)
    context = context_of(labelled, chosen, measures=("micro_mr",))
    sections = sections_of(ANALYSIS, context)
    why = chosen.values(["micro_mr"])["micro_mr"].reasons()[0]
    columns = columns_of(sections["discriminative-matrix"].tables[0])
    assert (columns["transe"]["distmult"], columns["transe"]["complex"]) == (None, None)
    assert 0 < columns["distmult"]["complex"] < 1
    assert list(sections["discriminative-curve"].notes) == [f"No p-values by Micro MR for TransE: {why}."]
    assert [row["pairs"] for row in rows_of(sections["discriminative-curve"])] == [1, 1]
    assert rows_of(sections["discriminative-hsd"], 1)[-1]["hsd"] == {"value": None, "reason": why}


def test_without_a_positive_triple_there_is_no_p_value(labelled: Pool):
    chosen = without_positives(context_of(labelled).labels)
    sections = sections_of(ANALYSIS, context_of(labelled, chosen, measures=("micro_mrr", "map@20")))
    reasons = [row["area"]["reason"] for row in rows_of(sections["discriminative-curve"])]
    assert reasons == [f"a test needs two {unit}s, there are 0" for unit in ("answer", "answer", "question")]
    assert sections["discriminative-curve"].finding == ""
