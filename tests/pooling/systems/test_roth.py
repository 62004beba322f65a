"""RotH's scores are hyperbolic distances, by the law of cosines as by the formulas of the Poincaré ball."""

from math import acosh, cos, exp, log1p, sin, sqrt, tanh

import numpy as np
import pytest
import torch

from pooling.scoring.forms import form_of
from pooling.systems import get_model
from pooling.systems.roth import EDGE
from tests.pooling.systems.literal import ENTITIES, RELATIONS, assert_scores, random_model


def dot(x, y):
    return sum(a * b for a, b in zip(x, y, strict=True))


def to_ball(v, c, edge=1.0):
    length = sqrt(c * dot(v, v))
    return [x * min(tanh(length), edge) / length for x in v]


def inside(x, c):
    length = sqrt(c * dot(x, x))
    return [a * min(EDGE / length, 1) for a in x]


def add(x, y, c):
    xy, x2, y2 = dot(x, y), dot(x, x), dot(y, y)
    below = 1 + 2 * c * xy + c * c * x2 * y2
    return [((1 + 2 * c * xy + c * y2) * a + (1 - c * x2) * b) / below for a, b in zip(x, y, strict=True)]


def distance(x, y, c):
    apart = [a - b for a, b in zip(x, y, strict=True)]
    return acosh(1 + 2 * c * dot(apart, apart) / ((1 - c * dot(x, x)) * (1 - c * dot(y, y)))) / sqrt(c)


def formula(v, h, r, t):
    c = log1p(exp(v["curvature"][r]))
    moved = add(to_ball(v["entity"][h], c, EDGE), to_ball(v["before"][r], c, EDGE), c)
    turned = []
    for i, a in enumerate(v["rotation"][r]):
        x, y = moved[2 * i : 2 * i + 2]
        turned += [cos(a) * x - sin(a) * y, sin(a) * x + cos(a) * y]
    q = inside(add(turned, to_ball(v["after"][r], c, EDGE), c), c)
    d = distance(q, to_ball(v["entity"][t], c), c)
    return -d * d + v["head_bias"][h] + v["tail_bias"][t]


@pytest.mark.parametrize("spread", [0.01, 0.5, 1.0])  # near the centre, midway, at the edge
def test_scores_literal(spread):
    assert_scores("roth", random_model("roth", spread=spread), formula)


def test_scores_of_coinciding_points():
    model = random_model("roth", spread=0.3)
    for name in ("before", "after", "rotation", "head_bias", "tail_bias"):
        model.vectors[name].data.zero_()  # q = h
    spec = get_model("roth")
    ids = torch.arange(ENTITIES)
    query = spec.query(model, ids, torch.zeros_like(ids))
    scores = form_of(spec).columns(query, *spec.features(model))
    torch.testing.assert_close(scores.diag(), torch.zeros(ENTITIES), rtol=0, atol=1e-5)
    scores.diag().sum().backward()
    assert all(torch.isfinite(x.grad).all() for x in model.vectors.values() if x.grad is not None)


def test_ranking_scores_of_parts_equal_whole(monkeypatch):
    import pooling.systems.roth as roth

    spec, model = get_model("roth"), random_model("roth")
    entity, relation = torch.arange(ENTITIES), torch.arange(ENTITIES) % (2 * RELATIONS)
    with torch.no_grad():
        query, (features, bias) = spec.query(model, entity, relation), spec.features(model)
        whole = form_of(spec).columns(query, features, bias)
        monkeypatch.setattr(roth, "BLOCK_FLOATS", 2 * ENTITIES)
        np.testing.assert_array_equal(form_of(spec).columns(query, features, bias), whole)
