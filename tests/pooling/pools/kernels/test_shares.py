"""Relation shares and their divergence, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pooling.pools.kernels.shares import divergence, shares


def test_shares_add_up_to_one():
    assert shares(np.array([1, 0, 3])).tolist() == [0.25, 0, 0.75]
    assert np.isnan(shares(np.array([0, 0]))).all()


def test_divergence_is_that_of_the_smoothed_shares():
    counts, reference = np.array([3, 0, 5, 0]), np.array([1, 7, 2, 0])
    p, q = np.array([3.5, 0.5, 5.5]), np.array([1.5, 7.5, 2.5])  # the last relation is in neither
    assert divergence(counts, reference) == pytest.approx(stats.entropy(p, q), rel=1e-12)
    assert divergence(counts, counts) == 0
    assert divergence(counts, reference, smoothing=0) == pytest.approx(stats.entropy([3, 0, 5], [1, 7, 2]), rel=1e-12)
    assert divergence(reference, counts, smoothing=0) == np.inf
    assert np.isnan(divergence(counts, np.zeros(4, int)))
