import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation.measures.values import Values
from evaluation.statistics.t_tests import PairPs, clustered_t_tests, paired_t_tests


def make_values(per_unit, question=None):
    n = per_unit.shape[1]
    question = np.arange(n) if question is None else question
    return Values(per_unit, "answer", question.astype(np.int32), None, True)


@given(seed=st.integers(0, 10**6), systems=st.integers(2, 6), n=st.integers(2, 40))
def test_paired_t_tests_equal_scipy(seed, systems, n):
    per_unit = np.random.default_rng(seed).random((systems, n))
    found = paired_t_tests(make_values(per_unit))
    assert found.n == n and found.clusters is None and found.p.size == systems * (systems - 1) // 2
    for a, b, t, p, difference in zip(found.first, found.second, found.t, found.p, found.difference, strict=True):
        expected = stats.ttest_rel(per_unit[a], per_unit[b])
        assert (t, p) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-10, rel=1e-9)
        assert difference == pytest.approx(per_unit[a].mean() - per_unit[b].mean())


@given(seed=st.integers(0, 10**6))
def test_clustered_t_test_equals_its_formula_and_the_plain_one_for_single_units(seed):
    rng = np.random.default_rng(seed)
    per_unit, question = rng.random((3, 30)), np.sort(rng.integers(0, 9, size=30))
    found = clustered_t_tests(make_values(per_unit, question))
    groups = np.unique(question)
    for a, b, t, p in zip(found.first, found.second, found.t, found.p, strict=True):
        d = per_unit[a] - per_unit[b]
        u = [sum(x - d.mean() for x in d[question == g]) for g in groups]
        error = np.sqrt(len(groups) / (len(groups) - 1) * sum(x * x for x in u)) / len(d)
        assert t == pytest.approx(d.mean() / error)
        assert p == pytest.approx(2 * stats.t.sf(abs(d.mean() / error), len(groups) - 1))
    assert (found.n, found.clusters) == (30, len(groups))
    single, plain = clustered_t_tests(make_values(per_unit)), paired_t_tests(make_values(per_unit))
    np.testing.assert_allclose(single.p, plain.p, rtol=1e-12)


def test_clustered_t_test_is_not_fooled_by_copies_of_a_question():
    per_unit = np.random.default_rng(0).random((2, 10))
    copied = make_values(np.repeat(per_unit, 5, axis=1), np.repeat(np.arange(10), 5))
    assert clustered_t_tests(copied).p == pytest.approx(paired_t_tests(make_values(per_unit)).p)
    assert paired_t_tests(copied).p < paired_t_tests(make_values(per_unit)).p


def test_systems_that_never_differ_have_p_one():
    found = paired_t_tests(make_values(np.tile(np.random.default_rng(0).random(8), (2, 1))))
    assert (found.t.tolist(), found.p.tolist()) == ([0.0], [1.0])


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_units_have_no_p(n):
    found = paired_t_tests(make_values(np.arange(2.0 * n).reshape(2, n)))
    assert np.isnan(found.p).all() and found.n == n
    assert found.descending().size == 0 and np.isnan(found.area()) and np.isnan(found.share_below())


def test_undefined_values_have_no_p_and_leave_the_curve():
    per_unit = np.random.default_rng(1).random((3, 9))
    per_unit[2, 4] = np.nan
    found = paired_t_tests(make_values(per_unit))
    assert np.isnan(found.p).tolist() == [False, True, True]
    assert found.descending().tolist() == [found.p[0]]


def test_curve_descends_and_its_area_is_the_mean_p():
    per_unit = np.random.default_rng(2).random((4, 30)) + np.array([0.0, 0.0, 0.2, 0.4])[:, None]
    found = paired_t_tests(make_values(per_unit))
    assert found.descending().tolist() == sorted(found.p.tolist(), reverse=True)
    assert found.area() == pytest.approx(found.p.mean())
    assert found.share_below(0.05) == sum(p < 0.05 for p in found.p) / 6


def pairs_with(p):
    p = np.array(p, dtype=float)
    return PairPs(np.zeros(p.size, dtype=np.intp), np.ones(p.size, dtype=np.intp), p, p)


def holm(p):
    """Step down: the i-th smallest of m times m - i + 1, never below the one before it, at most 1."""
    corrected, highest = [0.0] * len(p), 0.0
    for i, k in enumerate(sorted(range(len(p)), key=lambda k: p[k])):
        highest = max(highest, min(1.0, (len(p) - i) * p[k]))
        corrected[k] = highest
    return corrected


@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_corrections_equal_their_steps_and_scipys(p):
    for method, steps in (("holm", holm), ("fdr_bh", stats.false_discovery_control)):
        assert pairs_with(p).corrected(method).tolist() == pytest.approx(steps(p), abs=1e-12)


def test_undefined_p_values_are_neither_corrected_nor_counted():
    found = pairs_with([0.01, np.nan, 0.03, 0.04])
    assert found.corrected("holm") == pytest.approx([0.03, np.nan, 0.06, 0.06], nan_ok=True)
    assert found.corrected("fdr_bh") == pytest.approx([0.03, np.nan, 0.04, 0.04], nan_ok=True)
    assert found.share_below(0.05) == 1.0
    assert found.share_below(0.05, "holm") == pytest.approx(1 / 3)
    assert found.share_below(0.05, "fdr_bh") == 1.0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("p", [[], [np.nan, np.nan]])
def test_corrections_of_nothing_are_undefined(p):
    found = pairs_with(p)
    for method in ("holm", "fdr_bh"):
        assert np.isnan(found.corrected(method)).all() and found.corrected(method).size == len(p)
        assert np.isnan(found.share_below(0.05, method))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("tests", [paired_t_tests, clustered_t_tests])
@pytest.mark.parametrize(("systems", "units"), [(1, 5), (2, 0), (2, 1), (3, 6), (0, 0)])
def test_t_tests_of_little_data_give_no_warning(tests, systems, units):
    per_unit = np.tile(np.arange(float(units)), (systems, 1))
    per_unit[2:] = np.nan
    found = tests(make_values(per_unit))
    assert found.p.size == systems * (systems - 1) // 2
    tied = [1.0] if systems > 1 and units > 1 else [np.nan] * min(systems - 1, 1)  # the first two tie
    assert found.p[:1].tolist() == pytest.approx(tied, nan_ok=True)
    assert np.isnan(found.p[1:]).all()
