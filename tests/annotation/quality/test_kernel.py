"""Agreement: slow oracles written from the definitions, published examples, other packages, properties."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score

from annotation.quality.kernel import (
    MISSING,
    NO_TRIAL,
    NOTHING,
    ONE_CATEGORY,
    Coefficient,
    Intervals,
    Share,
    agreement,
    bootstrap,
    coefficients_of_tables,
    cohen_kappa,
    gwet_ac1,
    krippendorff_alpha,
)

C = 3
pairs = st.lists(st.tuples(st.integers(0, C - 1), st.integers(0, C - 1)), min_size=1, max_size=30)
# items × up to five people, some of whom did not answer
ratings = st.integers(1, 5).flatmap(
    lambda people: st.lists(st.lists(st.integers(-1, C - 1), min_size=people, max_size=people), min_size=1, max_size=20)
)


def split(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    array = np.array(rows, dtype=np.int64).reshape(-1, 2)
    return array[:, 0], array[:, 1]


def counts_of(rows: list[list[int]], categories: int = C) -> np.ndarray:
    return np.array([[row.count(category) for category in range(categories)] for row in rows], dtype=np.int64)


# -- oracles: the definitions, in fractions and loops ----------------------------------------------------------


def slow_kappa(rows: list[tuple[int, int]]) -> Fraction | None:
    n = len(rows)
    observed = Fraction(sum(a == b for a, b in rows), n)
    chance = sum(
        Fraction(sum(a == k for a, _ in rows), n) * Fraction(sum(b == k for _, b in rows), n) for k in range(C)
    )
    return None if chance == 1 else (observed - chance) / (1 - chance)


def slow_alpha(rows: list[list[int]]) -> Fraction | None:
    """By the coincidence matrix of Krippendorff 2011."""
    coincidence: Counter[tuple[int, int]] = Counter()
    for row in rows:
        values = [value for value in row if value != MISSING]
        for one, other in permutations(range(len(values)), 2):
            coincidence[values[one], values[other]] += Fraction(1, len(values) - 1)
    total = sum(coincidence.values())
    if not total:
        return None
    margin = {k: sum(coincidence[k, other] for other in range(C)) for k in range(C)}
    observed = sum(coincidence[a, b] for a, b in product(range(C), repeat=2) if a != b)
    expected = sum(margin[a] * margin[b] for a, b in product(range(C), repeat=2) if a != b)
    return None if expected == 0 else 1 - (total - 1) * observed / expected


def slow_ac1(rows: list[list[int]]) -> Fraction | None:
    """Two people drawn at random from those of an item agree: observed and by chance (Gwet 2008)."""
    answered = [values for row in rows if (values := [value for value in row if value != MISSING])]
    paired = [values for values in answered if len(values) > 1]
    if not paired or len({value for values in answered for value in values}) == 1:
        return None
    agree = [
        Fraction(sum(a == b for a, b in permutations(values, 2)), len(values) * (len(values) - 1)) for values in paired
    ]
    observed = sum(agree) / len(paired)
    shares = [sum(Fraction(values.count(k), len(values)) for values in answered) / len(answered) for k in range(C)]
    chance = sum(share * (1 - share) for share in shares) / (C - 1)
    return (observed - chance) / (1 - chance)


def same(found: Coefficient, expected: Fraction | None) -> bool:
    if expected is None or found.value is None:
        return found.value is None and expected is None and found.reason != ""
    return found.value == pytest.approx(float(expected), abs=1e-12)


@given(pairs)
def test_kappa_equals_oracle(rows):
    assert same(cohen_kappa(*split(rows), C), slow_kappa(rows))


@given(ratings)
def test_alpha_equals_oracle(rows):
    assert same(krippendorff_alpha(counts_of(rows)), slow_alpha(rows))


@given(ratings)
def test_ac1_equals_oracle(rows):
    assert same(gwet_ac1(counts_of(rows)), slow_ac1(rows))


@given(pairs)
def test_agreement_of_two_answers_equals_oracles(rows):
    found = agreement(*split(rows), C)
    as_lists = [list(row) for row in rows]
    assert found.raw == Share(sum(a == b for a, b in rows), len(rows))
    assert same(found.alpha, slow_alpha(as_lists))
    assert same(found.ac1, slow_ac1(as_lists))


# -- other packages and published examples -----------------------------------------------------------------------


@given(pairs)
def test_kappa_equals_sklearn(rows):
    first, second = split(rows)
    found = cohen_kappa(first, second, C)
    assume(found.value is not None)
    assert found.value == pytest.approx(cohen_kappa_score(first, second, labels=range(C)), abs=1e-12)


@given(ratings)
def test_alpha_equals_krippendorff_package(rows):
    counts = counts_of(rows)
    found = krippendorff_alpha(counts)
    assume(found.value is not None)
    theirs = krippendorff.alpha(value_counts=counts, level_of_measurement="nominal")
    assert found.value == pytest.approx(theirs, abs=1e-9)


# four people, twelve items, five categories, some answers missing: example C of Krippendorff 2011, which is
# also the example of Gwet's handbook and of his R package irrCAC
FOUR = (
    np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
            [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
        ]
    ).T
    - 1
)


def test_alpha_of_published_example():
    found = krippendorff_alpha(counts_of(FOUR.tolist(), 5))
    assert (round(found.value, 3), found.n) == (0.743, 11)


def test_ac1_of_published_example():
    found = gwet_ac1(counts_of(FOUR.tolist(), 5))
    assert (round(found.value, 5), found.n) == (0.77544, 11)


def test_alpha_of_two_people_of_published_example():
    """Example A of Krippendorff 2011: binary data, two people."""
    one = np.array([0, 1, 0, 0, 0, 0, 0, 0, 1, 0])
    other = np.array([1, 1, 1, 0, 0, 1, 0, 0, 0, 0])
    found = agreement(one, other, 2)
    assert (found.raw, round(found.alpha.value, 3)) == (Share(6, 10), 0.095)


def test_one_category_prevails():
    """118, 5, 2, 0: the paradox of kappa that AC1 was made for."""
    first = np.repeat([0, 0, 1, 1], [118, 5, 2, 0])
    second = np.repeat([0, 1, 0, 1], [118, 5, 2, 0])
    found = agreement(first, second, 2)
    values = (found.raw.value, cohen_kappa(first, second, 2).value, found.ac1.value)
    assert values == pytest.approx((0.944, -0.0234, 0.9408), abs=5e-5)


# -- what is not defined -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("category", [0, 1])
def test_one_category_is_undefined_and_never_one(category):
    same_answer = np.full(7, category)
    found = agreement(same_answer, same_answer, 2)
    undefined = Coefficient(None, 7, ONE_CATEGORY)
    assert found == (Share(7, 7), undefined, undefined)
    assert cohen_kappa(same_answer, same_answer, 2) == undefined


def test_no_item_is_undefined():
    none = np.array([], dtype=np.int64)
    undefined = Coefficient(None, 0, NOTHING)
    assert agreement(none, none, 2) == (Share(0, 0), undefined, undefined)
    assert cohen_kappa(none, none, 2) == undefined


def test_items_with_one_answer_are_left_out():
    first, second = np.array([0, 1, MISSING, 1]), np.array([0, MISSING, 1, 0])
    assert agreement(first, second, 2) == agreement(np.array([0, 1]), np.array([0, 0]), 2)
    assert cohen_kappa(first, second, 2) == Coefficient(0.0, 2)
    assert krippendorff_alpha(np.array([[1, 0], [0, 1]])) == Coefficient(None, 0, NOTHING)


def test_two_people_who_never_agree_are_defined():
    first, second = np.zeros(4, dtype=int), np.ones(4, dtype=int)
    found = agreement(first, second, 2)
    assert cohen_kappa(first, second, 2) == Coefficient(0.0, 4)
    assert (found.alpha.value, found.ac1.value) == (pytest.approx(-0.75), pytest.approx(-1.0))


@pytest.mark.parametrize("bad", [[3], [-2]])
def test_unknown_category_is_refused(bad):
    with pytest.raises(ValueError, match="categories are 0 to 2"):
        agreement(np.array(bad), np.array([0]), 3)


def test_different_lengths_are_refused():
    with pytest.raises(ValueError, match="same length"):
        cohen_kappa(np.array([0, 1]), np.array([0]), 2)


# -- properties ----------------------------------------------------------------------------------------------------


def close(one: Coefficient, other: Coefficient) -> bool:
    if one.value is None or other.value is None:
        return one == other
    return one[1:] == other[1:] and one.value == pytest.approx(other.value, abs=1e-12)


def all_of(rows: list[tuple[int, int]]) -> list[Coefficient]:
    first, second = split(rows)
    found = agreement(first, second, C)
    return [Coefficient(found.raw.value, found.raw.n), cohen_kappa(first, second, C), found.alpha, found.ac1]


@given(pairs)
def test_swapping_people_changes_nothing(rows):
    swapped = all_of([(b, a) for a, b in rows])
    assert all(close(one, other) for one, other in zip(all_of(rows), swapped, strict=True))


@given(pairs, st.randoms())
def test_order_of_items_changes_nothing(rows, random):
    mixed = random.sample(rows, len(rows))
    assert all(close(one, other) for one, other in zip(all_of(rows), all_of(mixed), strict=True))


@given(pairs, st.permutations(range(C)))
def test_names_of_categories_change_nothing(rows, names):
    renamed = all_of([(names[a], names[b]) for a, b in rows])
    assert all(close(one, other) for one, other in zip(all_of(rows), renamed, strict=True))


@given(pairs)
def test_full_agreement_is_one(rows):
    full = [(a, a) for a, _ in rows]
    assume(len(set(full)) > 1)
    assert all(found.value == pytest.approx(1.0) for found in all_of(full))


@given(pairs)
def test_no_coefficient_is_above_one(rows):
    assert all(found.value is None or found.value <= 1 + 1e-12 for found in all_of(rows))


# -- shares ----------------------------------------------------------------------------------------------------------


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_interval_is_wilsons_of_scipy(share):
    expected = binomtest(*share).proportion_ci(0.95, method="wilson")
    assert Share(*share).interval == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_share_of_nothing_has_no_value():
    nothing = Share(0, 0)
    assert (nothing.value, nothing.interval, nothing.reason) == (None, None, NO_TRIAL)
    assert (Share(0, 4).value, Share(0, 4).reason) == (0.0, "")


# -- intervals of the coefficients -----------------------------------------------------------------------------


def expand(table: np.ndarray) -> list[tuple[int, int]]:
    """Return the items of a table, one by one."""
    return [(a, b) for (a, b), n in np.ndenumerate(table) for _ in range(n)]


def literal(table: np.ndarray) -> list[float]:
    """Return alpha, AC1 and kappa of a table by the oracles."""
    rows = expand(table)
    as_lists = [list(row) for row in rows]
    found = (slow_alpha(as_lists), slow_ac1(as_lists), slow_kappa(rows))
    return [np.nan if value is None else float(value) for value in found]


def answers_of(table: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    return split(expand(np.array(table)))


@given(st.lists(st.integers(0, 4), min_size=C * C, max_size=C * C).filter(any))
def test_coefficients_of_a_table_equal_the_oracles(cells):
    table = np.array(cells).reshape(C, C)
    found = coefficients_of_tables(table[None])[:, 0]
    np.testing.assert_allclose(found, literal(table), atol=1e-12)


def test_bootstrap_equals_the_quantiles_of_its_samples_one_by_one():
    table = np.array([[20, 4, 1], [3, 15, 2], [0, 1, 4]])
    found = bootstrap(*answers_of(table.tolist()), C, np.random.default_rng(5), draws=80)
    drawn = np.random.default_rng(5).multinomial(50, table.ravel() / 50, size=80).reshape(80, C, C)
    for interval, values in zip(found, zip(*map(literal, drawn), strict=True), strict=True):
        assert interval == pytest.approx(np.quantile(values, [0.025, 0.975]))


def test_bootstrap_agrees_with_items_drawn_one_by_one():
    first, second = answers_of([[60, 12], [8, 40]])
    rng = np.random.default_rng(3)
    found = bootstrap(first, second, 2, rng, draws=4000)
    kappas = []
    for _ in range(1500):
        rows = rng.integers(first.size, size=first.size)
        kappas.append(cohen_kappa(first[rows], second[rows], 2).value)
    assert found.kappa == pytest.approx(np.quantile(kappas, [0.025, 0.975]), abs=0.02)


def test_intervals_hold_the_coefficient_are_possible_and_narrow_with_more_items():
    few, many = ([[24 * k, 4 * k], [4 * k, 20 * k]] for k in (1, 10))
    width = {}
    for name, table in (("few", few), ("many", many)):
        first, second = answers_of(table)
        found, of = bootstrap(first, second, 2, np.random.default_rng(0)), agreement(first, second, 2)
        for interval, value in zip(found, (of.alpha, of.ac1, cohen_kappa(first, second, 2)), strict=True):
            assert interval and -1 <= interval[0] < value.value < interval[1] <= 1
        width[name] = found.alpha[1] - found.alpha[0]
    assert width["many"] < width["few"] / 2.5


@pytest.mark.parametrize(
    "table",
    [
        [[12, 3], [3, 11]],  # 29 items
        [[30, 2], [2, 30]],  # 4 differ
        [[4, 20], [20, 0]],  # 4 agree
        [[60, 5], [4, 0]],  # 9 answers are not the most frequent one
        [[0, 0], [0, 0]],
    ],
)
def test_no_interval_where_it_would_promise_too_much(table):
    assert bootstrap(*answers_of(table), 2, np.random.default_rng(0)) == Intervals(None, None, None)
