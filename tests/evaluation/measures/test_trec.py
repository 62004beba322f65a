"""Every list measure against trec_eval: 200 random sets of runs, and the golden files of fixtures/measures."""

import json
from pathlib import Path

import numpy as np
import pytest

from evaluation.measures.prepared import prepare
from evaluation.measures.values import means, values
from tests.evaluation.measures.trec import OF_THE_WHOLE_RUN, TREC, Lists, random_lists, read_lists, trec_eval

GOLDEN = Path(__file__).resolve().parents[3] / "fixtures" / "measures"
CONDENSED = {f"condensed_{ours}": theirs for ours, theirs in TREC.items() if ours not in OF_THE_WHOLE_RUN}


def assert_equal_to_trec_eval(lists: Lists, reference: Lists, names: dict[str, str]) -> int:
    """Question by question, 1e-6; how many values were compared."""
    found = values(prepare(lists.table()), lists.state(), names)
    compared = 0
    for system in range(len(lists.runs)):
        expected = trec_eval(reference, system)
        for ours, theirs in names.items():
            assert [lists.questions[q] for q in found[ours].unit_question] == list(expected)
            column = [by_measure[theirs] for by_measure in expected.values()]
            np.testing.assert_allclose(found[ours].per_unit[system], column, rtol=0, atol=1e-6, err_msg=ours)
            compared += len(column)
    return compared


def test_random_runs_equal_trec_eval():
    compared = 0
    for seed in range(200):
        lists = random_lists(seed)
        compared += assert_equal_to_trec_eval(lists, lists, TREC)
    assert compared > 200 * len(TREC)


def test_random_runs_hold_every_bad_case():
    """What the test above would not see if the random lists stopped to contain it."""
    all_lists = [random_lists(seed) for seed in range(200)]
    grades = [set(grades.values()) for lists in all_lists for grades in lists.qrels.values()]
    assert sum(1 not in seen for seen in grades) > 50  # no answer
    assert sum(1 in seen and 0 not in seen for seen in grades) > 50  # no negative
    assert sum({1, 0, -1} == seen for seen in grades) > 50
    asked = [(run, q) for lists in all_lists for run in lists.runs for q in lists.evaluated()]
    assert sum(q not in run for run, q in asked) > 50  # missing questions
    assert sum(0 < len(run.get(q, [])) <= 5 for run, q in asked) > 50  # fewer than the cut-off


def test_condensed_measures_equal_trec_eval_on_runs_without_the_unjudged():
    compared = 0
    for seed in range(200):
        lists = random_lists(seed)
        compared += assert_equal_to_trec_eval(lists, lists.condensed(), CONDENSED)
    assert compared > 200 * len(CONDENSED)


def test_golden_files_hold_trec_eval_values():
    lists = read_lists(GOLDEN)
    expected = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))
    names = [path.stem.removeprefix("run_") for path in sorted(GOLDEN.glob("run_*.txt"))]
    assert sorted(expected) == names
    found = values(prepare(lists.table()), lists.state(), [*TREC, *CONDENSED])
    for s, name in enumerate(names):
        assert set(expected[name]) == {*TREC, *CONDENSED}
        for measure, by_question in expected[name].items():
            ours = dict(zip(lists.evaluated(), found[measure].per_unit[s].tolist(), strict=True))
            assert ours == pytest.approx(by_question, abs=1e-6), measure


def test_golden_negatives_separate_bpref_from_recall_and_infap_from_map():
    """The published study's bpref equals its recall@1000 and its infAP its MAP: its negatives were lost."""
    lists = read_lists(GOLDEN)
    found = means(prepare(lists.table()), lists.state(), ["bpref", "recall@1000", "infap", "map"])
    assert (found["bpref"] < found["recall@1000"] - 0.01).all()
    long_runs = slice(1, None)  # the first run is too short to hold an unjudged document above an answer
    assert (np.abs(found["infap"] - found["map"])[long_runs] > 0.01).all()


def test_cutoff_beyond_the_list_equals_the_whole_list():
    for seed in range(20):
        lists = random_lists(seed)
        found = values(
            prepare(lists.table()), lists.state(), ["map", "map@60", "ndcg", "ndcg@60", "recall@40", "recall@60"]
        )
        for whole, cut in (("map", "map@60"), ("ndcg", "ndcg@60"), ("recall@40", "recall@60")):
            np.testing.assert_array_equal(found[whole].per_unit, found[cut].per_unit)
