import dataclasses

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.measures.judged import top_shares
from evaluation.measures.label_state import LabelState
from evaluation.measures.prepared import prepare
from evaluation.measures.values import means, values
from tests.evaluation.measures.trec import random_lists


@given(seed=st.integers(0, 10**6), k=st.integers(1, 12))
def test_top_shares_equal_a_count_over_the_ranked_lists(world, seed, k):
    w = world(seed)
    original = np.random.default_rng(seed).random(len(w.state)) < 0.5
    label = {(q, e): t for q, e, t in w.rows}
    found = top_shares(prepare(w.table), w.state, original, k)
    if not w.answers():
        assert found.positions == 0 and np.isnan(found.new).all()
        return
    nothing = np.zeros(len(w.state), dtype=bool)
    for s in range(w.table.systems):
        seen = {"original": 0, "new": 0, "NEGATIVE": 0, "ASSUMED_NEGATIVE": 0, "UNJUDGED": 0, "NOT_POOLED": 0}
        for q in w.answers():
            for e in w.ranking(s, q, nothing)[:k]:
                t = label.get((q, e))
                name = "NOT_POOLED" if t is None else LabelState(w.state[t]).name
                seen[("original" if original[t] else "new") if name == "POSITIVE" else name] += 1
        assert found.positions == sum(seen.values())
        parts = (found.original, found.new, found.negative, found.assumed_negative, found.unjudged, found.not_pooled)
        for part, count in zip(parts, seen.values(), strict=True):
            assert part[s] == pytest.approx(count / found.positions, abs=1e-12)


@given(seed=st.integers(0, 10**6), k=st.sampled_from([1, 3, 10, 60]))
def test_judged_share_equals_ir_measures_on_lists_of_any_length(seed, k):
    """Of judged lines: ir_measures counts -1 as judged (docs/conventions.py)."""
    lists = random_lists(seed)
    found = values(prepare(lists.table()), lists.state(), [f"judged@{k}"])[f"judged@{k}"]
    asked = [lists.questions[q] for q in found.unit_question]
    qrels = {q: {doc: grade for doc, grade in lists.qrels[q].items() if grade >= 0} for q in asked}
    measure = ir_measures.Judged @ k
    for s, run in enumerate(lists.runs):
        scores = {q: {doc: -float(i) for i, doc in enumerate(docs)} for q, docs in run.items() if docs}
        theirs = {one.query_id: one.value for one in ir_measures.iter_calc([measure], qrels, scores)}
        expected = [theirs.get(q, 0.0) for q in asked]
        np.testing.assert_allclose(found.per_unit[s], expected, rtol=0, atol=1e-12)


def test_a_position_that_the_run_left_empty_is_not_judged(world):
    w = world(14)
    w.state[:] = LabelState.POSITIVE
    nothing = np.zeros_like(w.table.strict)
    none = np.zeros((w.table.systems, w.table.questions), dtype=np.int32)
    empty = {"strict": nothing, "optimistic": nothing, "pessimistic": nothing, "returned": none}
    prepared = prepare(dataclasses.replace(w.table, **empty))
    assert means(prepared, w.state, ["judged@3"])["judged@3"].tolist() == [0.0] * w.table.systems
    assert top_shares(prepared, w.state, w.state > 0).not_pooled.tolist() == [1.0] * w.table.systems
