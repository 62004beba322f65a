"""PROBE against its formula written out, and the properties that the paper claims of it."""

from __future__ import annotations

import math
import warnings
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evaluation.probe.kernel import (
    NOBODY,
    best_systems,
    popularity_weights,
    probe_score,
    probe_surface,
    rank_scores,
    system_places,
)


@pytest.fixture(autouse=True)
def _no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


sharp = st.floats(0.01, 8, allow_subnormal=False)
robust = st.floats(0, 8, allow_subnormal=False)


@st.composite
def answers(draw, least: int = 1):
    """(ranks, popularity, entities)"""
    entities = draw(st.integers(2, 20_000))
    n = draw(st.integers(least, 30))
    halves = st.integers(2, 2 * entities).map(lambda twice: twice / 2)
    ranks = draw(st.lists(halves, min_size=n, max_size=n))
    popularity = draw(st.lists(st.integers(0, 8000), min_size=n, max_size=n))
    return ranks, popularity, entities


def literal_score(rank: float, entities: int, a: float) -> float:
    return 1 / (1 - (1 / entities) ** a) * ((1 / rank) ** a - 1) + 1


def literal_probe(ranks, popularity, entities: int, a: float, b: float) -> float:
    weights = [(1 / (degree + 1)) ** b for degree in popularity]
    scores = [literal_score(rank, entities, a) for rank in ranks]
    return sum(w * s for w, s in zip(weights, scores, strict=True)) / sum(weights)


@given(answers(), sharp, robust)
def test_value_is_the_formula_written_out(case, a, b):
    assert probe_score(*case, a, b) == pytest.approx(literal_probe(*case, a, b), abs=1e-9)


@given(answers(), sharp)
def test_best_rank_scores_1_and_the_last_0_at_every_sharpness(case, a):
    _, _, entities = case
    found = rank_scores([1, entities], entities, a)
    assert found.tolist() == [1.0, 0.0]
    assert rank_scores([1, entities], entities, 0).tolist() == [1.0, 0.0]


@given(answers(), sharp)
def test_score_falls_with_the_rank_and_stays_between_0_and_1(case, a):
    ranks, _, entities = case
    scores = rank_scores(sorted(ranks), entities, a)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert (np.diff(scores) <= 1e-15).all()


@given(answers())
def test_higher_sharpness_never_raises_a_score(case):
    ranks, _, entities = case
    rising = [rank_scores(ranks, entities, a) for a in (0, 0.25, 0.5, 1, 2, 5)]
    assert (np.diff(rising, axis=0) <= 1e-12).all()


@given(answers())
def test_sharpness_1_and_robustness_0_are_an_affine_change_of_mrr(case):
    ranks, _, entities = case
    scale = 1 / (1 - 1 / entities)
    mrr = np.mean(1 / np.array(ranks))
    assert probe_score(*case, 1, 0) == pytest.approx(scale * (mrr - 1) + 1, abs=1e-12)


@given(answers())
def test_limit_at_sharpness_0_is_the_logarithm(case):
    ranks, _, entities = case
    limit = [1 - math.log(rank) / math.log(entities) for rank in ranks]
    assert rank_scores(ranks, entities, 0).tolist() == pytest.approx(limit, abs=1e-14)
    for a in (1e-320, 1e-291, 1e-289, 1e-100, 1e-9):
        assert rank_scores(ranks, entities, a).tolist() == pytest.approx(limit, abs=1e-7)


@pytest.mark.parametrize("a", ["0.0001", "1e-9", "1e-12"])
def test_low_sharpness_loses_no_digits(a):
    slow = Decimal(a)
    exact = 1 - (1 - Decimal(7) ** -slow) / (1 - Decimal(100) ** -slow)  # 28 digits
    assert rank_scores([7], 100, float(a))[0] == pytest.approx(float(exact), abs=1e-14)


@given(answers(), st.floats(0, 1e300))
def test_weights_add_up_to_1_and_are_equal_without_robustness(case, b):
    _, popularity, _ = case
    weights = popularity_weights(popularity, b)
    assert weights.sum() == pytest.approx(1) and (weights >= 0).all()
    order = np.argsort(popularity)
    assert (np.diff(weights[order]) <= 1e-15).all()  # the popular never weigh more
    assert popularity_weights(popularity, 0).tolist() == pytest.approx([1 / len(popularity)] * len(popularity))


def test_weights_are_in_the_proportions_of_the_formula():
    assert popularity_weights([0, 1, 3], 1).tolist() == pytest.approx([4 / 7, 2 / 7, 1 / 7])
    assert popularity_weights([0, 3], 0.5).tolist() == pytest.approx([2 / 3, 1 / 3])


@given(answers(), sharp, robust, st.integers(0, 10**6))
def test_order_of_the_answers_does_not_matter(case, a, b, seed):
    ranks, popularity, entities = case
    order = np.random.default_rng(seed).permutation(len(ranks))
    moved = probe_score(np.array(ranks)[order], np.array(popularity)[order], entities, a, b)
    assert moved == pytest.approx(probe_score(*case, a, b), abs=1e-12)


@given(answers(), st.lists(sharp, min_size=1, max_size=4), st.lists(robust, min_size=1, max_size=4))
def test_surface_is_the_value_at_every_point(case, sharpnesses, robustnesses):
    ranks, popularity, entities = case
    systems = np.array([ranks, ranks[::-1], [1] * len(ranks)])
    found = probe_surface(systems, popularity, entities, sharpnesses, robustnesses)
    expected = [
        [[literal_probe(own, popularity, entities, a, b) for b in robustnesses] for a in sharpnesses]
        for own in systems.tolist()
    ]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    np.testing.assert_allclose(found[2], 1)


def test_an_answer_that_was_not_returned_scores_as_the_last_rank():
    for a in (0, 0.25, 1, 7):
        assert rank_scores([math.inf, 3], 50, a).tolist() == rank_scores([50, 3], 50, a).tolist()
    assert probe_score([math.inf], [4], 50, 1, 1) == 0


def test_extreme_settings_keep_only_rank_1_and_the_least_popular():
    assert rank_scores([1, 1.5, 2, 50], 50, 1e300).tolist() == [1, 0, 0, 0]
    assert popularity_weights([5, 0, 5], 1e308).tolist() == [0, 1, 0]
    assert popularity_weights([5, 5, 9000], 1e308).tolist() == [0.5, 0.5, 0]


def test_entities_that_train_does_not_have_weigh_most_and_no_more_than_all():
    assert probe_score([1, 4], [0, 0], 4, 1, 3) == 0.5


def test_one_entity_and_no_answer():
    assert rank_scores([1, math.inf], 1, 1).tolist() == [1, 0]
    assert probe_score([1], [0], 1, 0, 0) == 1
    assert math.isnan(probe_score([], [], 10, 1, 1))
    assert np.isnan(probe_surface(np.zeros((2, 0)), [], 10, [0, 1], [0])).tolist() == [[[True], [True]]] * 2
    assert popularity_weights([], 1).tolist() == []
    assert probe_surface([[1.0]], [3], 10, [], [0]).shape == (1, 0, 1)
    assert probe_surface([[1.0]], [3], 10, [1], []).shape == (1, 1, 0)


@pytest.mark.parametrize(
    ("ranks", "popularity", "entities", "a", "b", "words"),
    [
        ([0.5], [1], 10, 1, 0, "0.5 is not a rank among 10 entities"),
        ([11], [1], 10, 1, 0, "11 is not a rank among 10 entities"),
        ([math.nan], [1], 10, 1, 0, "nan is not a rank"),
        ([-math.inf], [1], 10, 1, 0, "-inf is not a rank"),
        ([1], [1], 0, 1, 0, "0 entities"),
        ([1], [1], 10, -0.1, 0, "sharpness is -0.1"),
        ([1], [1], 10, math.nan, 0, "sharpness is nan"),
        ([1], [1], 10, 1, -1, "robustness is -1"),
        ([1], [1], 10, 1, math.inf, "robustness is inf"),
        ([1], [-1], 10, 1, 0, "popularity"),
        ([1, 2], [1], 10, 1, 0, "popularity has 1 entries"),
    ],
)
def test_what_cannot_be_is_refused(ranks, popularity, entities, a, b, words):
    with pytest.raises(ValueError, match=words):
        probe_score(ranks, popularity, entities, a, b)


@given(st.integers(1, 5), st.integers(0, 10**6))
def test_best_systems_and_places_are_those_of_a_sort(systems, seed):
    rng = np.random.default_rng(seed)
    surface = rng.integers(0, 4, size=(systems, 3, 4)) / 4  # few levels: many ties
    best, places = best_systems(surface), system_places(surface)
    for i in range(3):
        for j in range(4):
            values = surface[:, i, j].tolist()
            top = [s for s in range(systems) if values[s] == max(values)]
            assert best[i, j] == (top[0] if len(top) == 1 else NOBODY)
            assert places[:, i, j].tolist() == [1 + sum(other > own for other in values) for own in values]


def test_order_of_summation_breaks_no_tie():
    near = np.array([[[0.3]], [[0.1 + 0.2]]])
    assert best_systems(near).tolist() == [[NOBODY]] and system_places(near).ravel().tolist() == [1, 1]


def test_best_systems_without_a_value_are_nobody():
    assert best_systems(np.full((2, 1, 2), np.nan)).tolist() == [[NOBODY, NOBODY]]
    assert best_systems(np.zeros((0, 1, 2))).tolist() == [[NOBODY, NOBODY]]


@given(answers(least=2))
def test_the_sharper_system_wins_where_sharpness_is_high(case):
    """One system has rank 1 and the last, the other the rank between them that is worth as much at a = 1."""
    _, _, entities = case
    assume(entities >= 20)
    middle = 2 / (1 + 1 / entities)
    surface = probe_surface([[1, entities], [middle, middle]], [3, 3], entities, [0.5, 2], [0, 1])
    assert best_systems(surface).tolist() == [[1, 1], [0, 0]]
