"""Rank rows as sorted keys, against dictionaries of tuples."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pooling.questions.kernel import Questions, questions_of
from pooling.scoring.rank_rows import find, group_rows, question_keys, row_keys, rows_of

ENTITIES, RELATIONS = 7, 3
triples_strategy = st.lists(
    st.tuples(st.integers(0, ENTITIES - 1), st.integers(0, RELATIONS - 1), st.integers(0, ENTITIES - 1)), max_size=30
).map(lambda rows: np.array(rows, dtype=np.int32).reshape(-1, 3))


def literal_rows(triples: np.ndarray) -> list[tuple[int, int, int, int]]:
    """(side, relation, given, candidate): tail questions first, then head questions."""
    tails = [(0, r, h, t) for h, r, t in triples.tolist()]
    return tails + [(1, r, t, h) for h, r, t in triples.tolist()]


@given(triples_strategy)
def test_rows_hold_both_sides_tail_questions_first(triples):
    rows = rows_of(triples)
    columns = (rows.side, rows.relation, rows.given, rows.candidate)
    assert list(zip(*(c.tolist() for c in columns), strict=True)) == literal_rows(triples)
    assert rows.size == 2 * len(triples)


@given(triples_strategy)
def test_row_keys_are_ordered_like_side_relation_given_candidate(triples):
    keys = row_keys(rows_of(triples), ENTITIES, RELATIONS)
    literal = literal_rows(triples)
    by_key = [literal[i] for i in np.argsort(keys, kind="stable")]
    assert by_key == sorted(literal)
    assert len(set(keys.tolist())) == len(set(literal))


@given(triples_strategy)
def test_question_keys_of_questions_and_of_rows_agree(triples):
    questions, tail, head = questions_of(triples)
    of_questions = question_keys(questions, ENTITIES, RELATIONS)
    of_rows = question_keys(rows_of(triples), ENTITIES, RELATIONS)
    assert of_rows.tolist() == of_questions[np.concatenate([tail, head])].tolist()


def test_keys_do_not_overflow_on_the_largest_graph():
    entities, relations = 50_000_000, 1000
    last = entities - 1
    triple = np.array([[last, relations - 1, last]], dtype=np.int32)
    expected = [((side * relations + relations - 1) * entities + last) * entities + last for side in (0, 1)]
    assert row_keys(rows_of(triple), entities, relations).tolist() == expected
    assert max(expected) < 2**63


@given(triples_strategy)
def test_group_rows_gives_each_question_its_candidates(triples):
    questions, csr = group_rows(np.unique(row_keys(rows_of(triples), ENTITIES, RELATIONS)), ENTITIES, RELATIONS)
    expected: dict[tuple[int, int, int], set[int]] = {}
    for side, relation, given_, candidate in literal_rows(triples):
        expected.setdefault((side, relation, given_), set()).add(candidate)
    asked = list(zip(questions.side.tolist(), questions.relation.tolist(), questions.entity.tolist(), strict=True))
    assert asked == sorted(expected)
    for i, question in enumerate(asked):
        assert csr.indices[csr.indptr[i] : csr.indptr[i + 1]].tolist() == sorted(expected[question])
    assert csr.indptr[-1] == len(csr.indices)


@given(st.sets(st.integers(0, 40)), st.lists(st.integers(0, 45)))
def test_find_gives_the_place_or_minus_one(keys, wanted):
    ordered = sorted(keys)
    expected = [ordered.index(key) if key in keys else -1 for key in wanted]
    found = find(np.array(ordered, dtype=np.int64), np.array(wanted, dtype=np.int64))
    assert found.tolist() == expected


def test_question_keys_take_the_given_entity_of_rows_not_the_candidate():
    rows = rows_of(np.array([[2, 1, 5]]))
    questions = Questions(np.array([0, 1]), np.array([2, 5]), np.array([1, 1]))
    assert question_keys(rows, 10, 4).tolist() == question_keys(questions, 10, 4).tolist() == [12, 55]
