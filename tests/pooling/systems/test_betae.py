"""BetaE's scores are Kullback-Leibler divergences of beta distributions, one coordinate after the other."""

from math import exp, lgamma, log1p

import numpy as np
import pytest
import torch

from pooling.systems import get_model, resolve_settings
from pooling.systems.betae import LEAST
from tests.pooling.systems.literal import assert_scores, random_model


def parameters(raw):
    """(α, β) of each coordinate, from a row of raw numbers."""
    positive = [log1p(exp(x)) + LEAST for x in raw]
    half = len(raw) // 2
    return list(zip(positive[:half], positive[half:], strict=True))


def divergence(p, q, step=1e-4):
    """KL(Beta(p) ‖ Beta(q)): digamma is the slope of log Γ, here by central differences."""
    digamma = [(lgamma(x + step) - lgamma(x - step)) / (2 * step) for x in (*p, sum(p))]
    norm_p, norm_q = (lgamma(a) + lgamma(b) - lgamma(a + b) for a, b in (p, q))
    drift = sum((x - y) * (slope - digamma[2]) for x, y, slope in zip(p, q, digamma[:2], strict=True))
    return norm_q - norm_p + drift


def test_scores_literal():
    model = random_model("betae", hidden=6)
    layers = [
        (layer.weight.tolist(), layer.bias.tolist()) for layer in model.nets["projection"] if hasattr(layer, "weight")
    ]
    assert len(layers) == 3

    def formula(v, h, r, t):
        read = [x for side in zip(*parameters(v["entity"][h]), strict=True) for x in side] + v["relation"][r]
        for i, (matrix, bias) in enumerate(layers):
            read = [sum(w * x for w, x in zip(row, read, strict=True)) + b for row, b in zip(matrix, bias, strict=True)]
            if i + 1 < len(layers):
                read = [max(x, 0.0) for x in read]
        pairs = zip(parameters(v["entity"][t]), parameters(read), strict=True)
        return -sum(divergence(p, q) for p, q in pairs)

    assert_scores("betae", model, formula)


def test_divergence_is_the_integral():
    """The oracle above, checked by its definition: ∫ p log(p / q)."""
    p, q = (2.5, 1.7), (1.3, 3.1)
    x = (np.arange(200_000) + 0.5) / 200_000

    def log_density(a, b):
        return (a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - (lgamma(a) + lgamma(b) - lgamma(a + b))

    integral = (np.exp(log_density(*p)) * (log_density(*p) - log_density(*q))).mean()
    np.testing.assert_allclose(divergence(p, q), integral, rtol=1e-5)


@pytest.mark.parametrize("raw", [-60.0, 3.0, 200.0])
def test_scores_extreme_parameters_finite(raw):
    model, spec = random_model("betae", hidden=6), get_model("betae")
    with torch.no_grad():
        model.vectors["entity"][3] = raw
    query = spec.query(model, torch.tensor([3, 2]), torch.tensor([0, 1]))
    features, bias = spec.features(model)
    scores = query @ features.T + bias
    scores.sum().backward()
    assert torch.isfinite(scores).all()
    assert torch.isfinite(model.vectors["entity"].grad).all()


def test_settings_dropout_refused():
    with pytest.raises(ValueError, match=r"dropout is 0.2: BetaE"):
        resolve_settings("betae", 10, 10, {"dropout": 0.2})
