"""Max-k against its definitions read literally, and its identities as properties."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.max_k.kernel import (
    expected_recall,
    expected_sampling_recall,
    first_drawn,
    greedy_size,
    greedy_sizes_by_k,
    of_draws,
    of_first,
    oracle_limits,
    total_mass,
)

KS = np.arange(1, 101)


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def softmax(scores: np.ndarray, alpha: float = 1.0) -> np.ndarray:
    """Descending probabilities of some scores."""
    shifted = np.exp(alpha * (scores - scores.max()))
    return np.sort(shifted / shifted.sum())[::-1]


def literal_greedy(p: list[float], k: int) -> tuple[int, bool]:
    """Size by the words of the paper, in exact arithmetic; and whether the integer was a near thing."""
    k_hat = 0
    for i, probability in enumerate(p, 1):
        if probability >= 1 / k:
            k_hat = i
    rest = k * (1 - sum(map(Fraction, p[:k_hat])))
    doubtful = abs(rest - math.floor(rest) - Fraction(1, 2)) < Fraction(1, 10**9)
    return k_hat + round(rest), doubtful


distributions = st.builds(
    lambda seed, n, alpha: softmax(np.random.default_rng(seed).normal(size=n), alpha),
    st.integers(0, 10**6),
    st.integers(1, 150),
    st.sampled_from([0.2, 1.0, 5.0, 50.0, 1000.0]),
)


# -- greedy -----------------------------------------------------------------------------------------------------


@given(distributions, st.integers(1, 200))
def test_greedy_is_what_the_paper_says_and_never_more_than_k_or_all(p, k):
    expected, doubtful = literal_greedy(p.tolist(), k)
    size = greedy_size(p, k)
    assert size == expected or (doubtful and abs(size - expected) == 1)
    assert 1 <= size <= min(k, len(p))


@given(st.lists(distributions, min_size=1, max_size=5))
def test_greedy_of_every_k_at_once(lists):
    p = np.zeros((len(lists), max(map(len, lists))))
    for row, one in zip(p, lists, strict=True):
        row[: len(one)] = one
    ks = np.concatenate([[7, 3], KS])  # in any order, and twice
    expected = [[greedy_size(row, int(k)) for k in ks] for row in p]
    found = greedy_sizes_by_k(p, ks)
    near = [[literal_greedy(row.tolist(), int(k))[1] for k in ks] for row in p]
    assert (np.abs(found - expected) <= np.where(near, 1, 0)).all()


@pytest.mark.parametrize(
    ("p", "k", "size"),
    [
        ([1 / 10] * 10 + [0.0] * 40, 20, 10),  # the left toy of the paper: ten entities have everything
        ([1 / 40] * 40 + [0.0] * 10, 20, 20),  # the right one: nothing dominates, so as many as are allowed
        ([0.9, 0.05, 0.05], 1, 1),  # below 1/k: k of them
        ([1.0], 100, 1),
        ([1.0, 0.0, 0.0], 2, 1),
        ([0.5, 0.5], 2, 2),
        ([0.75, 0.25], 2, 1),  # a half goes to the even integer
        ([0.25] * 4, 6, 4),
    ],
)
def test_greedy_examples(p, k, size):
    assert greedy_size(p, k) == size
    assert greedy_sizes_by_k(np.array([p]), [k])[0, 0] == size


@pytest.mark.parametrize(
    ("p", "k", "words"),
    [
        ([0.2, 0.8], 2, "descending"),
        ([1.2, -0.2], 2, "outside 0 to 1"),
        ([float("nan")], 2, "outside 0 to 1"),
        ([1.0], 0, "k = 0"),
    ],
)
def test_greedy_refuses_what_is_no_distribution(p, k, words):
    with pytest.raises(ValueError, match=words):
        greedy_size(p, k)


# -- sampling ---------------------------------------------------------------------------------------------------


@given(distributions, st.integers(1, 100), st.integers(0, 10**6))
def test_expected_recall_is_the_mean_over_the_answers(p, k, seed):
    answers = np.random.default_rng(seed).permutation(p)[: max(1, len(p) // 3)]
    literal = sum(1 - (1 - x) ** k for x in answers.tolist()) / len(answers)
    assert expected_sampling_recall(answers, k) == pytest.approx(literal, abs=1e-12)
    assert expected_sampling_recall(answers, KS)[k - 1] == pytest.approx(literal, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_with_the_oracle_sampling_is_below_the_limit_unless_k_or_n_is_1(n):
    """Theorem 1 of the paper holds for large k only: spec metrics §5."""
    recall = expected_sampling_recall(np.full(n, 1 / n), KS)
    limit = oracle_limits(n, KS)[1].recall
    assert recall == pytest.approx(1 - (1 - 1 / n) ** KS, abs=1e-12)
    below = recall < limit - 1e-12
    # so near to 1 that the difference is no longer seen: k far above n
    assert (below == ((KS > 1) & (n > 1) & ((1 - 1 / n) ** KS > 1e-12))).all()


def test_with_the_oracle_every_draw_is_right():
    rng = np.random.default_rng(3)
    draws = rng.integers(0, 6, size=(40, 100))  # six answers with equal probabilities
    found = of_draws(np.ones(draws.shape, bool), first_drawn(draws), KS, np.full(40, 6))
    assert (found.precision == 1).all()
    assert found.recall[:, 0] == pytest.approx(1 / 6)


def test_draws_have_the_expected_recall_within_three_standard_errors():
    rng = np.random.default_rng(11)
    repeats = 4000
    p = softmax(rng.normal(size=30), 1.5)
    right = rng.permutation(30) < 5
    draws = rng.choice(30, size=(repeats, 100), p=p)
    found = of_draws(right[draws], first_drawn(draws), KS, np.full(repeats, right.sum()))
    expected = expected_sampling_recall(p[right], KS)
    error = np.maximum(found.recall.std(axis=0, ddof=1) / np.sqrt(repeats), 1e-9)
    off = np.abs(found.recall.mean(axis=0) - expected) / error
    assert off[[0, 1, 4, 9, 19, 49, 99]].max() < 3


def test_a_draw_that_comes_again_counts_once():
    draws = np.array([[4, 4, 2, 4, 2, 7]])
    assert first_drawn(draws).tolist() == [[True, False, True, False, False, True]]
    found = of_draws(draws == 4, first_drawn(draws), np.array([1, 2, 3, 6]), np.array([2]))
    assert found.precision.tolist() == [[1, 1, 1 / 2, 1 / 3]]
    assert found.recall.tolist() == [[0.5] * 4]
    assert found.f1[0] == pytest.approx([2 / 3, 2 / 3, 1 / 2, 2 / 5])


@given(st.lists(distributions, min_size=1, max_size=4))
def test_expected_recall_and_mass_of_many_questions(lists):
    p, start = np.concatenate(lists), np.cumsum([0, *map(len, lists)])[:-1]
    ks = np.array([1, 2, 10, 100])
    found = expected_recall(p, start, ks)
    for row, one in zip(found, lists, strict=True):
        assert row == pytest.approx(expected_sampling_recall(one, ks), abs=1e-12)
    assert total_mass(p, start) == pytest.approx([one.sum() for one in lists])
    assert total_mass(p, start).max() <= 1


def test_no_question_has_no_values():
    nothing, none = np.zeros(0), np.zeros(0, dtype=np.int64)
    assert expected_recall(nothing, none, KS).shape == (0, 100)
    assert total_mass(nothing, none).shape == (0,)
    assert greedy_sizes_by_k(np.zeros((0, 100)), KS).shape == (0, 100)
    assert of_first(np.zeros((0, 3), bool), np.zeros((0, 2), np.int64), none).f1.shape == (0, 2)


@pytest.mark.parametrize(
    ("answers", "k", "words"),
    [([], 3, "without an answer"), ([0.5], 0, "k is below 1"), ([1.5], 3, "outside 0 to 1"), ([-0.1], 3, "outside")],
)  # fmt: skip
def test_expected_recall_refuses(answers, k, words):
    with pytest.raises(ValueError, match=words):
        expected_sampling_recall(answers, k)


def test_a_saturated_softmax_has_a_defined_recall():
    assert expected_sampling_recall([1.0, 0.0], 5) == 0.5
    assert expected_sampling_recall([1.0 + 1e-12], KS) == pytest.approx(np.ones(100))
    assert expected_sampling_recall([1e-300], 100) == pytest.approx(1e-298)
    assert expected_recall(np.array([1.0, 0.0]), np.array([0]), KS).tolist() == [[0.5] * 100]


# -- limits -----------------------------------------------------------------------------------------------------


def best_of_sets(n: int, size: int) -> tuple[float, float, float]:
    """P, R and F1 of a set of this size with as many of n answers as it can hold."""
    hits = min(n, size)
    p, r = hits / size, hits / n
    return p, r, 2 * p * r / (p + r)


@given(st.integers(1, 300), st.integers(1, 300))
def test_limits_are_those_of_who_knows_the_answers(n, k):
    top, most = oracle_limits(n, k)
    assert tuple(top) == pytest.approx(best_of_sets(n, k))
    assert tuple(most) == pytest.approx(best_of_sets(n, min(n, k)))
    assert all(isinstance(value, float) for value in (*top, *most))
    assert (top.recall, most.precision) == (most.recall, 1.0) and most.f1 >= top.f1


def test_limits_of_many():
    top, most = oracle_limits(np.array([[1], [5]]), KS)
    for row, n in enumerate((1, 5)):
        for k in (1, 5, 100):
            one_top, one_most = oracle_limits(n, k)
            assert [part[row, k - 1] for part in top] == pytest.approx(list(one_top))
            assert [part[row, k - 1] for part in most] == pytest.approx(list(one_most))


@pytest.mark.parametrize(("n", "k"), [(0, 3), (3, 0), (np.array([2, 0]), 3)])
def test_limits_need_an_answer_and_a_k(n, k):
    with pytest.raises(ValueError, match="below 1"):
        oracle_limits(n, k)


# -- lists ------------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 12))
def test_lists_are_worth_what_counting_says(seed, m, n):
    rng = np.random.default_rng(seed)
    hits = rng.random((6, m)) < 0.4
    answers = np.maximum(hits.sum(axis=1), rng.integers(1, n + 1, size=6))
    sizes = rng.integers(1, m + 1, size=(6, 3))
    found = of_first(hits, sizes, answers)
    for q in range(6):
        for j in range(3):
            right = int(hits[q, : sizes[q, j]].sum())
            p, r = right / sizes[q, j], right / answers[q]
            assert found.precision[q, j] == pytest.approx(p)
            assert found.recall[q, j] == pytest.approx(r)
            assert found.f1[q, j] == pytest.approx(2 * p * r / (p + r) if right else 0)


def test_an_empty_set_has_precision_0_and_a_short_list_is_refused():
    hits = np.array([[True, False]])
    assert of_first(hits, np.array([[0]]), np.array([1])) == (0, 0, 0)
    with pytest.raises(ValueError, match="3 entities were asked for, and the lists hold 2"):
        of_first(hits, np.array([[3]]), np.array([1]))
