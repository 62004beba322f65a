"""Scores by a slow formula, triple by triple in Python's doubles, against those that training and ranking use."""

import numpy as np
import torch

from pooling.learning.batches import scores_of
from pooling.questions.kernel import HEAD, TAIL
from pooling.scoring.forms import form_of
from pooling.scoring.scorer import Scorer, build_model
from pooling.systems import get_model, resolve_settings

ENTITIES, RELATIONS = 7, 2


def random_model(name, *, spread=0.5, **overrides):
    """A small model of system `name` whose weights are normal with deviation `spread`, so that all of them matter."""
    settings = resolve_settings(name, ENTITIES, 10, {"embedding_dim": 8, **overrides})
    model = build_model(get_model(name), ENTITIES, RELATIONS, settings, seed=0)
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for weights in model.parameters():
            weights.copy_(torch.randn(weights.shape, generator=generator) * spread)
    return model.eval()


def assert_scores(name, model, formula):
    """All scores of both sides are `formula(weights, h, r, t)`, r inverse-aware, in ranking and in training.

    `weights` are the model's tensors as lists of floats. Within 1e-4 of each score, or 1e-5 of the largest: where a
    score is a difference of large numbers, such as a distance near zero, single precision holds no more.
    """
    spec = get_model(name)
    weights = {key: value.detach().double().tolist() for key, value in (*model.vectors.items(), *model.others.items())}
    entity = np.repeat(np.arange(ENTITIES), RELATIONS)
    relation = np.tile(np.arange(RELATIONS), ENTITIES)
    scorer = Scorer(spec, model)
    for side in (TAIL, HEAD):
        asked = 2 * relation + side
        expected = np.array(
            [[formula(weights, h, r, t) for t in range(ENTITIES)] for h, r in zip(entity, asked, strict=True)]
        )
        tolerance = {"rtol": 1e-4, "atol": 1e-5 * np.abs(expected).max()}
        ranking = scorer.scores(np.full(len(entity), side), entity, relation)
        np.testing.assert_allclose(ranking, expected, **tolerance)
        query = spec.query(model, torch.tensor(entity), torch.tensor(asked))
        np.testing.assert_allclose(scores_of(spec, model)(query, None).detach(), expected, **tolerance)
        features, bias = spec.features(model)
        own = torch.arange(ENTITIES).expand(len(entity), -1).flip(1)
        pairs = form_of(spec).pairs(query, features[own], None if bias is None else bias[own])
        np.testing.assert_allclose(pairs.detach(), expected[:, ::-1], **tolerance)
