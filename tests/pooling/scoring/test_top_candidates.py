"""The best entities by threshold and key against sorting all of them."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pooling.scoring import top_candidates
from pooling.scoring.top_candidates import TopCandidates


@given(
    st.integers(1, 4),
    st.integers(1, 200),
    st.integers(1, 30),
    st.integers(1, 60),
    st.sampled_from([2, 1000]),
    st.sampled_from([0.0, 0.2, 1.0]),
    st.integers(0, 1000),
)
@settings(max_examples=100)
def test_top_in_pieces_equals_sorting(rows, entities, k, piece, values, masked, seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-values, values, (rows, entities)).astype(np.float32) / 8
    scores[rng.random(scores.shape) < masked] = -np.inf
    order = rng.permutation(entities)
    place = np.argsort(order)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(top_candidates, "PIECE", piece)
        best = TopCandidates(rows, k, torch.from_numpy(place))
        half = entities // 2
        best.add(torch.from_numpy(scores[:, half:]), half)  # chunks in any order
        best.add(torch.from_numpy(scores[:, :half]), 0)
    found, value = best.result(order)
    for row, entity, score in zip(scores, found, value, strict=True):
        candidates = [e for e in np.lexsort((place, -row)).tolist() if row[e] > -np.inf][:k]
        assert entity.tolist() == candidates + [-1] * (k - len(candidates))
        assert score.tolist() == [row[e] for e in candidates] + [-np.inf] * (k - len(candidates))


def test_top_zero_and_minus_zero_tie():
    best = TopCandidates(1, 3, torch.tensor([2, 1, 0]))
    best.add(torch.tensor([[0.0, -0.0, 0.0]]), 0)
    entity, _ = best.result(np.array([2, 1, 0]))
    assert entity.tolist() == [[2, 1, 0]]


@pytest.mark.parametrize("seed", range(5))
def test_larger_keys_of_a_row_are_counted_as_by_a_loop(seed):
    rng = np.random.default_rng(seed)
    rows, width, most = 6, 4, 5
    keys = rng.permutation(100 * rows * (width + most)).astype(np.int64) - 500
    best = np.sort(keys[: rows * width].reshape(rows, width))[:, ::-1].copy()
    best[1, 2:] = top_candidates.NONE  # fewer candidates than the list has places
    row = np.repeat(np.arange(rows), [3, 0, most, 1, 0, 2])
    key = keys[rows * width :][: len(row)]
    expected = [[(key[row == i] > one).sum() for one in best[i]] for i in range(rows)]
    found = top_candidates._better(*(torch.from_numpy(x) for x in (key, row, best)))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("width", [1, 15, 16, 37, 100])
def test_scores_that_reach_a_threshold_are_found_by_groups_as_by_one_look(width):
    scores = torch.from_numpy(np.random.default_rng(width).integers(0, 6, (7, width)).astype(np.float32))
    threshold = torch.tensor([0.0, 1, 3, 5, 6, 2, 4])[:, None]
    found = top_candidates._at_least_by_groups(scores, threshold)
    expected = set(zip(*(x.tolist() for x in torch.nonzero(scores >= threshold, as_tuple=True)), strict=True))
    assert set(zip(*(x.tolist() for x in found), strict=True)) == expected and len(found[0]) == len(expected)
    assert (found[0].diff() >= 0).all()
