"""Estimates over many seeded draws from one pool of 200 questions: their means, and what their intervals cover."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from evaluation.estimates.kernels.estimator import OF_RANK, Estimates, Estimator
from evaluation.estimates.kernels.intervals import of_total
from evaluation.estimates.kernels.modelled import modelled
from evaluation.estimates.kernels.weights import CERTAIN, Sample
from evaluation.measures.prepared import Prepared, prepare
from evaluation.measures.rank_table import RankTable

SYSTEMS, SIDE, CERTAINS = 2, 100, 60  # questions on each side; certain positives
DRAWS, MODELLED = 500, 12  # draws; those that the model estimates from
SIZES = {"random": [420], "stratified": [210, 170]}
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


def estimate(sample: Sample) -> Estimates:
    return Estimator(pool()[0], sample, np.ones(2 * SIDE, dtype=bool)).estimate(sample)


@cache
def truth() -> Estimates:
    _, positive, certain = pool()
    everything = Sample(np.where(certain, CERTAIN, 0), ~certain, positive)
    return estimate(everything)


@cache
def estimates(design: str) -> Estimates:
    """[draws, systems] of every measure."""
    found = [estimate(sample) for sample in draws(design, DRAWS)]
    return {name: np.stack([one[name] for one in found]) for name in found[0]}


def off_by(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """How many standard errors of the mean over the draws lie between it and the truth."""
    return np.abs(found.mean(axis=0) - expected) / (found.std(axis=0, ddof=1) / np.sqrt(len(found)))


@pytest.mark.parametrize("design", SIZES)
def test_totals_are_right_on_average(design):
    found, true = estimates(design), truth()
    for name in COUNTS:
        assert off_by(found[name], true[name]).max() < 3, name
    for name in RATIOS:
        units = "answers" if name.startswith("micro") else "questions"
        assert off_by(found[name] * found[units], true[name] * true[units]).max() < 3, name


@pytest.mark.parametrize("design", SIZES)
def test_ratios_of_totals_are_right_on_average(design):
    found, true = estimates(design), truth()
    for name in RATIOS:
        assert off_by(found[name], true[name]).max() < 3, name
        assert np.abs(found[name].mean(axis=0) / true[name] - 1).max() < 0.01, name  # at most 0.75 % were seen


@pytest.mark.parametrize("design", SIZES)
def test_intervals_of_totals_cover_the_truth_as_often_as_they_say(design):
    true, found = truth(), estimates(design)
    for name, size in (("positives", 1.0), ("answers", 2.0)):
        held = []
        for i, sample in enumerate(draws(design, DRAWS)):
            one = of_total(found[name][i], sample, np.full(700, size))
            held.append((one.low <= true[name]) & (true[name] <= one.high))
        assert 0.93 <= np.mean(held) <= 0.97, name


@cache
def modelled_draws() -> dict[str, np.ndarray]:
    """[draws, value low high, systems] of every measure."""
    prepared = pool()[0]
    depth = np.full(700, 9)
    np.minimum.at(depth, prepared.table.triple, prepared.table.strict.min(axis=0))
    asked, found = np.ones(2 * SIDE, dtype=bool), []
    for seed, sample in enumerate(draws("random", MODELLED)):
        rng = np.random.default_rng(seed)
        found.append(modelled(prepared, sample, asked, depth, RATIOS, rng, lambda done, total: None))
    return {name: np.stack([np.stack(one[name]) for one in found]) for name in found[0]}


def test_model_spreads_less_where_many_stand_above_and_is_close():
    found, other, true = modelled_draws(), estimates("random"), truth()
    for name in RATIOS:
        assert np.abs(found[name][:, 0].mean(axis=0) / true[name] - 1).max() < 0.04, name
    for name in ("micro_mrr", "micro_hits@10"):
        assert np.all(found[name][:, 0].std(axis=0) < 0.9 * other[name].std(axis=0)), name


def test_intervals_of_the_model_cover_the_truth():
    """All measures together: 12 draws of one say little. benchmarks/estimate_coverage.py counts each."""
    found, true = modelled_draws(), truth()
    held = [np.mean((found[n][:, 1] <= true[n]) & (true[n] <= found[n][:, 2])) for n in (*RATIOS, *COUNTS)]
    assert 0.85 <= np.mean(held) < 1
