"""pRotatE's scores are sums of sines of angles, one by one."""

from math import sin

import pytest

from pooling.systems import resolve_settings
from tests.pooling.systems.literal import assert_scores, random_model


def formula(v, h, r, t):
    angles = zip(v["entity"][h], v["relation"][r], v["entity"][t], strict=True)
    return -v["modulus"][0] * sum(abs(sin(a + b - c)) for a, b, c in angles)


def test_scores_literal():
    model = random_model("protate", spread=2.0)
    model.others["modulus"].data.fill_(0.7)
    assert_scores("protate", model, formula)


@pytest.mark.parametrize("key", ["n3", "l2"])
def test_settings_penalty_refused(key):
    with pytest.raises(ValueError, match=f"{key} is 0.1: pRotatE has no vectors to keep small, leave it at 0"):
        resolve_settings("protate", 10, 10, {key: 0.1})
