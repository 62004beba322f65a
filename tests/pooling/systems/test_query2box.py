"""Query2Box's scores are distances to a box from its corners, coordinate by coordinate."""

import pytest
import torch

from pooling.systems import get_model, resolve_settings
from pooling.systems.query2box import INSIDE
from tests.pooling.systems.literal import assert_scores, random_model


def formula(v, h, r, t):
    score = 0.0
    for a, move, width, b in zip(v["entity"][h], v["center"][r], v["offset"][r], v["entity"][t], strict=True):
        low, high = a + move - abs(width), a + move + abs(width)
        nearest = min(high, max(low, b))  # in the box, to the tail
        score -= max(b - high, 0) + max(low - b, 0) + INSIDE * abs(a + move - nearest)
    return score


def test_scores_literal():
    assert_scores("query2box", random_model("query2box"), formula)


def test_compare_inside_and_outside():
    model, compare = random_model("query2box"), get_model("query2box").compare
    with torch.no_grad():
        for values in model.vectors.values():
            values.zero_()
        model.vectors["offset"][:, 0] = -2.0  # two wide in one coordinate, a point in the others
    query = get_model("query2box").query(model, torch.tensor([0]), torch.tensor([1]))
    tails = torch.zeros(4, 8)
    tails[1, 0], tails[2, 0], tails[3, 1] = 1.0, -5.0, 0.5
    expected = torch.tensor([[0.0, -INSIDE, -3 - 2 * INSIDE, -0.5]])
    torch.testing.assert_close(compare(query[:, None], tails[None]), expected)


def test_factors_point_center_offset_answer():
    model = random_model("query2box")
    v = model.vectors
    found = get_model("query2box").factors(model, torch.tensor([4]), torch.tensor([3]), torch.tensor([5]))
    for factor, expected in zip(found, (v["entity"][4], v["center"][3], v["offset"][3], v["entity"][5]), strict=True):
        assert torch.equal(factor[0], expected)


def test_settings_dropout_refused():
    with pytest.raises(ValueError, match=r"dropout is 0.2: Query2Box"):
        resolve_settings("query2box", 10, 10, {"dropout": 0.2})
