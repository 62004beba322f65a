"""Intervals of totals by the textbook, of imputed values by their spread."""

import numpy as np
import pytest
from scipy.stats import t

from evaluation.estimates.kernels.intervals import of_imputed, of_total, without
from evaluation.estimates.kernels.weights import CERTAIN, Sample


def test_interval_of_a_total_is_that_of_a_stratified_sample():
    """Sum over strata of N^2 (1 - n/N) s^2 / n, without the stratum that is all drawn and without what is certain."""
    rng = np.random.default_rng(4)
    stratum = np.repeat([0, 1, 2, CERTAIN], [30, 20, 4, 5])
    drawn = np.zeros(59, dtype=bool)
    drawn[rng.choice(30, 10, replace=False)] = True
    drawn[30 + rng.choice(20, 8, replace=False)] = drawn[50:54] = True
    positive = (rng.random(59) < 0.5) & (drawn | (stratum == CERTAIN))
    size = rng.integers(0, 3, 59).astype(float)
    variance = sum(
        of**2 * (1 - n / of) * (positive * size)[drawn & (stratum == h)].var(ddof=1) / n
        for h, (of, n) in enumerate([(30, 10), (20, 8)])
    )
    found = of_total(np.array([17.0]), Sample(stratum, drawn, positive), size)
    half = t.ppf(0.975, 16) * np.sqrt(variance)
    assert (found.value, found.low, found.high) == pytest.approx((17.0, 17.0 - half, 17.0 + half))


def test_everything_drawn_has_no_spread_and_one_drawn_triple_no_known_one():
    stratum, value = np.zeros(4, dtype=int), np.array([2.0])
    everything = Sample(stratum, np.ones(4, dtype=bool), np.array([True, False, True, False]))
    found = of_total(value, everything, np.ones(4))
    assert found.low == found.value == found.high == [2.0]
    drawn = np.array([True, False, False, False])
    found = of_total(value, Sample(stratum, drawn, drawn), np.ones(4))
    assert found.value == [2.0] and np.isnan(found.low) and np.isnan(found.high)


def test_interval_of_imputed_values_has_their_mean_and_spread():
    values = [{"a": np.array([1.0, 4.0])}, {"a": np.array([2.0, 4.0])}, {"a": np.array([6.0, 4.0])}]
    found, wider = of_imputed(values, {})["a"], of_imputed(values, {"a": 1.5, "b": 9.0})["a"]
    half = t.ppf(0.975, 2) * np.std([1, 2, 6], ddof=1)
    assert found.value.tolist() == [3.0, 4.0]
    assert found.low == pytest.approx([3.0 - half, 4.0]) and found.high == pytest.approx([3.0 + half, 4.0])
    assert wider.value.tolist() == [3.0, 4.0] and wider.high == pytest.approx([3.0 + 1.5 * half, 4.0])
    single = of_imputed(values[:1], {})["a"]
    assert single.low.tolist() == single.value.tolist() == single.high.tolist() == [1.0, 4.0]


def test_without_an_interval_only_the_value_is_there():
    found = without(np.array([0.5, 0.25]))
    assert found.value.tolist() == [0.5, 0.25] and np.isnan(found.low).all() and np.isnan(found.high).all()
