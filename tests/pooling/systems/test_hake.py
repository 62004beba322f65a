"""HAKE's scores are a distance of moduli and a distance of phases, coordinate by coordinate."""

from math import sin, sqrt

import pytest

from pooling.systems import resolve_settings
from tests.pooling.systems.literal import assert_scores, random_model


def formula(v, h, r, t):
    of_modulus, of_phase = v["weights"]
    phases = zip(v["entity_phase"][h], v["relation_phase"][r], v["entity_phase"][t], strict=True)
    total = 0.0
    for h_m, r_m, bias, t_m in zip(
        v["entity_modulus"][h], v["relation_modulus"][r], v["relation_bias"][r], v["entity_modulus"][t], strict=True
    ):
        r_m = abs(r_m)
        mixed = min(bias, 1.0) if bias >= -r_m else -r_m
        total += (h_m * r_m + (h_m + t_m) * mixed - t_m) ** 2  # the paper's first form
    return -of_modulus * sqrt(total) - of_phase * sum(abs(sin((a + b - c) / 2)) for a, b, c in phases)


def test_scores_literal():
    model = random_model("hake", spread=1.5)
    bias, modulus = model.vectors["relation_bias"], model.vectors["relation_modulus"].abs()
    assert (bias > 1).any() and (bias < -modulus).any()  # both limits are met
    model.others["weights"].data.copy_(model.others["weights"].abs())
    assert_scores("hake", model, formula)


@pytest.mark.parametrize("key", ["n3", "l2"])
def test_settings_penalty_refused(key):
    with pytest.raises(ValueError, match=f"{key} is 0.1: HAKE has no vectors to keep small, leave it at 0"):
        resolve_settings("hake", 10, 10, {key: 0.1})
