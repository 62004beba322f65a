"""Estimates from a sample: exactly unbiased over all samples of small designs, exact when everything is drawn."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import norm

from evaluation.estimates.kernels.estimator import OF_RANK, Estimator
from evaluation.estimates.kernels.weights import CERTAIN, Sample, Weights, total_interval
from evaluation.measures.label_state import LabelState
from evaluation.measures.prepared import prepare
from evaluation.measures.rank_table import RankTable
from evaluation.measures.values import means, values

MICRO, MACRO = [f"micro_{name}" for name in OF_RANK], [f"macro_{name}" for name in OF_RANK]


class Case:
    """The triples of a small world: some positive with certainty, the others in strata."""

    def __init__(self, world, seed: int, strata: int, size: int) -> None:
        made = world(seed)
        rng = np.random.default_rng([seed, 1])
        self.prepared = prepare(made.table)
        triples = len(made.state)
        self.stratum = np.full(triples, CERTAIN)
        might = rng.permutation(triples)[: strata * size]
        self.stratum[might] = np.arange(might.size) % strata
        self.positive = rng.random(triples) < 0.6
        self.positive[self.stratum == CERTAIN] &= rng.random((self.stratum == CERTAIN).sum()) < 0.5
        self.asked = rng.random(made.questions) < 0.8

    def sample(self, drawn: np.ndarray) -> Sample:
        return Sample(self.stratum, drawn, self.positive & (drawn | (self.stratum == CERTAIN)))

    @property
    def everything(self) -> Sample:
        return self.sample(self.stratum != CERTAIN)

    def samples(self, sizes: list[int]) -> list[Sample]:
        """All that a design can give, each as likely as the others."""
        strata = [np.flatnonzero(self.stratum == h) for h in range(len(sizes))]
        found = []
        for chosen in product(*(combinations(of, n) for of, n in zip(strata, sizes, strict=True))):
            drawn = np.zeros(self.stratum.shape, dtype=bool)
            drawn[[i for part in chosen for i in part]] = True
            found.append(self.sample(drawn))
        return found

    def fits(self, sizes: list[int], size: int) -> bool:
        """Whether every set of positives of a question can be drawn: else nothing is unbiased."""
        table = self.prepared.table
        if any((self.stratum == h).sum() < size for h in range(len(sizes))):
            return False  # a world with fewer triples than the design asks for
        return all(
            np.bincount(table.question[(self.positive & (self.stratum == h))[table.triple]], minlength=1).max() <= n
            for h, n in enumerate(sizes)
        )

    def state(self) -> np.ndarray:
        return np.where(self.positive, LabelState.POSITIVE, LabelState.NEGATIVE).astype(np.int8)


def totals(case: Case, sample: Sample) -> dict[str, np.ndarray]:
    found = Estimator(case.prepared, sample, case.asked).estimate(sample)
    of = {name: found[name] * found["answers"] for name in MICRO} | {
        name: found[name] * found["questions"] for name in MACRO
    }
    return {name: np.nan_to_num(total) for name, total in of.items()} | {
        name: found[name] for name in ("positives", "answers", "questions")
    }


DESIGNS = [([3], 6), ([1], 5), ([4], 6), ([2, 1], 3), ([3, 2], 4), ([1, 2, 3], 3)]


@pytest.mark.parametrize(("sizes", "size"), DESIGNS)
def test_totals_are_unbiased_over_all_samples_of_a_design(world, sizes, size):
    cases = [case for seed in range(12) if (case := Case(world, seed, len(sizes), size)).fits(sizes, size)]
    assert len(cases) >= 3
    for case in cases:
        found = [totals(case, sample) for sample in case.samples(sizes)]
        for name, total in totals(case, case.everything).items():
            mean = np.mean([one[name] for one in found], axis=0)
            assert mean == pytest.approx(total, abs=1e-10), name


def test_totals_differ_between_samples(world):
    """So that a mean over them is no mean of equals."""
    case = next(case for seed in range(12) if (case := Case(world, seed, 2, 4)).fits([3, 2], 4))
    found = [totals(case, sample) for sample in case.samples([3, 2])]
    for name in (*MICRO, *MACRO):
        assert np.ptp([one[name] for one in found], axis=0).max() > 0.1, name


@pytest.mark.parametrize("seed", range(12))
def test_a_sample_of_everything_is_what_the_measures_say(world, seed):
    case = Case(world, seed, 2, 6)
    sample = case.everything
    asked = {
        name: value.keep(case.asked) for name, value in values(case.prepared, case.state(), [*MICRO, *MACRO]).items()
    }
    found = Estimator(case.prepared, sample, case.asked).estimate(sample)
    assert found["positives"] == case.positive.sum()
    assert found["answers"] == asked["micro_mrr"].n
    assert found["questions"] == asked["macro_mrr"].n
    for name, value in asked.items():
        assert found[name] == pytest.approx(value.mean(), abs=1e-14, nan_ok=True), name


@pytest.mark.parametrize("seed", range(12))
def test_lists_of_everything_are_map_and_ndcg_of_the_questions_with_a_certain_positive(world, seed):
    case = Case(world, seed, 2, 6)
    sample = case.everything
    table = case.prepared.table
    certain = np.zeros(table.questions, dtype=bool)
    certain[table.question[(case.positive & (case.stratum == CERTAIN))[table.triple]]] = True
    expected = {
        name: value.keep(certain & case.asked).mean()
        for name, value in values(case.prepared, case.state(), ["map", "ndcg@20"]).items()
    }
    found = Estimator(case.prepared, sample, case.asked).estimate(sample)
    assert found["xinfap"] == pytest.approx(expected["map"], abs=1e-12, nan_ok=True)
    assert found["infndcg@20"] == pytest.approx(expected["ndcg@20"], abs=1e-12, nan_ok=True)


def one_question(positions: list[int]) -> RankTable:
    """A question whose triples one system has at these positions."""
    rank = np.array([positions], dtype=np.int32)
    row = np.arange(len(positions), dtype=np.int32)
    return RankTable(
        row * 0,
        row,
        row,
        rank,
        rank,
        rank,
        side=np.zeros(1, dtype=np.int8),
        relation=np.zeros(1, dtype=np.int32),
        candidates=np.full(1, 99, dtype=np.int32),
    )


def test_stratified_lists_by_hand():
    # certain at 2; drawn at 1 and 5 (2 of 4 in stratum 0), at 4 (1 of 3 in stratum 1)
    prepared = prepare(one_question([2, 1, 5, 4]))
    stratum = np.array([CERTAIN, 0, 0, 1, 0, 0, 1, 1])
    drawn = np.array([False, True, True, True, False, False, False, False])
    sample = Sample(stratum, drawn, np.array([True, True, True, True, False, False, False, False]))
    found = Estimator(prepared, sample, np.ones(1, dtype=bool)).estimate(sample)
    pair = 4 * 3 / (2 * 1)  # both of stratum 0
    precision = (
        1 / 1 * 2  # at 1
        + 1 / 2 * (1 + 2)  # at 2: itself, the one above
        + 1 / 4 * (3 + 3 * 2 + 3)  # at 4: itself, two above
        + 1 / 5 * (2 + pair + 2 + 2 * 3)
    )
    relevant = 1 + 2 + 2 + 3
    assert found["xinfap"] == pytest.approx([precision / relevant], abs=1e-12)
    gain = 2 / np.log2(2) + 1 / np.log2(3) + 3 / np.log2(5) + 2 / np.log2(6)
    ideal = sum(1 / np.log2(i + 1) for i in range(1, relevant + 1))
    assert found["infndcg@20"] == pytest.approx([gain / ideal], abs=1e-12)


def test_ideal_gain_between_whole_numbers_is_in_proportion_and_positions_after_20_give_none():
    prepared = prepare(one_question([1, 21]))
    stratum = np.array([CERTAIN, 0, 0, 0, 0, 0])
    drawn = np.array([False, True, True, False, False, False])
    sample = Sample(stratum, drawn, np.array([True, True, False, False, False, False]))
    found = Estimator(prepared, sample, np.ones(1, dtype=bool)).estimate(sample)
    ideal = 1 + 1 / np.log2(3) + 1 / np.log2(4) + 0.5 / np.log2(5)  # 1 + 5 / 2 positives
    assert found["infndcg@20"] == pytest.approx([1 / ideal], abs=1e-12)


def test_without_a_certain_positive_lists_have_no_question():
    case = one_question([1, 2])
    sample = Sample(np.zeros(2, dtype=int), np.array([True, True]), np.array([True, False]))
    found = Estimator(prepare(case), sample, np.ones(1, dtype=bool)).estimate(sample)
    assert np.isnan(found["xinfap"]).all() and np.isnan(found["infndcg@20"]).all()
    assert found["micro_mrr"] == [1.0]


def test_without_a_positive_nothing_is_estimated():
    sample = Sample(np.zeros(3, dtype=int), np.array([True, True, False]), np.zeros(3, dtype=bool))
    found = Estimator(prepare(one_question([1, 2, 3])), sample, np.ones(1, dtype=bool)).estimate(sample)
    assert found["positives"] == found["answers"] == found["questions"] == 0
    assert np.isnan(found["micro_mrr"]).all() and np.isnan(found["macro_mrr"]).all()


@pytest.mark.parametrize(("higher", "tied", "own"), [(0, 0, 0), (2, 0, 1), (1, 2, 0), (1, 2, 1), (4, 0, 0)])
def test_weights_of_exactly_so_many_above_tell_the_true_number(higher, tied, own):
    """Over all samples of 4 of 9: the indicator of what is true, times that of this one being there at all."""
    size, taken = 9, 4
    weights = Weights(np.array([size]), np.array([taken]))
    mean = np.zeros(2 * higher + tied + 1)
    samples = list(combinations(range(size), taken))
    for sample in samples:
        if own and 0 not in sample:
            continue
        k = sum(own <= i < own + higher for i in sample)
        t = sum(own + higher <= i < own + higher + tied for i in sample)
        got = weights.exactly((k,), (t,), 0 if own else CERTAIN)
        mean[: got.size] += got / len(samples)
    expected = np.zeros(mean.size)
    expected[2 * higher + tied] = 1
    assert mean == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("taken", "hits"), [(8, 0), (8, 3), (8, 8), (1, 1), (39, 0), (39, 2), (39, 20)])
def test_interval_of_a_total_is_wilsons_of_so_many_draws_as_tell_the_same(taken: int, hits: int):
    n = taken * 39 / (40 - taken)  # by the finite population
    share, z = hits / taken, norm.ppf(0.975)
    # the ends are where the true share is z standard errors away
    ends = np.roots([n + z**2, -2 * n * share - z**2, n * share**2])
    low, high = 40 * ends.min(), 40 * ends.max()
    expected = max(low, hits), min(high, 40 - (taken - hits))
    assert total_interval(40, taken, hits) == pytest.approx(expected)


def test_interval_of_a_total_is_a_point_where_all_were_drawn():
    assert total_interval(12, 12, 5) == (5.0, 5.0)


def test_a_bad_sample_is_refused():
    stratum, none = np.array([CERTAIN, 0, 0]), np.zeros(3, dtype=bool)
    with pytest.raises(ValueError, match="a drawn triple has no stratum"):
        Sample(stratum, np.array([True, True, False]), none)
    with pytest.raises(ValueError, match="neither drawn nor certain"):
        Sample(stratum, np.array([False, True, False]), np.array([False, False, True]))
    with pytest.raises(ValueError, match="nothing was drawn in a stratum"):
        Sample(stratum, none, none)
    with pytest.raises(ValueError, match="one value per triple"):
        Sample(stratum, none[:2], none)


def tied_question(tied: int, others: list[int]) -> RankTable:
    """The first `tied` triples share the best score, the others stand at these positions."""
    table = one_question([*range(1, tied + 1), *others])
    optimistic, pessimistic = table.optimistic.copy(), table.pessimistic.copy()
    optimistic[:, :tied], pessimistic[:, :tied] = 1, tied
    return replace(table, optimistic=optimistic, pessimistic=pessimistic)


def test_certain_answers_at_one_score_do_not_stand_above_each_other():
    sample = Sample(np.array([CERTAIN, CERTAIN]), np.zeros(2, dtype=bool), np.ones(2, dtype=bool))
    found = Estimator(prepare(tied_question(2, [])), sample, np.ones(1, dtype=bool)).estimate(sample)
    assert found["micro_mrr"] == [1.0]


def test_estimates_of_the_full_pool_are_those_of_the_measure_kernels(world):
    """The same through `means`, for a world without questions that are left out."""
    case = Case(world, 2, 1, 8)
    case.asked[:] = True
    found = Estimator(case.prepared, case.everything, case.asked).estimate(case.everything)
    for name, mean in means(case.prepared, case.state(), [*MICRO, *MACRO]).items():
        assert found[name] == pytest.approx(mean, abs=1e-14)
