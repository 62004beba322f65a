"""Predictive distributions against a literal softmax in float64, and the Greedy protocol against its definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from core.callbacks import Watch
from pooling.questions.kernel import Csr, Questions, answers_csr, questions_of
from pooling.scoring.distribution_pass import predict_questions
from pooling.scoring.distributions import ALPHAS, DRAWS, TOP, DistributionResult, best_alpha, greedy_f1, greedy_sizes
from pooling.scoring.rank_rows import question_keys
from pooling.scoring.ranks import NotFinite, tie_order
from pooling.scoring.scorer import TILE

RELATIONS = 2


class FixedScores:
    """Scores from a table [2, R, G, E]: side, relation, given entity (a few), candidate."""

    device = torch.device("cpu")
    label = "Fixed"

    def __init__(self, table: np.ndarray) -> None:
        self.table = torch.as_tensor(table, dtype=torch.float32)
        self.num_entities = self.table.shape[-1]
        self.calls = 0

    def in_order(self, order):
        columns = torch.as_tensor(order)

        def scores(side, entity, relation, out):
            self.calls += 1
            index = (torch.as_tensor(np.asarray(x)).long() for x in (side, relation, entity))
            return out.copy_(self.table[tuple(index)][:, columns])

        return scores


def questions(given: int) -> Questions:
    """Both sides of both relations for so many entities."""
    side, relation, entity = (x.ravel() for x in np.indices((2, RELATIONS, given)))
    return Questions(side.astype(np.int8), entity.astype(np.int32), relation.astype(np.int32))


def lists(rng: np.random.Generator, n: int, num_entities: int) -> Csr:
    each = [np.sort(rng.permutation(num_entities)[: rng.integers(0, 6)]) for _ in range(n)]
    counts = [len(x) for x in each]
    return Csr(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), np.concatenate(each).astype(np.int32))


def predict(scorer: FixedScores, asked: Questions, **options) -> DistributionResult:
    none = Csr(np.zeros(len(asked.side) + 1, np.int64), np.zeros(0, np.int32))
    keys = question_keys(asked, scorer.num_entities, RELATIONS)
    return predict_questions(scorer, asked, **{"answers": none, "keys": keys, "alpha": 1.0, "seed": 3, **options})


def literal(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """p [A, E], log-normaliser [A] and distance to uniform [A] of scores [E], from the definition."""
    p, log_normaliser, tvd = [], [], []
    for alpha in ALPHAS:
        logits = alpha * scores.astype(np.float64)
        log_z = logits.max() + math.log(math.fsum(np.exp(logits - logits.max())))
        p.append(np.exp(logits - log_z))
        log_normaliser.append(log_z)
        tvd.append(math.fsum(np.abs(p[-1] - 1 / len(scores))) / 2)
    return np.array(p), np.array(log_normaliser), np.array(tvd)


@settings(max_examples=40, deadline=None)
@given(
    num_entities=st.sampled_from([1, 2, 31, 99, 100, 150, TILE - 1, TILE, TILE + 1, 2 * TILE + 5]),
    scale=st.sampled_from([0.0, 1e-3, 0.3, 4.0, 300.0, 1e6]),
    ties=st.booleans(),
    seed=st.integers(0, 2**16),
)
def test_a_pass_equals_a_literal_softmax(num_entities, scale, ties, seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(2, RELATIONS, min(2, num_entities), num_entities)) * scale
    scorer = FixedScores(np.round(table) if ties else table)
    asked = questions(min(2, num_entities))
    answers = lists(rng, len(asked.side), num_entities)
    found = predict(scorer, asked, answers=answers)
    place = np.argsort(tie_order(num_entities, 3))
    for i, (side, entity, relation) in enumerate(zip(*asked, strict=True)):
        scores = scorer.table[side, relation, entity].numpy()
        _, log_normaliser, tvd = literal(scores)
        np.testing.assert_allclose(found.log_normaliser[i], log_normaliser, rtol=1e-13, atol=1e-10)
        np.testing.assert_allclose(found.tvd[i], tvd, rtol=0, atol=1e-11)
        order = np.lexsort([place, -scores])[:TOP]
        width = min(TOP, num_entities)
        assert found.top_entity[i].tolist() == order.tolist() + [-1] * (TOP - width)
        np.testing.assert_array_equal(found.top_score[i, :width], scores[order])
        assert (found.top_score[i, width:] == -np.inf).all()
        begin, end = answers.indptr[i : i + 2]
        np.testing.assert_array_equal(found.answer_score[begin:end], scores[answers.indices[begin:end]])
    assert (found.tvd >= 0).all() and (found.tvd <= 1).all()
    assert ((found.draws >= 0) & (found.draws < num_entities)).all()


def test_equal_scores_are_no_distance_from_uniform_and_a_far_best_one_nearly_all():
    table = np.zeros((2, RELATIONS, 1, 1500))
    table[1, :, :, 1400] = 1e30
    found = predict(FixedScores(table), questions(1))
    np.testing.assert_allclose(found.tvd[:2], 0, atol=1e-12)
    np.testing.assert_allclose(found.tvd[2:], 1 - 1 / 1500, rtol=1e-12)
    np.testing.assert_array_equal(found.draws[2:], 1400)


@pytest.mark.parametrize("chunk, batch_size", [(TILE, 256), (2 * TILE, 3), (TILE, 1), (None, 5)])
def test_chunks_and_batches_change_no_bit(chunk, batch_size):
    rng = np.random.default_rng(0)
    scorer = FixedScores(rng.normal(size=(2, RELATIONS, 20, 3 * TILE + 77)) * 3)
    asked = questions(20)
    answers = lists(rng, len(asked.side), scorer.num_entities)
    whole = predict(scorer, asked, answers=answers, alpha=0.5)
    found = predict(scorer, asked, answers=answers, alpha=0.5, chunk=chunk, batch_size=batch_size)
    for one, other in zip(whole, found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_question_gets_the_same_whatever_else_is_asked():
    scorer = FixedScores(np.random.default_rng(1).normal(size=(2, RELATIONS, 9, 1300)))
    asked = questions(9)
    whole = predict(scorer, asked)
    some = np.array([30, 2, 17])
    found = predict(scorer, Questions(*(x[some] for x in asked)))
    np.testing.assert_array_equal(found.draws, whole.draws[some])
    np.testing.assert_array_equal(found.log_normaliser, whole.log_normaliser[some])
    assert not np.array_equal(whole.draws[0], whole.draws[1])


def test_another_seed_gives_other_draws():
    scorer = FixedScores(np.random.default_rng(1).normal(size=(2, RELATIONS, 2, 1300)))
    one, other = (predict(scorer, questions(2), seed=seed).draws for seed in (1, 2))
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("alpha", [0.2, 2.0])
def test_draws_follow_the_distribution(alpha):
    """4,000 questions with the same scores over three tiles: 400,000 draws in 22 cells, by a chi-square test."""
    given, num_entities = 1000, 2 * TILE + 300
    scores = np.random.default_rng(4).normal(size=num_entities)
    scores[[0, TILE - 1, TILE, num_entities - 1]] += 4  # the edges of tiles are cells of their own
    scorer = FixedScores(np.tile(scores, (2, RELATIONS, 1, 1)))
    asked = questions(1)
    many = Questions(*(np.repeat(x, given) for x in asked))
    found = predict(scorer, many, keys=np.arange(4 * given), alpha=alpha)
    p = literal(scores.astype(np.float32))[0][ALPHAS.index(alpha)]
    edges = np.unique([0, 1, TILE - 1, TILE, TILE + 1, num_entities - 1, *range(0, num_entities, 128), num_entities])
    cell = np.digitize(found.draws.ravel(), edges) - 1
    counts = np.bincount(cell, minlength=len(edges) - 1)
    expected = np.add.reduceat(p, edges[:-1]) * found.draws.size
    assert chisquare(counts, expected * counts.sum() / expected.sum()).pvalue > 1e-3
    pairs = found.draws[:, 0] == found.draws[:, 1]  # independent: two draws agree as often as Σp²
    assert abs(pairs.mean() - (p**2).sum()) < 4 * math.sqrt((p**2).sum() / len(pairs))


def test_without_an_alpha_the_scores_are_looked_at_once():
    scorer = FixedScores(np.random.default_rng(1).normal(size=(2, RELATIONS, 2, 2500)))
    whole = predict(scorer, questions(2))
    scorer.calls = 0
    found = predict(scorer, questions(2), alpha=None, chunk=TILE)
    assert scorer.calls == 3
    np.testing.assert_array_equal(found.log_normaliser, whole.log_normaliser)
    assert found.tvd.shape == (8, 0) and found.draws.shape == (8, 0)
    assert whole.draws.shape == (8, DRAWS)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_scores_that_are_not_finite_name_their_question(value):
    table = np.zeros((2, RELATIONS, 3, 40))
    table[1, 0, 2, 7] = value
    with pytest.raises(NotFinite) as caught:
        predict(FixedScores(table), questions(3), batch_size=2)
    assert str(caught.value) == "Fixed: the scores of the head question of entity 2, relation 0 are not finite"


def test_progress_is_told_and_a_stop_heard():
    scorer = FixedScores(np.zeros((2, RELATIONS, 3, 40)))
    told: list[tuple[int, int]] = []
    predict(scorer, questions(3), batch_size=5, watch=Watch(lambda *at: told.append(at)))
    assert told == [(5, 12), (10, 12), (12, 12)]
    with pytest.raises(InterruptedError, match="stopped after 0 of 12 questions"):
        predict(scorer, questions(3), watch=Watch(stop=lambda: True))


def test_no_questions_are_an_empty_result():
    found = predict(FixedScores(np.zeros((2, RELATIONS, 1, 40))), questions(0))
    assert found.top_entity.shape == (0, TOP) and found.tvd.shape == (0, len(ALPHAS))
    assert best_alpha(found, Csr(np.zeros(1, np.int64), np.zeros(0, np.int32)), 40) == 1.0


# -- Greedy -----------------------------------------------------------------------------------------------------


def greedy_literal(p: list[float], k: int) -> int:
    """The last index with p ≥ 1/k, and the nearest integer of k·(1 − the sum until there)."""
    last = 0
    for i, value in enumerate(p, 1):
        if value >= 1 / k:
            last = i
    return last + round(k * (1 - math.fsum(p[:last])))


@settings(max_examples=200, deadline=None)
@given(weights=st.lists(st.floats(0, 1), min_size=1, max_size=30), k=st.integers(1, 120), power=st.integers(1, 40))
def test_greedy_sizes_equal_the_definition(weights, k, power):
    p = np.sort((np.array(weights) + 1e-6) ** power)[::-1]
    p = p / p.sum()
    (size,) = greedy_sizes(p[None], k)
    nearest = k * (1 - math.fsum(p[p >= 1 / k]))
    if abs(nearest % 1 - 0.5) > 1e-9:  # halves fall either way with the last bit of the sum
        assert size == greedy_literal(p.tolist(), k)
    assert 1 <= size <= min(k, len(p))


@pytest.mark.parametrize(
    "p, k, size",
    [
        ([0.5, 0.3, 0.2], 10, 3),
        ([1.0, 0.0, 0.0], 10, 1),
        ([0.1] * 10, 10, 10),
        ([0.02] * 50, 20, 20),
        ([0.96, 0.01, 0.01, 0.01, 0.01], 10, 1),
        ([0.84, 0.04, 0.04, 0.04, 0.04], 10, 3),
        ([0.7, 0.3], 1, 1),
        ([1.0], 100, 1),
    ],
)
def test_greedy_sizes_of_known_distributions(p, k, size):
    assert greedy_sizes(np.array([p]), k).tolist() == [size]


def test_greedy_refuses_a_k_below_one():
    with pytest.raises(ValueError, match="k = 0"):
        greedy_sizes(np.ones((1, 1)), 0)


def test_f1_counts_what_is_returned_against_the_answers():
    top = np.array([[4, 2, 0, -1], [1, 3, 5, -1], [0, 1, 2, -1]])
    p = np.array([[0.5, 0.5, 0, 0], [1, 0, 0, 0], [0.4, 0.3, 0.3, 0]])
    answers = Csr(np.array([0, 3, 4, 4]), np.array([0, 2, 3, 2]))
    # question 0 returns 4 and 2, P = 1/2, R = 1/3; question 1 a wrong one; question 2 has no answer
    np.testing.assert_allclose(greedy_f1(top, p, answers, 6, 10), [2 * (1 / 6) / (5 / 6), 0, 0])


def test_the_alpha_that_returns_the_right_number_is_chosen():
    """Two of 400 entities are right, and at the best α the protocol returns just these."""
    table = np.zeros((2, RELATIONS, 3, 400))
    table[..., [7, 300]] = 1.0
    table[..., 20:40] = 0.45
    scorer = FixedScores(table)
    triples = np.array([(h, r, t) for h in range(3) for r in range(RELATIONS) for t in (7, 300)])
    kept, _, _ = questions_of(triples)
    only_tails = Questions(*(x[kept.side == 0] for x in kept))
    answers = answers_csr(only_tails, triples, 400, RELATIONS)
    found = predict(scorer, only_tails, alpha=None)
    mean = []
    for alpha in ALPHAS:
        p = literal(scorer.table[0, 0, 0].numpy())[0][ALPHAS.index(alpha)]
        order = np.argsort(-p, kind="stable")
        size = greedy_literal(p[order].tolist(), 10)
        mean.append(2 * min(size, 2) / (size + 2))
    assert max(mean) == 1 > mean[-4]
    assert best_alpha(found, answers, 400) == ALPHAS[int(np.argmax(mean))]
