"""Settings that do not go together are refused, and rows that lack some mean what they meant."""

import pytest

from pooling.systems import resolve_settings
from pooling.systems.spec import COMMON_SETTINGS, LARGE, NEUTRAL, SMALL, common_settings


def test_presets_give_every_common_setting():
    assert set(SMALL) == set(LARGE) == set(COMMON_SETTINGS)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"num_negatives": 0}, "loss=self-adversarial with num_negatives=0: .* set num_negatives to 1 or more"),
        ({"num_negatives": 9, "smoothing": 0.1}, "loss=self-adversarial with smoothing=0.1: .* set smoothing to 0"),
    ],
)
def test_resolve_settings_that_do_not_go_together_are_refused(overrides, message):
    with pytest.raises(ValueError, match=message):
        resolve_settings("transe", 10, 10, {"loss": "self-adversarial", **overrides})


@pytest.mark.parametrize("key", ["num_negatives", "dropout"])
def test_a_number_with_an_underscore_is_refused(key):
    with pytest.raises(ValueError, match=f"setting {key}=0_0: must be a"):
        resolve_settings("transe", 10, 10, {key: "0_0"})


def test_resolve_settings_self_adversarial():
    settings = resolve_settings("transe", 10, 10, {"loss": "self-adversarial", "num_negatives": "9"})
    assert (settings["loss"], settings["num_negatives"], settings["margin"]) == ("self-adversarial", 9, 9.0)


def test_common_settings_older_row_has_neutral_ones():
    older = {key: value for key, value in SMALL.items() if key not in NEUTRAL}
    assert common_settings(older) == SMALL
    assert common_settings({**older, "loss": "bce"})["loss"] == "bce"
