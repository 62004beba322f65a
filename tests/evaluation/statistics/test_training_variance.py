"""Intervals that draw a seed of each family equal a loop over the same draws, and widen only where seeds differ."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluation.measures.question_sums import QuestionSums
from evaluation.statistics.bootstrap import bootstrap_correlations, bootstrap_places

FAMILIES = [[1, 0, 2], [3], [5, 4], [6], [9, 7, 8], [10], [12, 11]]  # enough for tau to move in small steps
CHOSEN = [family[0] for family in FAMILIES]
QUESTIONS, RESAMPLES = 24, 150


def make_sums(seed: int, *, spread: float, better: bool = True) -> QuestionSums:
    """Systems of seven families; `spread` is how far seeds lie apart."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 4, size=QUESTIONS)
    family_of = np.empty(13, dtype=int)
    for i, family in enumerate(FAMILIES):
        family_of[family] = i
    of_family = rng.random((len(FAMILIES), QUESTIONS)) + 0.05 * np.arange(len(FAMILIES))[:, None]
    apart = np.concatenate([spread * np.arange(len(family)) for family in FAMILIES])[:, None]
    return QuestionSums(
        (of_family[family_of] + apart) * counts, counts, np.arange(QUESTIONS, dtype=np.int32), "answer", better
    )


def only(sums: QuestionSums, systems: list[int]) -> QuestionSums:
    return QuestionSums(sums.sums[systems], sums.counts, sums.question, sums.unit, sums.higher_is_better)


def drawn_merits(sums: QuestionSums, times: np.ndarray, systems: list[int]) -> list[float]:
    sign = 1 if sums.higher_is_better else -1
    return [sign * float((sums.sums[i] * times).sum() / (sums.counts * times).sum()) for i in systems]


def draws(rng: np.random.Generator):
    """Yield how often each question is drawn, and one system of each family: the literal loop."""
    of_seeds = rng.spawn(1)[0]
    for begin in range(0, RESAMPLES, 100):
        size = min(100, RESAMPLES - begin)
        questions = rng.integers(QUESTIONS, size=(size, QUESTIONS))
        seeds = of_seeds.integers([len(family) for family in FAMILIES], size=(size, len(FAMILIES)))
        for own, which in zip(questions, seeds, strict=True):
            times = np.array([np.count_nonzero(own == q) for q in range(QUESTIONS)])
            yield times, [family[place] for family, place in zip(FAMILIES, which.tolist(), strict=True)]


@pytest.mark.parametrize("better", [True, False])
def test_intervals_equal_a_literal_loop_over_questions_and_seeds(better: bool):
    one, other = (make_sums(seed, spread=0.2, better=better) for seed in (1, 2))
    rngs = [np.random.default_rng(3) for _ in range(3)]
    tau = bootstrap_correlations({"m": one}, {"m": other}, rngs[0], RESAMPLES, families=FAMILIES)["m"]["tau_b"]
    places = bootstrap_places({"m": one}, rngs[1], RESAMPLES, families=FAMILIES)["m"]
    taus, ranks, ahead = [], [], np.zeros((7, 7))
    for times, systems in draws(rngs[2]):
        merits = drawn_merits(one, times, systems)
        taus.append(stats.kendalltau(merits, drawn_merits(other, times, systems)).statistic)
        ranks.append([1 + sum(b > a for b in merits) for a in merits])
        ahead += np.array(merits)[:, None] > np.array(merits)[None, :]
    assert (tau.low, tau.high) == pytest.approx(tuple(np.quantile(taus, [0.025, 0.975])), abs=1e-12)
    whole = [drawn_merits(sums, np.ones(QUESTIONS), CHOSEN) for sums in (one, other)]
    assert tau.value == pytest.approx(stats.kendalltau(*whole).statistic)
    ordered = np.sort(np.array(ranks), axis=0)
    assert places.low.tolist() == ordered[int(np.ceil(0.025 * RESAMPLES)) - 1].tolist()
    assert places.high.tolist() == ordered[int(np.ceil(0.975 * RESAMPLES)) - 1].tolist()
    undecided = sum(max(ahead[i, j], ahead[j, i]) < 0.975 * RESAMPLES for i in range(7) for j in range(i))
    assert (places.undecided, places.pairs) == (undecided, 21)


def test_identical_seeds_have_the_interval_without_training_variance():
    one, other = make_sums(1, spread=0.0), make_sums(2, spread=0.0)
    with_seeds = bootstrap_correlations({"m": one}, {"m": other}, np.random.default_rng(3), families=FAMILIES)
    sides = [{"m": only(sums, CHOSEN)} for sums in (one, other)]
    assert with_seeds == bootstrap_correlations(*sides, np.random.default_rng(3))
    drawn = bootstrap_places({"m": one}, np.random.default_rng(3), families=FAMILIES)["m"]
    fixed = bootstrap_places(sides[0], np.random.default_rng(3))["m"]
    for name, value in vars(fixed).items():
        np.testing.assert_array_equal(getattr(drawn, name), value)


def test_seeds_that_differ_widen_the_intervals():
    one, other = make_sums(1, spread=0.15), make_sums(2, spread=0.15)
    tau = bootstrap_correlations({"m": one}, {"m": other}, np.random.default_rng(3), families=FAMILIES)["m"]["tau_b"]
    sides = [{"m": only(sums, CHOSEN)} for sums in (one, other)]
    fixed = bootstrap_correlations(*sides, np.random.default_rng(3))["m"]["tau_b"]
    assert tau.value == fixed.value
    assert tau.high - tau.low > fixed.high - fixed.low
    drawn = bootstrap_places({"m": one}, np.random.default_rng(3), families=FAMILIES)["m"]
    narrow = bootstrap_places(sides[0], np.random.default_rng(3))["m"]
    assert (drawn.high - drawn.low).sum() > (narrow.high - narrow.low).sum()
    assert drawn.undecided >= narrow.undecided


def test_families_of_one_are_the_systems_themselves():
    one, other = make_sums(1, spread=0.1), make_sums(2, spread=0.1)
    alone = [[i] for i in range(13)]
    drawn = bootstrap_correlations({"m": one}, {"m": other}, np.random.default_rng(3), 120, families=alone)
    assert drawn == bootstrap_correlations({"m": one}, {"m": other}, np.random.default_rng(3), 120)


def test_a_family_with_an_undefined_seed_is_left_out_of_value_and_resamples():
    one, other = make_sums(1, spread=0.1), make_sums(2, spread=0.1)
    one.sums[0, 3] = np.nan  # a seed of the first family, not the chosen one
    drawn = bootstrap_correlations({"m": one}, {"m": other}, np.random.default_rng(3), 120, families=FAMILIES)
    rest = [{"m": only(sums, CHOSEN[1:])} for sums in (one, other)]
    tau, expected = drawn["m"]["tau_b"], bootstrap_correlations(*rest, np.random.default_rng(3), 120)["m"]["tau_b"]
    assert tau.value == expected.value  # of the families that remain
    places = bootstrap_places({"m": one}, np.random.default_rng(3), 50, families=FAMILIES)["m"]
    assert np.isnan(places.low).tolist() == [True, *[False] * 6]
