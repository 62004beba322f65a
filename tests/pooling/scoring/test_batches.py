"""Compiled loops against torch: the same ranks, candidates and positions, whatever the scores and the chunks."""

import numpy as np
import pytest
import torch

from pooling.scoring import batches, row_loops, top_candidates
from pooling.scoring.batches import Listed, LoopBatch, TorchBatch, batch_class
from pooling.scoring.row_loops import ROOM

ROWS = 9


def drawn_lists(rng, entities: int, most: int) -> list[list[int]]:
    return [sorted(rng.choice(entities, rng.integers(0, most + 1), replace=False).tolist()) for _ in range(ROWS)]


def listed(lists) -> Listed:
    row = np.repeat(np.arange(ROWS), [len(x) for x in lists])
    return Listed(row, np.array([e for x in lists for e in x], np.int64))


def found_by(kind, scores: np.ndarray, wanted, masked, known, order: np.ndarray, k: int, chunk: int):
    """Return the counts, and the best candidates unless k is 0, of the scores [B, E] taken in by chunks."""
    width = scores.shape[1]
    buffer = torch.full((ROWS, min(chunk, width) + 3), torch.nan)
    own = torch.from_numpy(scores[wanted.row, wanted.entity])
    place = torch.from_numpy(np.argsort(order))
    batch = kind(buffer, wanted, masked, known, own if chunk < width else None, place, k)
    for first in range(0, width, chunk):
        part = torch.from_numpy(scores[:, first : first + chunk])
        view = buffer[:, : part.shape[1]]
        assert not len(batch.add(view.copy_(part), first))
    return [*batch.counts(), *(batch.best(order) if k else ())]


@pytest.mark.parametrize(
    ("entities", "k"), [(40, 12), (700, 10), (6_000, 100), (6_000, 3), (1_000, 100), (300, 0), (50, 50)]
)
@pytest.mark.parametrize("values", [1, 3, 100, 1 << 20])
@pytest.mark.parametrize("parts", [1, 3])
def test_loops_find_what_torch_finds(entities: int, k: int, values: int, parts: int):
    rng = np.random.default_rng(entities + k + values)
    scores = rng.integers(-values, values + 1, (ROWS, entities)).astype(np.float32) / 8
    scores[scores == 0] *= rng.choice([-1, 1], (scores == 0).sum())  # zeros of both signs
    order, chunk = rng.permutation(entities), -(-entities // parts)
    wanted = drawn_lists(rng, entities, 6)
    masked = [sorted(set(x) - set(w)) for x, w in zip(drawn_lists(rng, entities, 20), wanted, strict=True)]
    masked[1] = sorted(set(range(entities)) - set(wanted[1]))  # no candidate but the wanted
    known = [sorted({*m, *w[: len(w) // 2]}) for m, w in zip(masked, wanted, strict=True)]
    lists = listed(wanted), listed(masked), listed(known)
    assert any(wanted) and len(lists[2].row) > len(lists[1].row)
    by_torch, by_loops = (found_by(kind, scores, *lists, order, k, chunk) for kind in (TorchBatch, LoopBatch))
    assert len(by_loops) == (6 if k else 3)
    for loops, expected in zip(by_loops, by_torch, strict=True):
        np.testing.assert_array_equal(loops, expected)


def test_more_equal_scores_than_are_held_at_once():
    entities, k = 5 * (ROOM + 100), 100
    scores, nothing = np.full((ROWS, entities), -1.5, np.float32), listed([[]] * ROWS)
    order = np.random.default_rng(1).permutation(entities)
    _, _, _, entity, score, raw = found_by(LoopBatch, scores, nothing, nothing, nothing, order, k, entities)
    assert entity.tolist() == [order[:k].tolist()] * ROWS
    assert (score == -1.5).all() and raw.tolist() == [list(range(1, k + 1))] * ROWS


@pytest.mark.parametrize("kind", [TorchBatch, LoopBatch])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_rows_with_a_score_that_is_not_finite_are_returned(kind, value: float):
    scores, nothing = torch.full((ROWS, 500), 3e38), listed([[]] * ROWS)
    scores[[2, 7], [499, 0]] = value
    batch = kind(scores, nothing, nothing, nothing, None, torch.arange(500), 10)
    assert batch.add(scores, 0).tolist() == [2, 7]


def test_loops_take_many_scores_on_a_cpu(monkeypatch):
    cpu, many = torch.device("cpu"), batches.LEAST_SCORES
    assert batch_class(cpu, many // 8, 8) is LoopBatch
    assert batch_class(cpu, many // 8 - 1, 8) is TorchBatch
    assert batch_class(torch.device("cuda"), many, 8) is TorchBatch
    monkeypatch.setattr(batches, "find_spec", lambda name: None)
    assert batch_class(cpu, many, 8) is TorchBatch


def test_loops_are_compiled_anew_where_no_folder_can_be_written(monkeypatch):
    asked = []

    def njit(**options):
        asked.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr(row_loops, "njit", njit)
    assert row_loops._compiled(len) is len
    assert [options.pop("cache", False) for options in asked] == [True, False] and asked[0] == asked[1] != {}


def test_loops_and_torch_make_the_same_keys():
    assert (row_loops.LAST, row_loops.NONE) == (top_candidates.LAST, top_candidates.NONE)
