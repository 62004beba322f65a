"""Positions in lists from elsewhere, against the words of their definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pooling.runs.kernel import contradictions, list_positions
from pooling.scoring.ranks import tie_order

ENTITIES = 9
# (question, entity) once each, with few scores so that many are tied, and a rank
RUNS = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, ENTITIES - 1)),
    st.tuples(st.sampled_from([-1.0, -0.0, 0.0, 0.5, 2.0]), st.integers(-1, 5)),
    max_size=25,
)


def arrays(run: dict) -> tuple[np.ndarray, ...]:
    pairs = np.array(list(run), dtype=np.int64).reshape(-1, 2)
    score, rank = (np.array([values[i] for values in run.values()]) for i in (0, 1))
    return pairs[:, 0], pairs[:, 1], score.astype(np.float64), rank.astype(np.int64)


@given(RUNS, st.integers(0, 3))
def test_positions_are_those_of_the_definition(run: dict, seed: int):
    question, entity, score, _ = arrays(run)
    listed = list_positions(question, entity, score, ENTITIES, seed)
    order = tie_order(ENTITIES, seed).tolist()
    assert sorted(listed.line.tolist()) == list(range(len(run)))
    keys = list(zip(listed.question.tolist(), listed.strict.tolist(), strict=True))
    assert keys == sorted(keys)
    for i, line in enumerate(listed.line.tolist()):
        asked, own, value = question[line], entity[line], score[line]
        assert (listed.question[i], listed.entity[i], listed.score[i]) == (asked, own, value)
        same = [j for j in range(len(run)) if question[j] == asked]
        higher = sum(score[j] > value for j in same)
        tied = [j for j in same if score[j] == value]
        before = sum(order.index(entity[j]) < order.index(own) for j in tied)
        assert listed.optimistic[i] == 1 + higher
        assert listed.pessimistic[i] == higher + len(tied)
        assert listed.strict[i] == 1 + higher + before


@given(RUNS)
def test_a_rank_contradicts_when_one_of_the_next_better_score_is_not_before_it(run: dict):
    question, entity, score, rank = arrays(run)
    found = contradictions(list_positions(question, entity, score, ENTITIES, 1), rank).tolist()
    expected = []
    for i in range(len(run)):
        better = [j for j in range(len(run)) if question[j] == question[i] and score[j] > score[i]]
        next_better = [j for j in better if score[j] == min(score[k] for k in better)]
        if rank[i] < 0 or any(rank[i] <= rank[j] for j in next_better):
            expected.append(i)
    assert found == expected
