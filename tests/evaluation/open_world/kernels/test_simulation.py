"""The simulation against theory, and against a question written out."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.open_world.kernels.simulation import draw, simulate
from evaluation.open_world.kernels.theory import Strengths, expected_simulated, mrr_approximation
from tests.evaluation.open_world.kernels.test_theory import exact

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")
METRICS = ["mrr", "hits@10", "log_mrr", "p_mrr"]


@pytest.mark.parametrize("rho", [0.0, 0.15, -0.2])
def test_theory_and_simulation_agree(rho: float):
    """MRR within 3 standard errors everywhere; of all 48 cells one may be further by chance, none beyond 4."""
    betas, levels = np.array([0.2, 0.35, 0.5, 0.65]), np.array([0.4, 0.6, 0.8])
    drawn = simulate(43, betas, levels, METRICS, 400, np.random.default_rng(5), rho=rho)
    told = np.stack([expected_simulated(43, betas[:, None], levels, metric, rho=rho) for metric in METRICS])
    apart = np.stack([found.mean for found in drawn]) - told
    apart /= np.stack([found.error for found in drawn])
    assert np.abs(apart[0]).max() <= 3 and np.abs(apart).max() <= 4
    assert np.sqrt(np.mean(apart**2)) < 1.3
    near = mrr_approximation(43, betas[:, None], levels, rho)
    assert (np.abs(drawn[0].mean - near) <= 3 * drawn[0].error).all()


def test_few_entities_are_ranked_exactly():
    """Where most candidates are right, a wrong place of a wrong one would show."""
    n, beta, strength, entities = 3, 0.5, 0.4, 6
    drawn = simulate(n, beta, strength, ["mrr", "hits@3"], 100_000, np.random.default_rng(2), entities=entities)
    for metric, found in zip(("mrr", "hits@3"), drawn, strict=True):
        told = exact(n, beta, strength, strength, metric, entities)
        assert abs(float(found.mean[0, 0]) - told) <= 4 * float(found.error[0, 0])


def test_ranks_of_a_question_are_possible():
    """Test answers have filtered ranks: equal where nothing stands between; never beyond the candidates."""
    chances = Strengths(np.array([0.5]), np.array([0.5]))
    drawn = draw(6, 0.5, chances, 2_000, np.random.default_rng(3), entities=20)
    assert (np.diff(drawn.rank, axis=-1) >= 0).all(), "in the order of the model"
    missing = (~drawn.test).sum(axis=-1, keepdims=True)
    assert drawn.rank.min() == 1 and (drawn.rank <= 20 - 6 + missing + 1).all()


def test_one_draw_serves_all_metrics_and_its_seed_repeats_it():
    def once(metrics: list[str]):
        return simulate(9, [0.3, 0.6], [0.2, 0.9], metrics, 20, np.random.default_rng(4))

    (alone,), both = once(["p_mrr"]), once(["mrr", "p_mrr"])
    assert alone.mean.tolist() == both[1].mean.tolist() and alone.sd.tolist() == both[1].sd.tolist()
    assert alone.mean.shape == (2, 2)


def test_deviation_is_between_questions_and_questions_without_test_answers_are_left_out():
    found = simulate(1, [0.5], [1.0], ["mrr"], 4_000, np.random.default_rng(6))[0]
    assert found.mean.tolist() == [[1.0]] and found.sd.tolist() == [[0.0]]
    assert 1_800 < found.questions[0, 0] < 2_200
    half = simulate(1, [0.0], [0.5], ["hits@1"], 4_000, np.random.default_rng(6), entities=10**6)[0]
    assert float(half.sd[0, 0]) == pytest.approx(0.5, abs=0.01)
    assert float(half.error[0, 0]) == pytest.approx(0.5 / 4_000**0.5, rel=0.02)


def test_the_ends_are_defined():
    found = simulate(1, [0.0, 1.0], [0.0, 1.0], ["mrr"], 3, np.random.default_rng(7))[0]
    assert found.mean[0, 1] == 1 and 0 < found.mean[0, 0] < 1
    assert np.isnan(found.mean[1]).all() and np.isnan(found.sd[1]).all() and found.questions[1].tolist() == [0, 0]
    assert np.isnan(simulate(2, 0.0, 0.5, ["mrr"], 1, np.random.default_rng(7))[0].sd).all()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"n": 0}, "0 answers and 5 repeats"),
        ({"repeats": 0}, "3 answers and 0 repeats"),
        ({"entities": 3}, "3 entities are too few"),
        ({"rho": 0.9}, "cannot be"),
    ],
)
def test_what_cannot_be_is_refused(changed: dict, words: str):
    given = {"n": 3, "repeats": 5, "rng": np.random.default_rng(0), **changed}
    with pytest.raises(ValueError, match=words):
        simulate(betas=0.5, strengths=0.7, metrics=["mrr"], **given)
