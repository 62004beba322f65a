"""AttE's scores are squared distances to what rotation, reflection, attention and translation make of the head."""

from math import cos, exp, sin, sqrt

import pytest
import torch

from pooling.systems import get_model, resolve_settings
from tests.pooling.systems.literal import assert_scores, random_model


def times(matrix, x, y):
    (a, b), (c, d) = matrix
    return [a * x + b * y, c * x + d * y]


def formula(v, h, r, t):
    head, tail, size = v["entity"][h], v["entity"][t], len(v["entity"][h])
    turned, mirrored = [], []
    for i in range(size // 2):
        a, b = v["rotation"][r][i], v["reflection"][r][i]
        x, y = head[2 * i : 2 * i + 2]
        turned += times([[cos(a), -sin(a)], [sin(a), cos(a)]], x, y)
        mirrored += times([[cos(b), sin(b)], [sin(b), -cos(b)]], x, y)
    first, second = (
        exp(sum(a * c for a, c in zip(v["attention"][r], q, strict=True)) / sqrt(size)) for q in (turned, mirrored)
    )
    distance = sum(
        ((first * x + second * y) / (first + second) + shift - z) ** 2
        for x, y, shift, z in zip(turned, mirrored, v["translation"][r], tail, strict=True)
    )
    return -distance + v["head_bias"][h] + v["tail_bias"][t]


def test_scores_literal():
    assert_scores("atte", random_model("atte", spread=1.0), formula)


@pytest.mark.parametrize(("name", "moves"), [("atte", ["translation"]), ("roth", ["before", "after"])])
def test_factors_vectors(name, moves):
    model = random_model(name)
    factors = get_model(name).factors(model, *(torch.tensor([i]) for i in (4, 3, 5)))
    v = model.vectors
    expected = [v["entity"][4], *(v[move][3] for move in moves), v["entity"][5]]
    assert torch.equal(torch.cat(factors), torch.stack(expected))


@pytest.mark.parametrize("name", ["atte", "roth"])
def test_settings_odd_dimension_refused(name):
    with pytest.raises(ValueError, match=r"embedding_dim is 63: (AttE|RotH) needs an even number"):
        resolve_settings(name, 10, 10, {"embedding_dim": 63})


@pytest.mark.parametrize("name", ["atte", "roth", "hake", "protate"])
def test_settings_dropout_refused(name):
    with pytest.raises(ValueError, match=r"dropout is 0.2: \w+ drops nothing, leave it at 0"):
        resolve_settings(name, 10, 10, {"dropout": 0.2})
