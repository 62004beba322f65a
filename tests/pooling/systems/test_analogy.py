"""ANALOGY's scores are products of real and of complex numbers, and those of PyKEEN's block form."""

import pytest
import torch

from pooling.scoring.scorer import Scorer
from pooling.systems import get_model, resolve_settings
from tests.pooling.systems.literal import ENTITIES, assert_scores, random_model

# (head, relation, tail, sign) of the blocks: real numbers twice, then the four products of ComplEx
BLOCKS = [(0, 0, 0, 1), (1, 1, 1, 1), (2, 2, 2, 1), (2, 3, 3, 1), (3, 2, 3, 1), (3, 3, 2, -1)]


def formula(v, h, r, t):
    h, r, t = v["entity"][h], v["relation"][r], v["entity"][t]
    half, quarter = len(h) // 2, len(h) // 4
    score = sum(h[i] * r[i] * t[i] for i in range(half))
    for i in range(half, half + quarter):
        h_c, r_c, t_c = (complex(x[i], x[i + quarter]) for x in (h, r, t))
        score += (h_c * r_c * t_c.conjugate()).real
    return score


def test_scores_literal():
    assert_scores("analogy", random_model("analogy"), formula)


@torch.no_grad()
def test_scores_equal_pykeen_blocks():
    from pykeen.nn.modules import AutoSFInteraction

    model, spec = random_model("analogy"), get_model("analogy")
    interaction = AutoSFInteraction(BLOCKS)
    everybody = torch.arange(ENTITIES)
    h = model.vectors["entity"][:, None, :].chunk(4, -1)
    r = model.vectors["relation"][1].chunk(4, -1)
    t = model.vectors["entity"][None].chunk(4, -1)
    zero = torch.zeros_like(everybody)
    scores = Scorer(spec, model).scores(zero + 1, everybody, zero)  # relation 0 backwards: number 1
    torch.testing.assert_close(scores, interaction(h, r, t), rtol=1e-4, atol=1e-5)


def test_factors_moduli():
    model = random_model("analogy")
    factors = get_model("analogy").factors(model, *(torch.tensor([i]) for i in (4, 3, 5)))
    vectors = [model.vectors["entity"][4], model.vectors["relation"][3], model.vectors["entity"][5]]
    for real, complex_, vector in zip(factors[::2], factors[1::2], vectors, strict=True):
        torch.testing.assert_close(real[0], vector[:4])
        torch.testing.assert_close(complex_[0].abs(), (vector[4:6] ** 2 + vector[6:] ** 2).sqrt())


def test_settings_dimension_refused():
    with pytest.raises(ValueError, match="embedding_dim is 62: ANALOGY needs a multiple of 4"):
        resolve_settings("analogy", 10, 10, {"embedding_dim": 62})
