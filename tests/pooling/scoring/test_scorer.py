"""Scores by tiles: the same bits whatever else is asked, for every form; and what a model is built from."""

import numpy as np
import pytest
import torch

from pooling.questions.kernel import Csr, Questions
from pooling.scoring.ranking import score_questions
from pooling.scoring.scorer import HEIGHT, TILE, Scorer, build_model
from pooling.systems import get_model, resolve_settings

ENTITIES, RELATIONS = 2 * TILE + 77, 2
# one system of each form: dot, euclidean, link, pointwise, model
FORMS = ["distmult", "transe", "roth", "transe-l1", "pykeen:PairRE"]


def scorer_of(name):
    settings = resolve_settings(name, ENTITIES, 10, {"embedding_dim": 8})
    triples = np.array([[0, 0, 1], [1, 1, 2]])
    model = build_model(get_model(name), ENTITIES, RELATIONS, settings, seed=1, train=triples)
    return Scorer(get_model(name), model)


def asked(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, n), rng.integers(0, ENTITIES, n), rng.integers(0, RELATIONS, n)


@pytest.mark.parametrize("name", FORMS)
def test_scores_same_bits_whatever_else_is_asked(name):
    scorer, many = scorer_of(name), asked(HEIGHT + 40)
    every = scorer.scores(*many)
    np.testing.assert_array_equal(scorer.scores(*(x[:3] for x in many)), every[:3])
    part = scorer.in_order(np.arange(TILE, ENTITIES))(*many)
    np.testing.assert_array_equal(part, every[:, TILE:])
    some = np.random.default_rng(1).permutation(ENTITIES)[:100]
    np.testing.assert_allclose(scorer.in_order(some)(*many), every[:, some], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", FORMS)
def test_scores_into_wider_buffer_same_bits(name):
    scorer, many = scorer_of(name), asked(5)
    buffer = torch.full((7, ENTITIES + 9), torch.nan)
    out = scorer.scores(*many, out=buffer[:5, :ENTITIES])
    np.testing.assert_array_equal(out, scorer.scores(*many))
    assert buffer[:, ENTITIES:].isnan().all() and buffer[5:].isnan().all()


@pytest.mark.parametrize("name", FORMS)
def test_chunked_equals_unchunked_bit_for_bit(name):
    side, entity, relation = asked(HEIGHT + 10)
    questions = Questions(side.astype(np.int8), entity.astype(np.int32), relation.astype(np.int32))
    rng = np.random.default_rng(2)
    lists = [np.sort(rng.choice(ENTITIES, 6, replace=False)) for _ in side]
    mask, wanted = (
        Csr(np.arange(len(side) + 1) * 3, np.concatenate([x[part] for x in lists]).astype(np.int32))
        for part in (slice(0, 3), slice(3, 6))
    )
    kwargs = {"masked": mask, "top_masked": wanted, "wanted": wanted, "top_k": 10, "seed": 0}
    scorer = scorer_of(name)
    whole = score_questions(scorer, questions, **kwargs)
    assert len(np.unique(whole.strict)) > 300  # ranks of all heights
    for chunk in (TILE, 2 * TILE):
        for a, b in zip(score_questions(scorer, questions, chunk=chunk, **kwargs), whole, strict=True):
            np.testing.assert_array_equal(a, b)


def test_build_model_that_reads_triples_without_them_is_error():
    settings = resolve_settings("pykeen:CompGCN", 5, 10, {"embedding_dim": 4})
    with pytest.raises(ValueError, match="pykeen:CompGCN reads the training triples: give them as train"):
        build_model(get_model("pykeen:CompGCN"), 5, 2, settings, seed=0)
