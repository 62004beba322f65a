"""Relation shares and their divergence, against SciPy and the paper's figures."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings
from scipy import stats

from pooling.pools.files import read_tsv
from pooling.pools.kernels.shares import divergence, shares


def test_shares_add_up_to_one():
    assert shares(np.array([1, 0, 3])).tolist() == [0.25, 0, 0.75]
    assert np.isnan(shares(np.array([0, 0]))).all()


def test_divergence_is_that_of_the_smoothed_shares():
    counts, reference = np.array([3, 0, 5, 0]), np.array([1, 7, 2, 0])
    p, q = np.array([4, 1, 6, 1]), np.array([2, 8, 3, 1])  # the last relation is in neither, and counts
    assert divergence(counts, reference) == pytest.approx(stats.entropy(p, q), rel=1e-12)
    assert divergence(counts, counts) == 0
    assert divergence(counts, reference, smoothing=0.5) == pytest.approx(stats.entropy(p - 0.5, q - 0.5), rel=1e-12)
    assert divergence(counts, reference, smoothing=0) == pytest.approx(stats.entropy([3, 0, 5], [1, 7, 2]), rel=1e-12)
    assert divergence(reference, counts, smoothing=0) == np.inf
    assert np.isnan(divergence(counts, np.zeros(4, int)))


@pytest.mark.data
def test_divergences_of_the_published_test_sets_are_those_that_the_paper_prints():
    """Zhou et al. (2022) print D(test ‖ sample), D(all ‖ test) and D(test ‖ completed sample)."""
    data = Path(settings.DATA_ROOT)

    def relations(file: str, verdict: str = "") -> Counter[str]:
        lines = (fields for _, fields in read_tsv(data / file))
        return Counter(fields[1] for fields in lines if not verdict or fields[3].strip() == verdict)

    test, seeds = relations("fb15k-237/test.tsv.gz"), relations("fb-test-s/seed_triples.tsv")
    every = test + relations("fb15k-237/train.tsv.gz") + relations("fb15k-237/valid.tsv.gz")
    completed = seeds + relations("fb-test-s/human_labels.tsv.gz", "Y")
    assert len(every) == 237

    def nats(p: Counter[str], q: Counter[str]) -> float:
        return divergence(*(np.array([of[r] for r in every]) for of in (p, q)))

    found = nats(test, seeds), nats(every, test), nats(test, completed)
    assert found == pytest.approx((0.0889, 0.2789, 0.2386), abs=1e-3)
