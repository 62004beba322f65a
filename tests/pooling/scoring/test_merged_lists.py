"""Ranked lists of many questions at once are those of a literal merge, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from pooling.scoring.merged_lists import merge


def literal(exact: dict[int, int], candidates: list[int]) -> list[int]:
    """Entities of one question. exact: entity -> position, 0 where it was not returned."""
    by_position = {position: entity for entity, position in exact.items()}
    merged: list[int] = []
    waiting = iter(entity for entity in candidates if entity >= 0 and entity not in exact)
    while True:
        entity = by_position.get(len(merged) + 1)
        if entity is None and (entity := next(waiting, None)) is None:
            return merged
        merged.append(entity)


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
        expected.append(literal(exact, stored.tolist()))
    question, entity, position = np.array(rows, dtype=np.int64).reshape(-1, 3)[rng.permutation(len(rows))].T
    found = merge(question, entity, position, candidates, entities)
    lists = [found.entity[a:b].tolist() for a, b in zip(found.indptr, found.indptr[1:], strict=False)]
    assert lists == expected


def test_nothing_known_and_nothing_stored_are_empty_lists():
    none = np.zeros(0, dtype=np.int64)
    found = merge(none, none, none, np.full((2, 3), -1, dtype=np.int32), 5)
    assert (found.entity.tolist(), found.indptr.tolist()) == ([], [0, 0, 0])


@pytest.mark.parametrize(
    ("exact", "candidates", "merged"),
    [
        ({}, [5, 6, 7], [5, 6, 7]),
        ({}, [], []),
        ({9: 1}, [5, 6, -1], [9, 5, 6]),
        ({9: 2}, [5, 6], [5, 9, 6]),
        ({6: 2, 9: 4}, [5, 6, 7], [5, 6, 7, 9]),  # a pooled candidate stands where it stands
        ({9: 5}, [5, 6], [5, 6]),  # position 3 is not held: the list ends there
        ({9: 3, 8: 4, 7: 9}, [5, 6], [5, 6, 9, 8]),
        ({9: 2, 8: 0}, [5, 6, -1], [5, 9, 6]),
    ],
)
def test_merged_lists_end_at_the_first_position_that_is_not_held(exact, candidates, merged):
    entity, position = np.array([*exact.items()], dtype=np.int64).reshape(-1, 2).T
    stored = np.array(candidates, dtype=np.int32).reshape(1, -1)
    assert merge(np.zeros_like(entity), entity, position, stored, 10).entity.tolist() == merged
    assert literal(exact, candidates) == merged
