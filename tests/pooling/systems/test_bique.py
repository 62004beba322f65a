"""BiQUE's scores come from the table of products of i, j, k and of a root of −1 that commutes with them."""

import pytest
import torch

from pooling.systems import get_model, resolve_settings
from tests.pooling.systems.literal import assert_scores, random_model

# Product of two of 1, i, j, k: (sign, which)
UNITS = [
    [(1, 0), (1, 1), (1, 2), (1, 3)],
    [(1, 1), (-1, 0), (1, 3), (-1, 2)],
    [(1, 2), (-1, 3), (-1, 0), (1, 1)],
    [(1, 3), (1, 2), (-1, 1), (-1, 0)],
]


def product(a, b):
    """Of 8 reals each: unit 2u + s is the u-th of 1, i, j, k, times the commuting root if s is 1."""
    result = [0.0] * 8
    for m in range(8):
        for n in range(8):
            sign, unit = UNITS[m // 2][n // 2]
            if m % 2 and n % 2:
                sign = -sign
            result[2 * unit + (m + n) % 2] += sign * a[m] * b[n]
    return result


def formula(v, h, r, t):
    moved = [a + b for a, b in zip(v["entity"][h], v["shift"][r], strict=True)]
    score = 0.0
    for i in range(0, len(moved), 8):
        turned = product(moved[i : i + 8], v["factor"][r][i : i + 8])
        score += sum(a * b for a, b in zip(turned, v["entity"][t][i : i + 8], strict=True))
    return score


def test_scores_literal():
    assert_scores("bique", random_model("bique", embedding_dim=16), formula)


def test_factors_lengths():
    model = random_model("bique", embedding_dim=16)
    factors = get_model("bique").factors(model, *(torch.tensor([i]) for i in (4, 3, 5)))
    v = model.vectors
    for found, vector in zip(factors, (v["entity"][4], v["shift"][3], v["factor"][3], v["entity"][5]), strict=True):
        torch.testing.assert_close(found[0], torch.stack([vector[:8].norm(), vector[8:].norm()]))


def test_settings_dimension_refused():
    with pytest.raises(ValueError, match="embedding_dim is 60: BiQUE needs a multiple of 8"):
        resolve_settings("bique", 10, 10, {"embedding_dim": 60})
