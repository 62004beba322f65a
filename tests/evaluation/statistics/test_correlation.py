import warnings
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import triplepool
from evaluation.statistics.correlation import CORRELATIONS, kendall_tau, merit, spearman, tau_ap, tau_ap_a, tau_of_means

scores = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12)


@given(pairs=scores)
def test_tau_equals_scipy(pairs):
    one, other = np.array(pairs, dtype=float).T
    expected = stats.kendalltau(one, other).statistic
    assert tau_of_means(one, other) == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert tau_of_means(one, other, higher_is_better=False) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", CORRELATIONS)
def test_correlation_of_many_orders_at_once_equals_one_by_one(name):
    rng, compute = np.random.default_rng(0), CORRELATIONS[name].compute
    one, other = rng.integers(4, size=(7, 3, 5)).astype(float), rng.random((3, 5))
    one[2, 1, 4] = np.nan
    expected = [[float(compute(row, there)) for row, there in zip(rows, other, strict=True)] for rows in one]
    assert compute(one, other).tolist() == expected


def test_tau_turns_a_measure_where_lower_is_better():
    mean_rank, mrr = np.array([3.0, 2.0, 1.0]), np.array([0.1, 0.2, 0.3])
    assert kendall_tau(merit(mean_rank, False), merit(mrr, True)) == 1.0


@given(pairs=scores)
def test_spearman_equals_scipy(pairs):
    one, other = np.array(pairs, dtype=float).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.ConstantInputWarning)
        expected = stats.spearmanr(one, other).statistic
    assert float(spearman(one, other)) == pytest.approx(expected, abs=1e-12, nan_ok=True)


# the examples of Urbano and Marrero's package ircor: x without ties, and both rounded to one digit
PUBLISHED = [
    ([0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
     [0.9, 0.4, 0.9, 0.9, 0.7, 0.1, 0.2, 0.4, 0.5, 1], [0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1],
     0.7454, 0.7321),
    ([0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
     [0.3, 0.6, 0.2, 0.9, 0.6, 0.2, 0.7, 0.8, 0.7, 0.4], [0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1, 0.6],
     0.2692, 0.297),
    ([0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
     [0.2, 0.6, 0.9, 0.1, 0.5, 0.6, 0.8, 0.4, 1, 0.4], [0.8, 0.3, 0.3, 0.9, 0.6, 0.3, 0.2, 0.9, 0, 0.2],
     -0.5558, -0.7047),
]  # fmt: skip


@pytest.mark.parametrize(("truth", "one", "other", "accuracy", "agreement"), PUBLISHED)
def test_tau_ap_equals_the_published_examples_with_ties(truth, one, other, accuracy, agreement):
    assert (triplepool.tau_ap, triplepool.tau_ap_a) == (tau_ap, tau_ap_a)  # the library gives the same
    assert round(float(tau_ap_a(np.array(truth), np.array(other))), 4) == accuracy
    assert round(float(tau_ap(np.array(one), np.array(other))), 4) == agreement
    assert float(tau_ap(np.array(other), np.array(one))) == float(tau_ap(np.array(one), np.array(other)))


def tau_ap_without_ties(truth, order):
    """Yilmaz et al. of systems in `order`, best first: 2 / (n - 1) * sum of C(i) / (i - 1), less 1."""
    shares = [sum(truth[j] > truth[i] for j in order[:at]) / at for at, i in enumerate(order) if at]
    return 2 * sum(shares) / (len(order) - 1) - 1


@given(scores=st.lists(st.integers(0, 2), min_size=2, max_size=6), seed=st.integers(0, 100))
def test_tau_ap_a_is_the_mean_over_every_way_to_order_the_ties(scores, seed):
    truth = np.random.default_rng(seed).permutation(len(scores)).astype(float)
    orders = [o for o in permutations(range(len(scores))) if sorted(o, key=lambda i: -scores[i]) == list(o)]
    expected = np.mean([tau_ap_without_ties(truth, order) for order in orders])
    assert float(tau_ap_a(truth, np.array(scores, dtype=float))) == pytest.approx(expected, abs=1e-12)


def test_tau_ap_a_leaves_out_the_undefined_and_has_no_value_where_the_truth_ties():
    truth, estimate = np.array([3.0, np.nan, 2.0, 1.0, 5.0]), np.array([1.0, 9.0, 1.0, 0.0, np.nan])
    kept = [0, 2, 3]
    assert float(tau_ap_a(truth, estimate)) == float(tau_ap_a(truth[kept], estimate[kept])) == 0.5
    assert np.isnan(tau_ap_a(np.array([1.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])))
    assert np.isnan(tau_ap_a(np.array([1.0]), np.array([1.0])))


def tau_ap_one_way(one, other):
    """The docstring read literally, system by system; None where every system is in the first tie."""
    shares = []
    for i in range(len(one)):
        above = [j for j in range(len(one)) if one[j] > one[i]]
        if above:
            shares.append(sum(other[j] > other[i] for j in above) / len(above))
    return 2 * sum(shares) / len(shares) - 1 if shares else None


@given(pairs=scores)
def test_tau_ap_equals_its_definition_with_ties(pairs):
    one, other = np.array(pairs, dtype=float).T
    directions = [tau_ap_one_way(one, other), tau_ap_one_way(other, one)]
    expected = np.nan if None in directions else sum(directions) / 2
    assert float(tau_ap(one, other)) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(order=st.permutations(range(7)))
def test_tau_ap_without_ties_equals_the_published_formula_in_both_directions(order):
    """Yilmaz et al.: 2 / (n - 1) * sum over i = 2 … n of C(i) / (i - 1), less 1; C(i) of those above are right."""

    def published(ranked, actual):  # systems best first, and the actual order
        n, total = len(ranked), 0.0
        for i in range(1, n):
            total += sum(actual.index(s) < actual.index(ranked[i]) for s in ranked[:i]) / i
        return 2 / (n - 1) * total - 1

    first, second = list(range(7)), list(order)
    merits = [[-ranked.index(s) for s in range(7)] for ranked in (first, second)]
    expected = (published(first, second) + published(second, first)) / 2
    assert float(tau_ap(*np.array(merits, dtype=float))) == pytest.approx(expected, abs=1e-12)


def test_tau_ap_weighs_a_swap_at_the_top_more_than_tau_does():
    order = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    top, end = order[[1, 0, 2, 3, 4]], order[[0, 1, 2, 4, 3]]
    assert kendall_tau(order, top) == kendall_tau(order, end) == pytest.approx(0.8)
    # only the system that lost its place has something wrong above it: all of 1, or 1 of 4
    assert tau_ap(order, top) == pytest.approx((-1 + 3) / 4)
    assert tau_ap(order, end) == pytest.approx((3 + 2 / 4) / 4)


@pytest.mark.parametrize("name", CORRELATIONS)
@pytest.mark.parametrize(("one", "other"), [([1.0], [2.0]), ([], []), ([np.nan, 1], [1, 2])])
def test_correlation_is_undefined_with_fewer_than_two_systems(name, one, other):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert np.isnan(CORRELATIONS[name].compute(np.array(one), np.array(other)))


@pytest.mark.parametrize("name", ["tau_b", "tau_ap", "spearman"])
def test_correlation_is_undefined_if_one_side_ties_all(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for one, other in (([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]), ([1.0, 2.0], [5.0, 5.0])):
            assert np.isnan(CORRELATIONS[name].compute(np.array(one), np.array(other)))


@pytest.mark.parametrize("name", CORRELATIONS)
def test_correlation_leaves_out_a_system_that_has_no_mean(name):
    rng, compute = np.random.default_rng(4), CORRELATIONS[name].compute
    one, other = rng.integers(4, size=(2, 7)).astype(float)
    one[2], other[5] = np.nan, np.nan
    kept = [0, 1, 3, 4, 6]
    assert float(compute(one, other)) == float(compute(one[kept], other[kept]))


@pytest.mark.parametrize("name", CORRELATIONS)
def test_correlation_is_one_of_equal_and_lowest_of_reversed_orders(name):
    entry, order = CORRELATIONS[name], np.array([3.0, 1.0, 1.0, 2.0, 0.0])
    assert entry.compute(order, 10 * order) == pytest.approx(entry.high)
    # five systems of which the first d have nothing in common until d = 3 keep RBO at 0.757 with p = 0.9
    agreements = [0.0, 0.0, 2 * 2 / (4 + 3), 2 * 3 / (4 + 4), 1.0]
    overlap = 0.1 * sum(0.9**d * agreement for d, agreement in enumerate(agreements)) + 0.9**5
    lowest = overlap if name == "rbo" else entry.low
    assert entry.compute(order, -order) == pytest.approx(lowest)


@pytest.mark.parametrize("size", [1.0, 3000.0])
def test_tau_sees_no_order_in_summation_noise(size):
    noisy = size * (1 + np.array([0.0, 2e-16, -2e-16]))
    assert np.unique(merit(noisy, True)).size == 1
    assert np.unique(merit(size * (1 + np.array([0.0, 1e-9])), True)).size == 2
