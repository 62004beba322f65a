"""Ranked lists of many questions at once are those of merge_candidates, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from pooling.domain.trec import merge_candidates
from pooling.kernels.merged import merge


@pytest.mark.parametrize("seed", range(20))
def test_drawn_lists_are_those_of_one_question_after_the_other(seed: int):
    rng = np.random.default_rng(seed)
    entities, questions, width = 30, 12, int(rng.integers(1, 12))
    candidates = np.full((questions, width), -1, dtype=np.int32)
    rows, expected = [], []
    for q in range(questions):
        mixed = rng.permutation(entities)
        stored = mixed[: rng.integers(0, width + 1)]
        candidates[q, : len(stored)] = stored
        of_exact = rng.permutation(entities)[: rng.integers(0, 9)]
        positions = rng.permutation(20)[: len(of_exact)] + rng.integers(0, 2)
        exact = dict(zip(of_exact.tolist(), positions.tolist(), strict=True))
        rows += [(q, e, p) for e, p in exact.items()]
        expected.append(merge_candidates(exact, stored.tolist()))
    question, entity, position = np.array(rows, dtype=np.int64).reshape(-1, 3)[rng.permutation(len(rows))].T
    found = merge(question, entity, position, candidates, entities)
    lists = [found.entity[a:b].tolist() for a, b in zip(found.indptr, found.indptr[1:], strict=False)]
    assert lists == expected


def test_nothing_known_and_nothing_stored_are_empty_lists():
    none = np.zeros(0, dtype=np.int64)
    found = merge(none, none, none, np.full((2, 3), -1, dtype=np.int32), 5)
    assert (found.entity.tolist(), found.indptr.tolist()) == ([], [0, 0, 0])
