"""Places and their intervals equal those counted resample by resample."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

from evaluation.measures.question_sums import QuestionSums
from evaluation.statistics.bootstrap import bootstrap_places, times_drawn
from evaluation.statistics.correlation import places


def make_sums(systems: int, questions: int, seed: int = 1, *, better: bool = True) -> QuestionSums:
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 4, size=questions)
    sums = rng.random((systems, questions)) * counts + 0.1 * np.arange(systems)[:, None]
    return QuestionSums(sums, counts, np.arange(questions, dtype=np.int32), "answer", better)


def test_places_are_ranks_and_ties_share_the_best():
    merits = np.array([[0.3, 0.5, 0.3, np.nan, 0.1], [1.0, 1.0, 1.0, 1.0, 2.0]])
    expected = np.where(np.isnan(merits), np.nan, [[2, 1, 2, np.nan, 4], rankdata(-merits[1], "min")])
    np.testing.assert_array_equal(places(merits), expected)


@pytest.mark.parametrize("better", [True, False])
def test_intervals_equal_a_count_over_the_same_resamples(better):
    sums, resamples = {"m": make_sums(4, 30, better=better), "other": make_sums(4, 30, seed=2)}, 50
    found = bootstrap_places(sums, np.random.default_rng(3), resamples)["m"]
    drawn, ahead = [], np.zeros((4, 4))
    for times in times_drawn(resamples, 30, np.random.default_rng(3)):
        mean = (sums["m"].sums * times).sum(axis=1) / (sums["m"].counts * times).sum()
        merit = mean if better else -mean
        drawn.append([1 + sum(other > own for other in merit) for own in merit])
        ahead += merit[:, None] > merit[None, :]
    ranked = np.sort(np.array(drawn), axis=0)
    assert found.low.tolist() == ranked[int(np.ceil(0.025 * resamples)) - 1].tolist()
    assert found.high.tolist() == ranked[int(np.ceil(0.975 * resamples)) - 1].tolist()
    pairs = [(i, j) for i in range(4) for j in range(i)]
    undecided = sum(max(ahead[i, j], ahead[j, i]) < 0.975 * resamples for i, j in pairs)
    assert (found.undecided, found.pairs, found.questions) == (undecided, 6, 30)
    assert 0 < undecided < 6  # else this shows nothing
    for first, second, share in found.open_pairs:
        assert share == ahead[first, second] / resamples >= ahead[second, first] / resamples


def test_one_system_no_question_and_an_undefined_system():
    alone = bootstrap_places({"m": make_sums(1, 5)}, np.random.default_rng(1))["m"]
    assert (alone.low.tolist(), alone.high.tolist(), alone.pairs, alone.undecided) == ([1.0], [1.0], 0, 0)
    nothing = bootstrap_places({"m": make_sums(2, 0)}, np.random.default_rng(1))["m"]
    assert np.isnan(nothing.low).all() and (nothing.pairs, nothing.undecided) == (1, 1)
    sums = make_sums(3, 10)
    sums.sums[1, 4] = np.nan
    found = bootstrap_places({"m": sums}, np.random.default_rng(1))["m"]
    assert np.isnan(found.low[1]) and found.high[[0, 2]].max() <= 2
    assert bootstrap_places({}, np.random.default_rng(1)) == {}
    with pytest.raises(ValueError, match="at least one resample"):
        bootstrap_places({"m": sums}, np.random.default_rng(1), 0)


def test_systems_that_tie_everywhere_are_undecided():
    sums = make_sums(2, 10)
    sums.sums[1] = sums.sums[0]
    found = bootstrap_places({"m": sums}, np.random.default_rng(1))["m"]
    assert (found.undecided, found.low.tolist(), found.high.tolist()) == (1, [1, 1], [1, 1])
