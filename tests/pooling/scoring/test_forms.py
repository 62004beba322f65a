"""Forms against their definitions, with and without a buffer."""

import pytest
import torch

from pooling.scoring.forms import Euclidean


@pytest.mark.parametrize("biased", [False, True])
def test_euclidean_equals_definition_with_and_without_buffer(biased):
    generator = torch.Generator().manual_seed(0)
    features, query = torch.randn(9, 5, generator=generator), torch.randn(4, 5, generator=generator)
    bias = torch.randn(9, generator=generator) if biased else None
    expected = -(query[:, None] - features).norm(dim=2) + (0 if bias is None else bias)
    form, out = Euclidean(), torch.full((4, 9), torch.nan)
    written = form.columns(query, features, bias, form.prepare(features), out)
    assert written is out
    for scores in (out, form.columns(query, features, bias), form.pairs(query, features.expand(4, 9, 5), bias)):
        torch.testing.assert_close(scores, expected)


def test_euclidean_of_equal_vectors_is_near_zero_and_finite():
    """Rounding makes about half of these squares negative."""
    features = 100 * torch.randn(64, 256, generator=torch.Generator().manual_seed(0))
    scores = Euclidean().columns(features, features, None, None, torch.empty(64, 64)).diagonal()
    assert ((scores <= 0) & (scores > -10)).all()  # of lengths of 1,600
    assert (scores == 0).any()
