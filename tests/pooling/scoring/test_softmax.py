"""Where a number in [0, 1) falls among masses, at the edges that random draws do not meet."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pooling.scoring.softmax import _split

LAST = float(np.nextafter(1, 0))  # the greatest number below 1


@pytest.mark.parametrize(
    "mass, uniform, place",
    [
        ([0.1, 0.2, 0.0], LAST, 1),
        ([0.1, 0.2, 0.0], 1.0, 1),  # what is left of a number may round up to 1
        ([1e-300, 0.0], LAST, 0),
        ([0.0, 0.0, 3.0], 0.0, 2),
        ([1.0, 1.0], 0.5, 1),
        ([1.0], LAST, 0),
    ],
)
def test_a_mass_of_zero_is_never_hit(mass, uniform, place):
    found, rest = _split(torch.tensor([mass], dtype=torch.float64), torch.tensor([[uniform]], dtype=torch.float64))
    assert found.tolist() == [[place]]
    assert 0 <= rest.item() <= 1
