"""The page Depth: each row is the label set of that depth, read by another way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

from evaluation.analyses.depth import ANALYSIS
from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import EvaluationError, pool_table
from evaluation.measures.values import NO_ANSWER
from evaluation.sections.growth_curves import NO_ORDER, ONE_SYSTEM, settled_from
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
CASES = [("grown", "judged"), ("original", "judged"), ("original", "unjudged")]


def to_depth(pool: Pool, depth: int, questions: str):
    return label_set(pool, pool_table(pool), f"depth:{depth}", questions)


@pytest.mark.parametrize(("questions", "assumed"), CASES)
def test_values_of_each_depth_are_those_of_its_label_set(labelled: Pool, questions: str, assumed: str):
    names = ("bpref", "micro_mr", "infap")
    context = context_of(labelled, measures=names, questions=questions, assumed=assumed)
    section = sections_of(ANALYSIS, context)["depth-values"]
    assert [table.title for table in section.tables] == [f"{m.label} of each system by depth" for m in context.measures]
    for name, table in zip(names, section.tables, strict=True):
        columns = columns_of(table)
        assert list(columns) == ["depth", "positives", "questions", *SYSTEMS]
        for depth in range(labelled.depth + 1):
            chosen = to_depth(labelled, depth, questions)
            means = chosen.values([name], assumed == "judged")[name].mean()
            found = [columns[system][depth] for system in SYSTEMS]
            assert found == pytest.approx(means.tolist(), abs=1e-12)
            assert columns["positives"][depth] == chosen.counts()["positive"]
            assert columns["questions"][depth] == chosen.question_counts().answered


def test_tau_of_each_depth_is_against_the_seeds_and_against_the_full_depth(labelled: Pool):
    sections = sections_of(ANALYSIS, context_of(labelled, measures=("micro_mrr", "micro_mr")))
    means: dict[str, list[Any]] = {"micro_mrr": [], "micro_mr": []}
    for depth in range(labelled.depth + 1):
        for name, values in to_depth(labelled, depth, "grown").values(list(means)).items():
            means[name].append(values.mean())
    for key, at in (("seeds", 0), ("full", -1)):
        columns = columns_of(sections[f"depth-{key}"].tables[0])
        for name, rows in means.items():
            expected = [kendalltau(row, rows[at]).statistic for row in rows]
            assert list(columns[name].values()) == pytest.approx(expected, abs=1e-12)
    assert len(set(columns_of(sections["depth-full"].tables[0])["micro_mrr"].values())) > 1  # it can tell


def test_each_table_is_named_by_its_measure(labelled: Pool):
    section = sections_of(ANALYSIS, context_of(labelled, measures=("map@20", "micro_mrr")))["depth-values"]
    assert section.title == "Measures by pool depth"
    assert [table.title for table in section.tables] == [
        "MAP@20 of each system by depth", "Micro MRR of each system by depth",
    ]  # fmt: skip
    assert "The chart is of MAP@20" in section.text
    one = sections_of(ANALYSIS, context_of(labelled, measures=("micro_mrr",)))["depth-values"]
    assert (one.title, "The chart is of" in one.text) == ("Micro MRR by pool depth", False)


def test_chart_has_a_line_for_each_system_and_for_each_measure(labelled: Pool):
    sections = sections_of(ANALYSIS, context_of(labelled, measures=("map@20", "micro_mrr")))
    chart = sections["depth-values"].chart
    columns = columns_of(sections["depth-values"].tables[0])
    assert chart is not None
    assert [(line["system"], line["name"]) for line in chart.data["series"]] == list(enumerate(SYSTEMS))
    assert all(line["y"] == list(columns[line["name"]].values()) for line in chart.data["series"])
    taus = sections["depth-seeds"].chart
    assert taus is not None
    assert [(panel["measure"], panel["name"]) for panel in taus.data["panels"]] == [(0, "MAP@20"), (1, "Micro MRR")]


def test_depth_0_is_not_called_the_seeds_alone(labelled: Pool):
    """Under it pooled triples are unjudged, under the label set of the seeds they are not pooled: infAP differs."""
    context = context_of(labelled, measures=("infap",))
    sections = sections_of(ANALYSIS, context)
    shown = columns_of(sections["depth-values"].tables[0])
    seeds = context.against.values(["infap"])["infap"].mean()
    assert [shown[system][0] for system in SYSTEMS] != pytest.approx(seeds.tolist())
    text = repr([section.content() for section in sections.values()])
    assert "seeds alone" not in text and text.count("Depth 0: labels of the seeds only") == 3
    assert sections["depth-seeds"].tables[0].title == "Tau against depth 0"
    assert "with that at depth 0." in sections["depth-seeds"].finding


def test_caption_of_depth_has_n_of_the_full_depth(labelled: Pool):
    context = context_of(labelled, questions="original")
    answers, questions = context.labels.values(["micro_mrr", "macro_mrr"]).values()
    for section in sections_of(ANALYSIS, context).values():
        assert f"n = {answers.n} answers to {questions.n} questions." in section.caption


def test_full_test_set_has_no_depth(labelled: Pool):
    with pytest.raises(EvaluationError, match="no pool depth"):
        sections_of(ANALYSIS, context_of(labelled, "full-test"))


def test_seeds_alone_have_one_depth(labelled: Pool):
    sections = sections_of(ANALYSIS, context_of(labelled, "seeds"))
    assert list(columns_of(sections["depth-values"].tables[0])["depth"]) == [0]
    assert sections["depth-values"].finding == "These labels are of seeds only: there is no depth to look at."


def test_one_system_has_values_and_no_order(labelled: Pool):
    Run.objects.exclude(system__name="complex").delete()
    sections = sections_of(ANALYSIS, context_of(labelled, measures=("micro_mrr",)))
    values = columns_of(sections["depth-values"].tables[0])
    assert list(values) == ["depth", "positives", "questions", "complex"]
    assert all(0 < value < 1 for value in values["complex"].values())
    table = sections["depth-full"].tables[0]
    assert {row[2]["reason"] for row in table.rows if isinstance(row[2], dict)} == {NO_ORDER}
    assert list(sections["depth-full"].notes) == [ONE_SYSTEM]
    assert sections["depth-full"].finding == ""


def test_without_a_positive_triple_everything_is_undefined_for_that_reason(labelled: Pool):
    chosen = without_positives(context_of(labelled).labels)
    sections = sections_of(ANALYSIS, context_of(labelled, chosen))
    cells = [cell for row in sections["depth-values"].tables[0].rows for cell in row[3:]]
    assert cells == [{"value": None, "reason": NO_ANSWER}] * (3 * (labelled.depth + 1))


def test_systems_that_tie_have_no_tau(labelled: Pool):
    chosen = tied_systems(context_of(labelled).labels)
    table = sections_of(ANALYSIS, context_of(labelled, chosen))["depth-full"].tables[0]
    assert {row[2]["reason"] for row in table.rows if isinstance(row[2], dict)} == {NO_ORDER}
    assert len(table.rows) == labelled.depth + 1


def test_mean_rank_of_a_system_that_returned_nothing_says_why(labelled: Pool):
    chosen = nothing_returned(context_of(labelled).labels, 1)
    table = sections_of(ANALYSIS, context_of(labelled, chosen, measures=("micro_mr",)))["depth-values"].tables[0]
    why = chosen.values(["micro_mr"])["micro_mr"].reasons()[1]
    assert "98 of 98" in why
    assert [row[4] for row in table.rows] == [{"value": None, "reason": why}] * len(table.rows)
    assert all(isinstance(row[3], float) for row in table.rows)


@pytest.mark.parametrize(
    ("tau", "expected"),
    [([1, 1, 1], 0), ([0.3, 1, 1], 1), ([1, 0.3, 1], 2), ([np.nan, 1], 1), ([1, np.nan], None), ([], None)],
)
def test_settled_from_is_the_first_state_after_the_last_difference(tau: list[float], expected: int | None):
    assert settled_from(np.array(tau, dtype=float)) == expected
