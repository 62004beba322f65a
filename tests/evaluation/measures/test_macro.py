import dataclasses

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evaluation.measures.label_state import LabelState
from evaluation.measures.prepared import prepare
from evaluation.measures.values import means, values
from evaluation.statistics.groups import by_side_and_category

NAMES = ["macro_mr", "macro_mrr", "macro_hits@1", "macro_hits@3"]
seeds = st.integers(0, 10**6)


@given(seed=seeds)
def test_macro_equals_the_best_answer_in_the_ranked_list(world, seed):
    w = world(seed)
    found = values(prepare(w.table), w.state, NAMES)
    nothing = np.zeros(len(w.state), dtype=bool)
    answers = w.answers()
    assert found["macro_mr"].unit_question.tolist() == sorted(answers)
    for s in range(w.table.systems):
        first = [
            1 + next(i for i, e in enumerate(w.ranking(s, q, nothing)) if e in answers[q]) for q in sorted(answers)
        ]
        assert found["macro_mr"].per_unit[s].tolist() == first
        assert found["macro_mrr"].per_unit[s].tolist() == [1 / rank for rank in first]
        assert found["macro_hits@3"].per_unit[s].tolist() == [float(rank <= 3) for rank in first]


def test_macro_question_without_a_returned_answer_scores_zero_and_has_no_mean_rank(world):
    w = world(5)
    nothing = np.zeros_like(w.table.strict)
    empty = dataclasses.replace(w.table, strict=nothing, optimistic=nothing, pessimistic=nothing)
    found = means(prepare(empty), np.full(len(w.state), LabelState.POSITIVE, dtype=np.int8), NAMES)
    assert np.isnan(found["macro_mr"]).all()
    assert found["macro_mrr"].tolist() == found["macro_hits@3"].tolist() == [0.0] * w.table.systems


@given(seed=seeds)
def test_macro_first_rank_never_grows_when_another_answer_is_found(world, seed):
    w = world(seed)
    grown = w.state.copy()
    grown[0] = LabelState.POSITIVE
    prepared = prepare(w.table)
    before, after = (values(prepared, s, ["macro_mr"])["macro_mr"] for s in (w.state, grown))
    kept = np.isin(after.unit_question, before.unit_question)
    assert (after.per_unit[:, kept] <= before.per_unit).all()


@given(seed=seeds)
def test_mean_by_groups_equals_a_loop_over_units(world, seed):
    w = world(seed)
    category = np.random.default_rng(seed).integers(-1, 2, size=int(w.table.relation.max(initial=0)) + 1)
    group = by_side_and_category(w.table, category, ["a", "b"]).of_question
    for name in ("micro_mrr", "macro_mrr"):
        found = values(prepare(w.table), w.state, [name])[name]
        by = found.mean_by_unit(group[found.unit_question], 4)
        for g in range(4):
            units = [i for i, q in enumerate(found.unit_question) if group[q] == g]
            assert by.count[g] == len(units)
            expected = found.per_unit[:, units].mean(axis=1) if units else np.full(w.table.systems, np.nan)
            np.testing.assert_allclose(by.mean[:, g], expected, atol=1e-12)
    assert all((group[q] == -1) == (category[w.table.relation[q]] == -1) for q in range(w.questions))
