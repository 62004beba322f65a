"""Samples of seeds: sizes, shares and repeatability, against quotas counted one by one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.pools.kernels.seeds import allocate, sample_seeds, strata

sizes_and_count = st.lists(st.integers(0, 30), min_size=1, max_size=12).flatmap(
    lambda sizes: st.tuples(st.just(sizes), st.integers(0, sum(sizes)))
)


def literal_quotas(sizes: list[int], count: int) -> list[int]:
    """Largest remainder in exact fractions, one place at a time; of equal remainders the first stratum."""
    total = sum(sizes)
    exact = [Fraction(size * count, total) if total else Fraction(0) for size in sizes]
    quotas = [int(share) for share in exact]
    for _ in range(count - sum(quotas)):
        most = max(range(len(sizes)), key=lambda h: (exact[h] - quotas[h], -h))
        quotas[most] += 1
    return quotas


@given(sizes_and_count)
def test_quotas_add_up_overdraw_nothing_and_are_within_one_of_the_exact_share(drawn):
    sizes, count = drawn
    quotas = allocate(np.array(sizes), count).tolist()
    assert quotas == literal_quotas(sizes, count)
    assert sum(quotas) == count
    for size, quota in zip(sizes, quotas, strict=True):
        assert quota <= size
        assert sum(sizes) == 0 or abs(Fraction(size * count, sum(sizes)) - quota) < 1


def test_equal_remainders_go_to_the_first_strata():
    assert allocate(np.array([3, 3, 3, 3]), 6).tolist() == [2, 2, 1, 1]
    assert allocate(np.array([7, 2, 1]), 5).tolist() == [4, 1, 0]  # 3.5, 1, 0.5


@pytest.mark.parametrize("count", [-1, 6])
def test_more_than_there_are_cannot_be_drawn(count: int):
    with pytest.raises(ValueError, match=f"^{count} of 5 cannot be drawn$"):
        allocate(np.array([2, 3]), count)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.data())
def test_a_sample_has_the_quota_of_each_stratum_and_no_place_twice(stratum, data):
    stratum = np.array(stratum)
    count = data.draw(st.integers(1, len(stratum)))
    places = sample_seeds(stratum, count, np.random.default_rng(3))
    assert sorted(set(places.tolist())) == places.tolist()
    names, sizes = np.unique(stratum, return_counts=True)
    drawn = [int((stratum[places] == name).sum()) for name in names]
    assert drawn == literal_quotas(sizes.tolist(), count)
    assert places.tolist() == sample_seeds(stratum, count, np.random.default_rng(3)).tolist()


def test_another_seed_is_another_sample():
    stratum = np.arange(1000) % 3
    one, other = (sample_seeds(stratum, 100, np.random.default_rng(seed)).tolist() for seed in (1, 2))
    assert one != other


def test_one_stratum_gives_the_sample_of_earlier_versions():
    """Pools that were made from a share and a seed can be made again."""
    expected = np.sort(np.random.default_rng(42).choice(500, size=25, replace=False))
    assert sample_seeds(np.zeros(500, int), 25, np.random.default_rng(42)).tolist() == expected.tolist()


def test_every_place_of_a_stratum_is_as_likely():
    """Of 4 places 2 are drawn: each in half of 4,000 seeded samples, within five standard errors."""
    often = np.zeros(8)
    for seed in range(4000):
        often[sample_seeds(np.arange(8) // 4, 4, np.random.default_rng(seed))] += 1
    assert np.abs(often - 2000).max() < 5 * np.sqrt(4000 * 0.25)


def test_strata_by_relation_and_by_the_band_of_the_rarer_entity():
    train = np.array([[0, 0, 1], [0, 0, 2], [0, 1, 1], [3, 1, 3]], dtype=np.int32)  # degrees 3, 2, 1, 1
    test = np.array([[0, 0, 1], [1, 0, 0], [0, 0, 2], [2, 1, 0], [0, 1, 1], [4, 1, 0]], dtype=np.int32)
    assert strata(test, train, 5, "").tolist() == [0] * 6
    assert strata(test, train, 5, "relation").tolist() == [0, 0, 0, 1, 1, 1]
    assert strata(test, train, 5, "relation,popularity").tolist() == [1, 1, 0, 5, 6, 5]


def test_an_unknown_stratification_is_refused_with_those_there_are():
    with pytest.raises(ValueError) as caught:
        strata(np.zeros((1, 3), np.int32), np.zeros((0, 3), np.int32), 1, "colour")
    assert str(caught.value) == "strata by 'colour': the choices are relation, relation,popularity"
