import itertools

import numpy as np
import pytest

from evaluation.measures.question_sums import QuestionSums
from evaluation.measures.values import Values
from evaluation.statistics import tukey_hsd
from evaluation.statistics.t_tests import paired_t_tests
from evaluation.statistics.tukey_hsd import randomised_tukey


def make_sums(sums, counts=None, finish=None):
    questions = sums.shape[1]
    counts = np.ones(questions, dtype=np.int64) if counts is None else counts
    return QuestionSums(sums, counts, np.arange(questions), "question", True, finish)


def test_tukey_equals_loops_over_the_same_permutations(monkeypatch):
    monkeypatch.setattr(tukey_hsd, "MAX_CHUNK", 40)
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 4, size=9)
    sums = rng.integers(0, 3, size=(4, 9)) * 0.1 * counts + np.array([0, 0, 0.1, 0.4])[:, None]
    sums[:, 5] = 0.7  # all equal: it needs no permutation
    found = randomised_tukey(make_sums(sums, counts), np.random.default_rng(3), permutations=100)
    moved, units = [q for q in range(9) if q != 5], counts.sum()
    largest = []
    for size, own in zip((40, 40, 20), np.random.default_rng(3).spawn(3), strict=True):
        block = np.repeat(sums[:, moved].T[None], size, axis=0)
        own.permuted(block, axis=2, out=block)
        for permuted in block:
            means = [sum([*permuted[:, s], 0.7]) / units for s in range(4)]
            largest.append(max(means) - min(means))
    for a, b, difference, p in zip(found.first, found.second, found.difference, found.p, strict=True):
        observed = sum(sums[a]) / units - sum(sums[b]) / units
        assert difference == pytest.approx(observed)
        reached = sum(one > abs(observed) - 1e-9 for one in largest)
        assert p == (1 + reached) / 101
    assert (found.permutations, found.questions, found.left_out.tolist()) == (100, 9, [])
    assert len(set(found.p)) > 3


def test_tukey_of_two_systems_tends_to_the_exact_permutation_test():
    differences = np.array([0.3, -0.1, 0.25, 0.4, -0.05, 0.2])
    found = randomised_tukey(make_sums(np.array([differences, np.zeros(6)])), np.random.default_rng(0), 40_000)
    signs = itertools.product((-1, 1), repeat=6)
    exact = np.mean([abs(np.dot(sign, differences)) > differences.sum() - 1e-9 for sign in signs])
    assert found.p[0] == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 40_000))


def test_tukey_permutes_each_question_on_its_own():
    # the best of three systems in both questions: chance puts both on one system in a third of all cases
    sums = np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    found = randomised_tukey(make_sums(sums), np.random.default_rng(0), 30_000)
    assert found.p.tolist() == pytest.approx([1 / 3, 1 / 3, 1.0], abs=0.011)


def test_tukey_holds_the_family_wise_error_that_single_t_tests_do_not():
    rng = np.random.default_rng(1)
    rejected, single = 0, 0
    for _ in range(150):
        sums = rng.random((6, 25))
        rejected += bool((randomised_tukey(make_sums(sums), rng, 200, threads=1).p < 0.05).any())
        units = Values(sums, "question", np.arange(25, dtype=np.int32), None, True)
        single += bool((paired_t_tests(units).p < 0.05).any())
    assert rejected <= 0.05 * 150 + 3 * np.sqrt(0.05 * 0.95 * 150) < single


def test_tukey_is_the_same_for_any_number_of_threads_and_orders_p_by_difference():
    sums = make_sums(np.random.default_rng(2).random((5, 40)) + np.array([0, 0, 0.1, 0.2, 0.5])[:, None])
    found = [randomised_tukey(sums, np.random.default_rng(7), 2000, threads=threads) for threads in (1, 4)]
    assert found[0].p.tolist() == found[1].p.tolist()
    order = np.argsort(-np.abs(found[0].difference))
    assert (np.diff(found[0].p[order]) >= 0).all()
    assert found[0].p.min() == 1 / 2001  # the observed order counts as one permutation
    again = randomised_tukey(sums, np.random.default_rng(8), 2000)
    assert again.p.tolist() != found[0].p.tolist()


def test_tukey_counts_what_only_rounding_keeps_from_the_observed():
    # one system is better everywhere: of 32 permutations the observed one and its mirror reach it, exactly
    rng = np.random.default_rng(0)
    for _ in range(20):
        worse = rng.random(5) * 3
        found = randomised_tukey(make_sums(np.array([worse + rng.random(5), worse])), rng, 2000)
        assert found.p[0] == pytest.approx(2 / 32, abs=0.025)


def test_tukey_leaves_out_an_undefined_system():
    sums = np.random.default_rng(2).random((4, 12))
    holed = np.insert(sums, 2, np.nan, axis=0)
    holed[2, 1:] = 5.0
    found = randomised_tukey(make_sums(holed), np.random.default_rng(0), 300)
    expected = randomised_tukey(make_sums(sums), np.random.default_rng(0), 300)
    kept = (found.first != 2) & (found.second != 2)
    assert found.p[kept].tolist() == expected.p.tolist() and np.isnan(found.p[~kept]).all()
    assert found.left_out.tolist() == [2]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("sums", "p"),
    [
        (np.zeros((1, 5)), []),
        (np.zeros((0, 0)), []),
        (np.zeros((2, 0)), [np.nan]),
        (np.tile(np.arange(5.0), (2, 1)), [1.0]),
        (np.array([[1.0], [2.0]]), [1.0]),
        (np.array([[1.0, np.nan], [2.0, 3.0]]), [np.nan]),
        (np.full((2, 3), np.nan), [np.nan]),
    ],
    ids=["one system", "no system", "no question", "all tied", "one question", "one left", "none left"],
)
def test_tukey_of_little_data_is_defined_or_nan(sums, p):
    found = randomised_tukey(make_sums(sums), np.random.default_rng(0), 50)
    assert found.p.tolist() == pytest.approx(p, nan_ok=True)
    assert found.corrected("holm").size == len(p)
