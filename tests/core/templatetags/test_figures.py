from __future__ import annotations

import pytest

from core.templatetags.figures import places, share, signed, units


@pytest.mark.parametrize(("value", "written"), [(1234, "+1,234"), (-674, "−674"), (0, "0"), (-1234, "−1,234")])
def test_a_difference_has_its_sign(value: int, written: str):
    assert signed(value) == written


@pytest.mark.parametrize(("value", "written"), [(-0.0625, "−0.062"), (0.5, "0.500"), (-0.0001, "0.000"), (None, "–")])
def test_a_number_below_zero_has_a_true_minus(value: float | None, written: str):
    assert places(value, 3) == written


def test_a_number_keeps_its_percent_sign_on_its_line():
    assert share(1, 3) == units("33.3 %") == "33.3\u00a0%"
    assert units("a 1-1 or N-1 relation, 21-1") == "a 1\u20111 or N\u20111 relation, 21-1"
    assert units("a % of <b>") == "a\u00a0% of <b>"
    assert share(1, 0) == share(None, 3) == "–"
