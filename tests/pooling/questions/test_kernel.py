"""Questions of triples, with and without the places of their triples."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pooling.questions.kernel import distinct_questions, questions_of


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 6)), max_size=12))
def test_distinct_questions_are_both_sides_in_order(triples):
    asked = {(0, r, h) for h, r, t in triples} | {(1, r, t) for h, r, t in triples}
    triples = np.array(triples, dtype=np.int32).reshape(-1, 3)
    found = distinct_questions(triples)
    assert list(zip(found.side, found.relation, found.entity, strict=True)) == sorted(asked)
    whole, tail, head = questions_of(triples)
    for column, other in zip(found, whole, strict=True):
        assert_array_equal(column, other)
    for at, (h, r, t) in enumerate(triples.tolist()):
        assert (whole.side[tail[at]], whole.relation[tail[at]], whole.entity[tail[at]]) == (0, r, h)
        assert (whole.side[head[at]], whole.relation[head[at]], whole.entity[head[at]]) == (1, r, t)
