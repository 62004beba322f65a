"""How sure an order is, counted resample by resample; the forecast by the numbers of one line."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from evaluation.measures.question_sums import QuestionSums
from evaluation.planning.kernel import bootstrap_order, questions_needed
from evaluation.statistics.bootstrap import times_drawn


def make_sums(systems: int, questions: int, seed: int = 1, *, better: bool = True) -> QuestionSums:
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 4, size=questions)
    sums = rng.random((systems, questions)) * counts + 0.1 * np.arange(systems)[:, None]
    return QuestionSums(sums, counts, np.arange(questions, dtype=np.int32), "answer", better)


@pytest.mark.parametrize("better", [True, False])
def test_equals_a_count_over_the_same_resamples(better: bool):
    sums = {"m": make_sums(4, 30, better=better), "other": make_sums(4, 30, seed=2)}
    found = bootstrap_order(sums, np.random.default_rng(3), 150)["m"]
    of, sign = sums["m"], 1 if better else -1
    now = sign * of.sums.sum(axis=1) / of.counts.sum()
    taus, same = [], dict.fromkeys([(i, j) for i in range(4) for j in range(4) if now[i] > now[j]], 0)
    # drawn as the kernel draws: by the hundred
    rng = np.random.default_rng(3)
    for times in [*times_drawn(100, 30, rng), *times_drawn(50, 30, rng)]:
        drawn = sign * (of.sums * times).sum(axis=1) / (of.counts * times).sum()
        taus.append(kendalltau(drawn, now).statistic)
        for one, other in same:
            same[one, other] += drawn[one] > drawn[other]
    assert (found.mean, found.low, found.high) == pytest.approx(
        (np.mean(taus), np.quantile(taus, 0.025), np.quantile(taus, 0.975)), abs=1e-12
    )
    assert (found.defined, found.resamples, found.questions) == (150, 150, 30)
    shares = dict(zip(map(tuple, found.pairs.tolist()), found.same.tolist(), strict=True))
    assert shares == pytest.approx({pair: count / 150 for pair, count in same.items()})
    undecided = sorted((pair for pair in shares if shares[pair] < 0.95), key=lambda pair: shares[pair])
    assert [tuple(found.pairs[i]) for i in found.undecided()] == undecided
    assert 0 < len(undecided) < 6  # else this shows nothing


def test_one_system_and_no_question_have_no_tau():
    for sums in (make_sums(1, 5), make_sums(2, 0), make_sums(0, 5)):
        found = bootstrap_order({"m": sums}, np.random.default_rng(1), 20)["m"]
        assert np.isnan([found.mean, found.low, found.high]).all()
        assert (found.defined, found.pairs.tolist()) == (0, [])
    assert bootstrap_order({}, np.random.default_rng(1)) == {}
    with pytest.raises(ValueError, match="at least one resample"):
        bootstrap_order({"m": make_sums(2, 3)}, np.random.default_rng(1), 0)


def test_a_tie_is_undecided_and_an_undefined_system_is_in_no_pair():
    tied = make_sums(3, 10)
    tied.sums[1] = tied.sums[0]
    found = bootstrap_order({"m": tied}, np.random.default_rng(1), 20)["m"]
    assert found.same[found.pairs.tolist().index([0, 1])] == 0
    # equal now, and apart in most resamples: there is no order that they could keep
    even = QuestionSums(np.array([[1.0, 0], [0, 1]]), np.ones(2, int), np.arange(2), "question", True)
    assert bootstrap_order({"m": even}, np.random.default_rng(1), 20)["m"].same.tolist() == [0.0]
    undefined = make_sums(3, 10)
    undefined.sums[1, 4] = np.nan
    found = bootstrap_order({"m": undefined}, np.random.default_rng(1), 20)["m"]
    assert found.pairs.tolist() in ([[0, 2]], [[2, 0]])


def test_questions_needed_grow_with_the_square_of_the_gap():
    gap, questions = np.array([0.4, np.nan, 0.2]), np.array([100.0, 150.0, 300.0])
    # 100 * 4^2 and 300 * 2^2
    assert questions_needed(gap, questions, 0.1) == pytest.approx((1200.0, 1200.0, 1600.0))
    # the last point is past it: the questions that it has are enough
    assert questions_needed(gap, questions, 0.2) == pytest.approx((300.0, 300.0, 400.0))
    assert questions_needed(gap, questions, 0.25) == pytest.approx((300.0, 256.0, 300.0))
    assert questions_needed(gap, questions, 0.5) == pytest.approx((300.0, 100.0, 300.0))


def test_without_a_last_gap_there_is_no_forecast_and_a_target_of_one_is_never_reached():
    assert questions_needed(np.array([0.4, np.nan]), np.array([1.0, 2.0]), 0.1) is None
    assert questions_needed(np.zeros(0), np.zeros(0), 0.1) is None
    assert questions_needed(np.array([0.4]), np.array([9.0]), 0.0) == (np.inf, np.inf, np.inf)
    assert questions_needed(np.array([0.0]), np.array([9.0]), 0.0) == (9.0, 9.0, 9.0)
