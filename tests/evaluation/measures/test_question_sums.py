import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.measures.label_state import LabelState
from evaluation.measures.prepared import prepare
from evaluation.measures.question_sums import QuestionSums, question_sums
from evaluation.measures.values import Values, values
from evaluation.statistics.bootstrap import StackedSums

NAMES = ["micro_mr", "micro_mrr", "micro_hits@3", "macro_mrr", "map@20", "bpref", "judged@3"]
seeds = st.integers(0, 10**6)


def of(per_unit, question, unit="answer", finish=None):
    found = np.asarray(per_unit, dtype=float)
    return question_sums(Values(found, unit, np.asarray(question, dtype=np.int32), None, True, finish))


def test_sums_of_a_question_are_its_units_added():
    sums = of([[1, 2, 4, 8], [0, 1, 0, 1]], [0, 2, 2, 5])
    assert sums.question.tolist() == [0, 2, 5]
    assert sums.counts.tolist() == [1, 2, 1]
    assert sums.sums.tolist() == [[1, 6, 8], [0, 1, 1]]
    assert sums.units == 4
    assert sums.mean().tolist() == [15 / 4, 2 / 4]


@given(seed=seeds)
def test_sums_have_the_means_of_the_values(world, seed):
    w = world(seed)
    for value in values(prepare(w.table), w.state, NAMES).values():
        np.testing.assert_allclose(question_sums(value).mean(), value.mean(), rtol=1e-12, equal_nan=True)


@given(seed=seeds)
def test_weighted_mean_repeats_the_units_of_a_question(world, seed):
    w = world(seed)
    rng = np.random.default_rng(seed)
    for value in values(prepare(w.table), w.state, ["micro_mrr", "map@20"]).values():
        sums = question_sums(value)
        times = rng.integers(0, 4, size=(3, sums.question.size))
        for draw, mean in zip(times, StackedSums([sums]).merits(times.astype(float))[:, 0], strict=True):
            often = dict(zip(sums.question.tolist(), draw.tolist(), strict=True))
            repeated = np.repeat(value.per_unit, [often[q] for q in value.unit_question.tolist()], axis=1)
            expected = repeated.mean(axis=1) if repeated.size else np.full(3, np.nan)
            np.testing.assert_allclose(mean, expected, rtol=1e-12, atol=1e-12, equal_nan=True)


def test_finish_turns_the_mean_and_not_the_units():
    sums = of(np.log([[1, 2, 4, 8]]), [0, 0, 1, 3], finish=np.exp)
    assert sums.mean() == pytest.approx([64**0.25], rel=1e-14)
    kept = sums.keep(np.array([True, False, True, True]))  # of four questions of the table
    assert kept.mean() == pytest.approx([16 ** (1 / 3)], rel=1e-14)
    assert (kept.question.tolist(), kept.counts.tolist()) == ([0, 3], [2, 1])


def test_undefined_unit_makes_only_its_question_and_the_mean_undefined():
    sums = of([[1, np.nan, 4], [1, 1, 1]], [0, 0, 1])
    np.testing.assert_array_equal(sums.sums, [[np.nan, 4], [2, 1]])
    np.testing.assert_array_equal(sums.mean(), [np.nan, 1])
    assert sums.keep(np.array([False, True])).mean().tolist() == [4, 1]


def test_no_unit_has_no_mean():
    w_sums = of(np.zeros((2, 0)), [])
    assert isinstance(w_sums, QuestionSums)
    assert (w_sums.sums.shape, w_sums.units) == ((2, 0), 0)
    assert np.isnan(w_sums.mean()).all()


def test_sums_without_positives_are_empty(world):
    w = world(3)
    w.state[:] = LabelState.NEGATIVE
    for value in values(prepare(w.table), w.state, NAMES).values():
        assert question_sums(value).question.size == 0
