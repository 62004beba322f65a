import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation.kernels.correlation import bootstrap_tau, kendall_tau, merit, tau_of_means
from evaluation.kernels.values import Values

scores = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12)


@given(pairs=scores)
def test_tau_equals_scipy(pairs):
    one, other = np.array(pairs, dtype=float).T
    expected = stats.kendalltau(one, other).statistic
    assert tau_of_means(one, other) == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert tau_of_means(one, other, higher_is_better=False) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_tau_of_many_orders_at_once_equals_one_by_one():
    rng = np.random.default_rng(0)
    one, other = rng.integers(4, size=(7, 5)).astype(float), rng.random(5)
    assert kendall_tau(one, other).tolist() == [float(kendall_tau(row, other)) for row in one]


def test_tau_turns_a_measure_where_lower_is_better():
    mean_rank, mrr = np.array([3.0, 2.0, 1.0]), np.array([0.1, 0.2, 0.3])
    assert kendall_tau(merit(mean_rank, False), merit(mrr, True)) == 1.0


@pytest.mark.parametrize(
    ("one", "other"), [([1.0], [2.0]), ([], []), ([1.0, 1.0], [1.0, 2.0]), ([np.nan, 1], [1, 2])]
)
def test_tau_is_undefined_with_fewer_than_two_systems_or_all_tied(one, other):
    assert np.isnan(tau_of_means(np.array(one), np.array(other)))


def test_tau_leaves_out_a_system_that_has_no_mean():
    assert tau_of_means(np.array([1.0, np.nan, 2.0, 3.0]), np.array([1.0, 9.0, 2.0, 3.0])) == 1.0


@pytest.mark.parametrize("size", [1.0, 3000.0])
def test_tau_sees_no_order_in_summation_noise(size):
    noisy = size * (1 + np.array([0.0, 2e-16, -2e-16]))
    assert np.unique(merit(noisy, True)).size == 1
    assert np.unique(merit(size * (1 + np.array([0.0, 1e-9])), True)).size == 2


def random_values(rng, questions, skill):
    unit = np.sort(rng.choice(questions, size=3 * len(questions)))
    per_unit = rng.random((len(skill), unit.size)) * np.array(skill)[:, None]
    return Values(per_unit, "answer", unit.astype(np.int32), None, True)


def test_bootstrap_equals_resampling_whole_questions_by_hand():
    one = random_values(np.random.default_rng(1), np.arange(0, 12), [1.0, 1.1, 1.2, 0.9])
    other = random_values(np.random.default_rng(2), np.arange(6, 20), [1.0, 1.1, 1.2, 0.9])
    found = bootstrap_tau(one, other, np.random.default_rng(3), resamples=250)
    questions = np.union1d(one.unit_question, other.unit_question)
    rng, taus = np.random.default_rng(3), []
    for size in (100, 100, 50):
        for draw in questions[rng.integers(questions.size, size=(size, questions.size))]:
            means = []
            for values in (one, other):
                units = np.concatenate([np.flatnonzero(values.unit_question == q) for q in draw])
                means.append(values.per_unit[:, units].mean(axis=1))
            taus.append(stats.kendalltau(*means).statistic)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(taus, [0.025, 0.975])), abs=1e-12)
    assert found.tau == pytest.approx(stats.kendalltau(one.mean(), other.mean()).statistic)
    assert (found.resamples, found.defined, found.questions) == (250, 250, questions.size)


def test_bootstrap_of_one_system_is_undefined():
    one = random_values(np.random.default_rng(1), np.arange(5), [1.0])
    found = bootstrap_tau(one, one, np.random.default_rng(3), resamples=10)
    assert np.isnan([found.tau, found.low, found.high]).all() and found.defined == 0
