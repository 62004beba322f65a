"""Mean and standard deviation over seeds are those of the statistics module, family by family."""

from __future__ import annotations

from statistics import mean, stdev

import numpy as np
import pytest

from evaluation.statistics.seeds import spread_over_seeds

FAMILIES = [[3, 0, 4], [1], [5, 2]]


@pytest.mark.parametrize("shape", [(6,), (6, 2), (6, 2, 3)])
def test_spread_is_mean_and_sample_deviation_over_the_seeds(shape):
    values = np.random.default_rng(1).random(shape)
    found = spread_over_seeds(values, FAMILIES)
    assert found.mean.shape == found.sd.shape == (3, *shape[1:])
    assert found.seeds.tolist() == [3, 1, 2]
    for i, family in enumerate(FAMILIES):
        for at in np.ndindex(*shape[1:]):
            own = [float(values[(system, *at)]) for system in family]
            expected = (mean(own), stdev(own)) if len(own) > 1 else (np.nan, np.nan)
            assert (found.mean[(i, *at)], found.sd[(i, *at)]) == pytest.approx(expected, nan_ok=True)


def test_a_seed_without_a_value_leaves_the_family_without_spread():
    values = np.array([[1.0, 1.0], [2.0, np.nan], [4.0, 5.0]])
    found = spread_over_seeds(values, [[0, 1], [2]])
    assert found.mean.tolist()[0] == pytest.approx([1.5, np.nan], nan_ok=True)
    assert np.isnan(found.sd[0, 1]) and found.sd[0, 0] == pytest.approx(stdev([1.0, 2.0]))


def test_a_part_of_the_spread_is_that_of_the_part():
    values = np.random.default_rng(2).random((6, 4, 3))
    whole, part = spread_over_seeds(values, FAMILIES).at(2, 1), spread_over_seeds(values[:, 2, 1], FAMILIES)
    for one, other in zip(whole, part, strict=True):
        np.testing.assert_array_equal(one, other)
