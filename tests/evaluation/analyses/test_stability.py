"""The page Stability: means of the kernel's curves, what is undefined and why, what the caption counts."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.analyses import stability
from evaluation.analyses.stability import by_labels, by_questions
from evaluation.statistics.stability import Stability, question_stability
from pooling.models import Pool
from tests.evaluation.cases import context_of, tied_systems

NO_TWO = "no two subsets order the systems"
NO_DISJOINT = "two disjoint subsets of this size do not exist"


def curve(halves: bool, tau: list[list[float]], triples: list[int]) -> Stability:
    sizes = (0.25, 0.5) if halves else (0.25, 0.5, 0.75)
    return Stability(sizes, np.array(triples), 9, len(tau[0]), {"map": np.array(tau)})


def test_table_has_the_means_of_the_curves(labelled: Pool):
    context = context_of(labelled, measures=("map", "micro_mrr"), seed=5)
    (section,) = by_questions(context)
    sums = context.labels.sums(("map", "micro_mrr"))
    whole = question_stability(sums, np.random.default_rng([5, 1]), repeats=50)
    disjoint = question_stability(sums, np.random.default_rng([5, 2]), repeats=50, halves=True)
    for i, row in enumerate(section.tables[0].rows):
        assert row[1] == whole.triples[i]
        for cell, mean in zip(row[2::2], (whole.mean("map")[i], whole.mean("micro_mrr")[i]), strict=True):
            assert cell["value"] == (pytest.approx(mean) if np.isfinite(mean) else None)
        if i < len(disjoint.sizes) and np.isfinite(disjoint.mean("map")[i]):
            assert row[3] == pytest.approx(disjoint.mean("map")[i])


def test_bars_end_where_no_tau_is(labelled: Pool):
    taus = curve(False, [[1.0, 0.8], [1.0, -0.2], [-0.1, 0.1]], [2, 4, 6])
    assert taus.mean("map") == pytest.approx([0.9, 0.4, 0.0])
    halves = curve(True, [[1.0, 1.0]] * 2, [2, 4])
    section = stability._section(context_of(labelled, measures=("map",)), "k", "t", taus, halves, "questions", "")
    (panel,) = section.chart.data["panels"]
    line, disjoint = panel["series"]
    sd = taus.sd("map")
    assert sd[0] > 0.1 and sd[1] > 0.6
    assert line["high"] == pytest.approx([1.0, 1.0, sd[2]])
    assert line["low"] == pytest.approx([0.9 - sd[0], 0.4 - sd[1], -sd[2]])
    assert disjoint["thin"] and "low" not in disjoint  # one band a panel
    assert section.chart.data["yrange"] == [pytest.approx(0.4 - sd[1] - 0.05), 1.02]
    below = curve(False, [[-1.0, -0.8]] * 3, [2, 4, 6])
    section = stability._section(context_of(labelled, measures=("map",)), "k", "t", below, halves, "questions", "")
    assert section.chart.data["panels"][0]["series"][0]["low"] == pytest.approx([-1.0] * 3)


def test_undefined_pairs_say_why_whether_or_not_the_size_exists(labelled: Pool):
    tied = tied_systems(context_of(labelled).labels)
    (section,) = by_questions(context_of(labelled, tied, measures=("map",)))
    reasons = [row[3]["reason"] for row in section.tables[0].rows]
    assert reasons == [NO_TWO] * 11 + [NO_DISJOINT] * 9  # 1, 5, … 50 %, and above
    few = curve(True, [[np.nan, np.nan], [np.nan, 1.0]], [0, 4])
    rows = (
        stability._section(
            context_of(labelled, measures=("map",)),
            "k",
            "t",
            curve(False, [[1.0, 1.0]] * 3, [2, 4, 6]),
            few,
            "questions",
            "",
        )
        .tables[0]
        .rows
    )
    assert [row[3] for row in rows] == [
        {"value": None, "reason": NO_DISJOINT},
        1.0,
        {"value": None, "reason": NO_DISJOINT},
    ]


def test_caption_counts_subsets_by_size_and_questions_in_all(labelled: Pool):
    context = context_of(labelled, measures=("map",))
    questions, labels = by_questions(context)[0], by_labels(context)[0]
    n = context.labels.question_counts().answered
    assert f"50 subsets a size, of {n} questions in all, seed 7." in questions.caption
    n = context.labels.counts()["positive"]
    assert f"50 subsets a size, of {n} positive triples in all, seed 7." in labels.caption


def test_subsets_without_tau_are_told_with_the_fewest_that_are_left(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stability, "REPEATS", 3)
    nan, every = np.nan, [[1.0, 0.5, 1.0]] * 3
    whole = curve(False, every, [2, 4, 6])
    assert stability._left_out(whole, curve(True, every[:2], [2, 4])) == ""
    some = curve(True, [[nan, 1.0, nan], [1.0, 1.0, nan]], [2, 4])
    assert stability._left_out(whole, some) == (
        " A subset that ties all systems has no tau and is left out; each mean rests on at least 1 of the 3 subsets"
        " of its size."
    )
    none = curve(False, [[nan] * 3, [1.0, nan, 1.0], [1.0] * 3], [2, 4, 6])
    assert "at least 2 of the 3 subsets of its size." in stability._left_out(none)  # a mean of none is no mean
    assert stability._left_out(curve(True, [[nan] * 3, [1.0] * 3], [0, 4])) == ""  # a size that is not there


def test_caption_tells_the_subsets_that_are_left_out(labelled: Pool):
    tied = tied_systems(context_of(labelled).labels)
    (section,) = by_questions(context_of(labelled, tied, measures=("map",)))
    assert "A subset that ties all systems has no tau and is left out. The band" in section.caption


def finding(tau: list[list[float]], positives: int = 40) -> str:
    whole = Stability((0.25, 0.5, 0.75), np.array([10, 20, 30]), positives, 2, {"map": np.array(tau)})
    return stability._finding(whole, "map", "MAP@20", "questions")


def test_the_finding_names_the_share_from_which_on_the_ranking_holds():
    assert finding([[0.95, 0.95], [0.2, 0.4], [0.96, 1.0]]) == (
        "With 75 % of the questions (30 of 40) the ranking by MAP@20 is nearly the full one: tau between the order "
        "by a subset and the full order is 0.98 (95 % of subsets 0.96 to 1.00)."
    )
    assert finding([[0.92, 0.94], [0.95, 1.0], [0.96, 1.0]]).startswith("With 25 % of the questions (10 of 40)")
    low = finding([[0.1, 0.2], [0.3, 0.4], [0.4, 0.8]])
    assert "is not stable: even with 75 %" in low and "full order is only 0.60 (95 % of subsets 0.41 to 0.79)" in low


def test_the_finding_is_honest_with_too_little():
    assert finding([[1.0, 1.0]] * 3, positives=19) == (
        "There are only 19 questions: too few to say how many the ranking needs."
    )
    assert "no subset of the questions orders the systems" in finding([[np.nan, np.nan]] * 3)
    few = Stability((0.25, 0.5), np.array([10, 20]), 40, 3, {"map": np.array([[1, np.nan, np.nan], [1, 1, np.nan]])})
    assert "With 50 %" in stability._finding(few, "map", "MAP@20", "questions")  # two of three subsets are undefined
    assert "even with 50 %" in finding([[0.1, 0.1], [0.2, 0.2], [np.nan, np.nan]])


def test_the_interval_leaves_out_undefined_taus():
    taus = curve(False, [[0.0, 1.0], [0.5, np.nan], [np.nan, np.nan]], [2, 4, 6])
    low, high = taus.interval("map")
    assert (low[:2].tolist(), high[:2].tolist()) == ([pytest.approx(0.025), 0.5], [pytest.approx(0.975), 0.5])
    assert np.isnan([low[2], high[2]]).all()
