import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.statistics.correlation import rank_biased_overlap

scores = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=10)


def first(merits, depth):
    """Systems whose rank, the first of their tie, is at most the depth."""
    return {i for i, m in enumerate(merits) if 1 + sum(other > m for other in merits) <= depth}


def literal(one, other, p):
    agreements = []
    for depth in range(1, len(one) + 1):
        a, b = first(one, depth), first(other, depth)
        agreements.append(2 * len(a & b) / (len(a) + len(b)))
    weighted = sum(p**d * agreement for d, agreement in enumerate(agreements, start=1))
    return (1 - p) / p * weighted + p ** len(one) * agreements[-1]


@given(pairs=scores, p=st.sampled_from([0.3, 0.9]))
def test_rbo_equals_its_definition_on_sets(pairs, p):
    one, other = np.array(pairs, dtype=float).T
    assert float(rank_biased_overlap(one, other, p)) == pytest.approx(literal(one, other, p), abs=1e-12)


def test_rbo_of_a_reversed_pair_by_hand():
    # A_1 = 0, A_2 = 1: (1 - p) * p + p^2 = p
    assert rank_biased_overlap(np.array([2.0, 1.0]), np.array([1.0, 2.0]), 0.6) == pytest.approx(0.6)


def test_rbo_is_symmetric_and_prefers_agreement_at_the_top():
    order = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    top, end = order[[1, 0, 2, 3, 4]], order[[0, 1, 2, 4, 3]]
    assert rank_biased_overlap(order, end) > rank_biased_overlap(order, top)
    assert rank_biased_overlap(order, top) == rank_biased_overlap(top, order)


def test_rbo_of_a_side_that_ties_all_is_defined():
    tied, order = np.zeros(3), np.array([3.0, 2.0, 1.0])
    assert rank_biased_overlap(tied, tied) == pytest.approx(1.0)
    # agreements 2*1/(3+1), 2*2/(3+2), 1
    expected = 0.1 * (0.5 + 0.9 * 0.8 + 0.81) + 0.729
    assert rank_biased_overlap(tied, order) == pytest.approx(expected)


@pytest.mark.parametrize("persistence", [0.0, 1.0, -0.5, np.nan])
def test_rbo_refuses_a_persistence_outside_its_range(persistence):
    with pytest.raises(ValueError, match="between 0 and 1"):
        rank_biased_overlap(np.arange(3.0), np.arange(3.0), persistence)
