"""Estimates over many seeded draws from one pool of 200 questions: their means, and what their intervals cover."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from evaluation.estimates.kernels.estimator import OF_RANK, Estimates, Estimator
from evaluation.estimates.kernels.jackknife import jackknife
from evaluation.estimates.kernels.model_assisted import ModelEstimator
from evaluation.estimates.kernels.weights import CERTAIN, Sample
from evaluation.measures.prepared import Prepared, prepare
from evaluation.measures.rank_table import RankTable

SYSTEMS, SIDE, CERTAINS = 2, 100, 60  # questions on each side; certain positives
DRAWS, GROUPS = 500, 10
COVERED = {"random": 120, "stratified": 80}  # draws with an interval
SIZES = {"random": [420], "stratified": [210, 170]}
LEAST = {Estimator: 0.9, ModelEstimator: 0.85}  # the bias of the model is in no interval
RATIOS = [f"{kind}_{name}" for kind in ("micro", "macro") for name in OF_RANK]
COUNTS = ["positives", "answers", "questions"]


@cache
def pool() -> tuple[Prepared, np.ndarray, np.ndarray]:
    """Ranks of 700 triples, which are positive, and which are certain (60, of as many tail questions)."""
    rng = np.random.default_rng(11)
    pairs = rng.permutation(SIDE * SIDE)
    pairs = np.concatenate([np.arange(SIDE) * SIDE + rng.permutation(SIDE), pairs])
    pairs = pairs[np.sort(np.unique(pairs, return_index=True)[1])][:700]
    asked = np.concatenate([pairs // SIDE, SIDE + pairs % SIDE])
    order = np.argsort(asked, kind="stable")
    triple = np.tile(np.arange(700), 2)[order]
    question = asked[order]
    likely = np.where(np.arange(700) < CERTAINS, 0.0, rng.beta(0.5, 2.0, 700))  # some triples are found by everybody
    strict = np.zeros((SYSTEMS, 1400), dtype=np.int32)
    for s in range(SYSTEMS):
        score = rng.random(1400) + likely[triple]
        by_score = np.lexsort((-score, question))
        place = np.empty(1400, dtype=np.int64)
        place[by_score] = np.arange(1400)
        place -= np.searchsorted(question, question)
        strict[s] = 1 + place + 3 * (place // 2)
    table = RankTable(
        question.astype(np.int32),
        triple.astype(np.int32),
        triple.astype(np.int32),
        strict,
        strict,
        strict,
        side=np.repeat([0, 1], SIDE).astype(np.int8),
        relation=np.zeros(2 * SIDE, dtype=np.int32),
        candidates=np.full(2 * SIDE, 999, dtype=np.int32),
    )
    certain = np.arange(700) < CERTAINS
    return prepare(table), certain | (rng.random(700) < likely), certain


def draws(design: str, count: int) -> list[Sample]:
    """The first of the same draws, whatever the count."""
    _, positive, certain = pool()
    sizes = SIZES[design]
    stratum = np.where(certain, CERTAIN, np.arange(700) % len(sizes))
    found = []
    for seed in range(count):
        rng = np.random.default_rng([seed, len(sizes)])
        drawn = np.zeros(700, dtype=bool)
        for h, n in enumerate(sizes):
            drawn[rng.choice(np.flatnonzero(stratum == h), n, replace=False)] = True
        found.append(Sample(stratum, drawn, positive & (drawn | certain)))
    return found


def estimator(kind: type[Estimator] | type[ModelEstimator], sample: Sample) -> Estimator | ModelEstimator:
    prepared = pool()[0]
    asked = np.ones(2 * SIDE, dtype=bool)
    if kind is Estimator:
        return Estimator(prepared, sample, asked)
    depth = np.full(700, 9)
    np.minimum.at(depth, prepared.table.triple, prepared.table.strict.min(axis=0))
    return ModelEstimator(prepared, sample, asked, np.searchsorted([1, 2, 4], depth))


@cache
def truth() -> Estimates:
    _, positive, certain = pool()
    everything = Sample(np.where(certain, CERTAIN, 0), ~certain, positive)
    return estimator(Estimator, everything).estimate(everything)


@cache
def estimates(design: str, kind: type[Estimator] | type[ModelEstimator]) -> Estimates:
    """[draws, systems] of every measure."""
    found = [estimator(kind, sample).estimate(sample) for sample in draws(design, DRAWS)]
    return {name: np.stack([one[name] for one in found]) for name in found[0]}


def off_by(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """How many standard errors of the mean over the draws lie between it and the truth."""
    return np.abs(found.mean(axis=0) - expected) / (found.std(axis=0, ddof=1) / np.sqrt(len(found)))


@pytest.mark.parametrize("design", SIZES)
def test_totals_are_right_on_average(design):
    found, true = estimates(design, Estimator), truth()
    for name in COUNTS:
        assert off_by(found[name], true[name]).max() < 3, name
    for name in RATIOS:
        units = "answers" if name.startswith("micro") else "questions"
        assert off_by(found[name] * found[units], true[name] * true[units]).max() < 3, name


@pytest.mark.parametrize("design", SIZES)
def test_ratios_of_totals_are_right_on_average(design):
    found, true = estimates(design, Estimator), truth()
    for name in RATIOS:
        assert off_by(found[name], true[name]).max() < 3, name
        assert np.abs(found[name].mean(axis=0) / true[name] - 1).max() < 0.01, name  # at most 0.75 % were seen


@pytest.mark.parametrize("design", SIZES)
def test_model_is_off_by_a_few_percent_and_spreads_less_where_many_stand_above(design):
    found, other, true = estimates(design, ModelEstimator), estimates(design, Estimator), truth()
    for name in RATIOS:
        assert np.abs(found[name].mean(axis=0) / true[name] - 1).max() < 0.04, name
    for name in ("micro_mrr", "micro_hits@10"):
        assert np.all(found[name].std(axis=0) < 0.9 * other[name].std(axis=0)), name


@pytest.mark.parametrize("design", SIZES)
@pytest.mark.parametrize("kind", [Estimator, ModelEstimator])
def test_intervals_cover_the_truth_as_often_as_they_say(design, kind):
    true = truth()
    names = [*RATIOS, *(COUNTS if kind is Estimator else [])]
    covered = {name: [] for name in names}
    for seed, sample in enumerate(draws(design, COVERED[design])):
        found = jackknife(estimator(kind, sample).estimate, sample, np.random.default_rng(seed), GROUPS)
        for name in names:
            covered[name].append((found[name].low <= true[name]) & (true[name] <= found[name].high))
    for name in names:
        assert LEAST[kind] <= np.mean(covered[name]) <= 0.99, name
