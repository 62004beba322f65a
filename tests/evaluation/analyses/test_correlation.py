"""Coefficients and matrices equal scipy's on the means; places, ties and undefined cases are told in words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from evaluation.analyses.correlation import ANALYSIS
from evaluation.analyses.matrices import distinct_sets
from evaluation.sections.figure_cache import part_version
from evaluation.sections.metrics import metrics
from evaluation.sections.settings import Settings
from evaluation.sections.wording import places, rows_without_overlap, steps, words
from pooling.models import Pool
from tests.evaluation.cases import (
    columns_of,
    context_of,
    nothing_returned,
    sections_of,
    tied_systems,
    without_positives,
)
from tests.factories import judge, make_pool, make_systems

NAMES = ("micro_mr", "micro_mrr", "macro_hits@3", "map")


def merits(pool: Pool, labels: str, name: str) -> list[float]:
    sign = -1 if name == "micro_mr" else 1
    return [sign * values[name] for values in metrics(pool, labels, NAMES)["systems"].values()]


def or_none(value: float) -> float | None:
    return pytest.approx(value) if np.isfinite(value) else None


def test_coefficients_between_label_sets_are_those_of_scipy(labelled: Pool):
    table = sections_of(ANALYSIS, context_of(labelled, measures=NAMES, against="full-test"))["between"].tables[0]
    shown = columns_of(table)
    for name, row in zip(NAMES, table.rows, strict=True):
        one, other = merits(labelled, "full-test", name), merits(labelled, "current", name)
        assert shown["tau_b"][row[0]] == or_none(kendalltau(one, other).statistic), name
        assert shown["spearman"][row[0]] == or_none(spearmanr(one, other).statistic), name
        assert shown["systems"][row[0]] == 3


def test_interval_depends_on_the_seed_and_the_value_does_not(labelled: Pool):
    def between(seed: int) -> list:
        context = context_of(labelled, measures=NAMES, seed=seed)
        return [row[2] for row in sections_of(ANALYSIS, context)["between"].tables[0].rows]

    one, again, other = between(1), between(1), between(2)
    assert one == again != other
    assert [cell["value"] for cell in one] == [cell["value"] for cell in other]
    assert all(cell["low"] <= cell["high"] for cell in one)


def test_matrix_of_measures_is_tau_of_every_two(labelled: Pool):
    section = sections_of(ANALYSIS, context_of(labelled, measures=NAMES))["measures"]
    expected = [
        [or_none(kendalltau(merits(labelled, "current", a), merits(labelled, "current", b)).statistic) for b in NAMES]
        for a in NAMES
    ]
    assert section.chart.data["values"] == expected
    assert [[c["value"] if isinstance(c, dict) else c for c in row[1:]] for row in section.tables[0].rows] == expected


def test_matrix_of_label_sets_has_each_once_in_order(labelled: Pool):
    section = sections_of(ANALYSIS, context_of(labelled, labels="depth:2", against="current", measures=NAMES))["sets"]
    keys = [column.key for column in section.tables[0].columns][1:]
    assert keys == ["seeds", "current", "depth-2", "full-test"]
    names = ["seeds", "current", "depth:2", "full-test"]
    assert section.chart.data["values"] == [
        [or_none(kendalltau(merits(labelled, a, "micro_mr"), merits(labelled, b, "micro_mr")).statistic) for b in names]
        for a in names
    ]


def test_places_tell_how_many_pairs_turn(labelled: Pool):
    section = sections_of(ANALYSIS, context_of(labelled, against="full-test", measures=NAMES))["places"]
    one, other = merits(labelled, "full-test", "micro_mr"), merits(labelled, "current", "micro_mr")
    turned = sum((one[i] - one[j]) * (other[i] - other[j]) < 0 for i in range(3) for j in range(i))
    assert section.finding == f"{turned} of 3 pairs of systems turn{'s' if turned == 1 else ''} round."
    shown = columns_of(section.tables[0])
    assert sorted(shown["labels_place"].values()) == [1, 2, 3]
    best = max(range(3), key=other.__getitem__)
    assert list(shown["labels_place"].values())[best] == 1
    assert {line["right"] for line in section.chart.data["lines"]} == {1, 2, 3}


def test_places_of_ties_and_undefined_means():
    mean = np.array([0.5, 0.7, 0.5 + 1e-15, np.nan, 0.1])
    assert places(mean, True) == [2, 1, 2, None, 4]
    assert places(mean, False) == [2, 4, 2, None, 1]
    assert rows_without_overlap([2, 1, 2, None, 4], [1, 2, 3, 4, None]) == [2, 1, 3, None, None]


@pytest.mark.parametrize(
    ("systems", "words"),
    [
        (1, "One system only: there is no order to compare, so tau is undefined."),
        (2, "2 systems make one pair, so without ties tau is 1 or −1."),
        (6, "6 systems make 15 pairs, so without ties tau moves in steps of 0.13."),
    ],
)
def test_steps_of_tau_are_told_by_the_number_of_systems(systems: int, words: str):
    assert steps(systems) == words


def test_systems_that_tie_everywhere_have_no_tau_but_places(labelled: Pool):
    tied = tied_systems(context_of(labelled).labels)
    sections = sections_of(ANALYSIS, context_of(labelled, tied, measures=NAMES))
    assert {row[1]["reason"] for row in sections["between"].tables[0].rows} == {"one side ties all systems"}
    assert sections["between"].finding == "By Micro MR tau-b is undefined."
    assert sections["measures"].chart.data["values"] == [[None] * len(NAMES)] * len(NAMES)
    lines = sections["places"].chart.data["lines"]
    assert {line["right"] for line in lines} == {1}
    assert sorted(line["right_row"] for line in lines) == [1, 2, 3]


def test_labels_without_a_positive_have_no_tau_and_say_why(labelled: Pool):
    nothing = without_positives(context_of(labelled).labels)
    sections = sections_of(ANALYSIS, context_of(labelled, nothing, measures=NAMES))
    reason = "fewer than two systems have a value on both sides"
    assert sections["between"].tables[0].rows[0][1] == {"value": None, "reason": reason}
    assert sections["between"].tables[0].rows[0][5] == 0
    assert sections["places"].finding == "There is no pair of systems to compare."
    assert "Undefined under nothing" in " ".join(sections["between"].notes)


def test_a_system_that_returned_nothing_is_left_out_where_it_is_undefined(labelled: Pool):
    cut = nothing_returned(context_of(labelled).labels, system=1)
    table = sections_of(ANALYSIS, context_of(labelled, cut, measures=NAMES))["between"].tables[0]
    assert list(columns_of(table)["systems"].values()) == [2, 3, 3, 3]
    one, other = merits(labelled, "seeds", "micro_mr"), merits(labelled, "current", "micro_mr")
    expected = kendalltau([one[0], one[2]], [other[0], other[2]]).statistic
    assert columns_of(table)["tau_b"]["Micro MR"] == or_none(expected)


def test_one_system_alone_has_no_tau(town):
    make_systems(town, ("transe",))
    sections = sections_of(ANALYSIS, context_of(make_pool(town), labels="full-test"))
    assert sections["between"].tables[0].rows[0][1]["value"] is None
    assert "One system only" in sections["between"].text


def test_page_of_fixed_label_sets_still_follows_the_current_labels(labelled: Pool):
    fixed, part = Settings(labels="full-test", against="seeds"), ANALYSIS.part("sets")
    before = part_version(labelled, ANALYSIS, part, fixed)
    judge(labelled.triples.filter(judgement=None).first(), "positive")
    assert part_version(labelled, ANALYSIS, part, fixed) != before


def test_first_measure_is_compared_with_each_other_one_as_scipy_does(labelled: Pool):
    section = sections_of(ANALYSIS, context_of(labelled, measures=NAMES))["first"]
    labels = [m.label for m in context_of(labelled, measures=NAMES).measures]
    (table,) = section.tables
    shown = columns_of(table)
    assert list(shown["measure"]) == labels[1:]
    first = merits(labelled, "current", NAMES[0])
    for name, label in zip(NAMES[1:], labels[1:], strict=True):
        other = merits(labelled, "current", name)
        assert shown["tau_b"][label] == or_none(kendalltau(first, other).statistic), name
        assert shown["spearman"][label] == or_none(spearmanr(first, other).statistic), name
        assert shown["systems"][label] == 3
    assert [(one["measure"], one["name"]) for one in section.chart.data["series"]] == [
        (i, labels[i]) for i in (1, 2, 3)
    ]
    for row in table.rows:
        assert all(c["low"] <= c["high"] for c in row[1:5])
    by_tau = {label: round(shown["tau_b"][label], 12) for label in labels[1:]}
    low, high = (words([label for label in by_tau if by_tau[label] == end(by_tau.values())]) for end in (min, max))
    least, most = (f"{end(by_tau.values()):.2f}".replace("-", "−") for end in (min, max))
    assert low != high
    assert section.finding == f"Micro MR agrees least with {low} (tau-b {least}), most with {high} ({most})."


def test_interval_of_two_measures_is_that_of_a_loop_over_resamples(labelled: Pool):
    """Both measures of a resample have the same questions, each as often as it was drawn."""
    context = context_of(labelled, measures=("micro_mrr", "macro_mrr"), seed=3)
    row = sections_of(ANALYSIS, context)["first"].tables[0].rows[0]
    found = context.labels.values(("micro_mrr", "macro_mrr"))
    asked = np.unique(found["macro_mrr"].unit_question)
    rng, taus = context.rng(2), []
    for _block in range(10):
        for draw in rng.integers(asked.size, size=(100, asked.size)):
            both = []
            for value in found.values():
                units = np.concatenate([np.flatnonzero(value.unit_question == q) for q in asked[draw]])
                both.append(np.round(value.per_unit[:, units].mean(axis=1), 12))
            taus.append(kendalltau(*both).statistic)
    assert len(taus) == 1000
    low, high = np.quantile(np.array(taus)[np.isfinite(taus)], [0.025, 0.975])
    assert (row[1]["low"], row[1]["high"]) == pytest.approx((low, high))


def test_places_by_two_measures_turn_each_by_its_own_direction(labelled: Pool):
    section = sections_of(ANALYSIS, context_of(labelled, measures=("micro_mr", "map")))["first-places"]
    shown = columns_of(section.tables[0])
    for name in ("micro_mr", "map"):
        own = merits(labelled, "current", name)
        assert list(shown[f"{name}_place"].values()) == [1 + sum(o > m for o in own) for m in own]
    lines = section.chart.data["lines"]
    assert [line["left"] for line in lines] == list(shown["micro_mr_place"].values())
    assert [line["right"] for line in lines] == list(shown["map_place"].values())
    assert (section.chart.data["left"], section.chart.data["right"]) == ("Micro MR", "MAP")
    turned = sum(
        (a["left"] - b["left"]) * (a["right"] - b["right"]) < 0 for i, a in enumerate(lines) for b in lines[:i]
    )
    assert section.finding == f"{turned} of 3 pairs of systems turn{'s' if turned == 1 else ''} round."


def test_one_measure_alone_is_compared_with_none(labelled: Pool):
    sections = sections_of(ANALYSIS, context_of(labelled, measures=("map",)))
    assert list(sections) == ["between", "places", "measures", "sets"]


def test_measures_of_systems_that_tie_have_no_tau_and_say_why(labelled: Pool):
    tied = tied_systems(context_of(labelled).labels)
    section = sections_of(ANALYSIS, context_of(labelled, tied, measures=NAMES))["first"]
    assert {row[1]["reason"] for row in section.tables[0].rows} == {"one side ties all systems"}
    assert section.finding == "Tau-b of Micro MR with every other measure is undefined."


def test_captions_have_the_questions_and_n_of_every_label_set(labelled: Pool):
    context = context_of(labelled, measures=NAMES, questions="original")
    sections = sections_of(ANALYSIS, context)
    n = {}
    for chosen in (context.against, context.labels, distinct_sets(context)[-1]):
        answers, questions = chosen.values(["micro_mrr", "macro_mrr"]).values()
        n[chosen.key] = f"{answers.n} answers to {questions.n} questions"
        positive = chosen.counts()["positive"]
        assert f"{chosen.name}: {positive} positive, n = {n[chosen.key]}" in sections["sets"].caption
    assert "Questions of the seeds only, but for full test" in sections["sets"].caption
    assert f"n = {n['seeds']}, and {n['current']}." in sections["between"].caption
    assert f"n = {n['current']}." in sections["measures"].caption
    assert f"n = {n['current']}." in sections["first"].caption
    grown = sections_of(ANALYSIS, context_of(labelled, measures=NAMES))["sets"].caption
    assert "All questions that each set opened" in grown
