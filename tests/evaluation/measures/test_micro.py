import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.measures.label_state import LabelState
from evaluation.measures.prepared import prepare
from evaluation.measures.rank_table import RankTable
from evaluation.measures.values import means, values

NAMES = ["micro_mr", "micro_mrr", "micro_hits@1", "micro_hits@3", "micro_log_mrr", "micro_p_mrr"]
seeds = st.integers(0, 10**6)


def pykeen_rank(w, system, question, entity):
    """The other answers leave the candidates, then the realistic rank is read from the raw scores."""
    answers = w.answers()[question]
    nothing = np.zeros(len(w.state), dtype=bool)
    left = [e for e in w.candidates(question, nothing) if e == entity or e not in answers]
    score = w.scores[system, question]
    optimistic = 1 + sum(score[e] > score[entity] for e in left)
    pessimistic = sum(score[e] >= score[entity] for e in left)
    return (optimistic + pessimistic) / 2


@given(seed=seeds)
def test_micro_rank_equals_pykeen_filtering_with_ties(world, seed):
    w = world(seed)
    found = values(prepare(w.table), w.state, NAMES)
    units = [(q, e) for q, e, t in w.rows if w.state[t] == LabelState.POSITIVE]
    assert found["micro_mr"].unit_question.tolist() == [q for q, _ in units]
    assert [int(w.table.entity[row]) for row in found["micro_mr"].unit_row] == [e for _, e in units]
    for s in range(w.table.systems):
        ranks = [pykeen_rank(w, s, q, e) for q, e in units]
        assert found["micro_mr"].per_unit[s].tolist() == ranks
        assert found["micro_mrr"].per_unit[s].tolist() == [1 / rank for rank in ranks]
        assert found["micro_hits@3"].per_unit[s].tolist() == [float(rank <= 3) for rank in ranks]
        assert found["micro_log_mrr"].per_unit[s] == pytest.approx([1 / math.log2(rank + 1) for rank in ranks])
        assert found["micro_p_mrr"].per_unit[s] == pytest.approx([1 / math.sqrt(rank) for rank in ranks])


def one_question(positions):
    """One tail question whose answers stand at `positions`, every head question with its answer first."""
    n = len(positions)
    question = np.array([0] * n + list(range(1, n + 1)), dtype=np.int32)
    ranks = np.array([list(positions) + [1] * n], dtype=np.int32)
    triple = np.array(list(range(n)) * 2, dtype=np.int32)
    zeros = np.zeros(n + 1, dtype=np.int32)
    return RankTable(question, triple, triple, ranks, ranks, ranks, zeros.astype(np.int8), zeros, zeros + 20)


@pytest.mark.parametrize(("labelled", "mrr"), [([5, 6], 0.2), ([5, 6, 1, 2, 3, 4, 9, 11], (6 + 1 / 3 + 1 / 4) / 8)])
def test_micro_mrr_of_the_example_in_the_open_world_paper(labelled, mrr):
    positions = [5, 6, 1, 2, 3, 4, 9, 11]
    prepared = prepare(one_question(positions))
    state = np.where(np.isin(positions, labelled), LabelState.POSITIVE, LabelState.UNJUDGED).astype(np.int8)
    found = values(prepared, state, ["micro_mrr"])["micro_mrr"]
    tail = found.per_unit[:, found.unit_question == 0].mean()
    assert tail == pytest.approx(mrr, abs=1e-12)
    assert round(tail, 4) in (0.2, 0.8229)


def test_micro_answer_that_the_run_did_not_return_scores_zero_and_has_no_mean_rank():
    table = one_question([0, 3, 2])
    state = np.full(3, LabelState.POSITIVE, dtype=np.int8)
    names = ["micro_mr", "micro_mrr", "micro_hits@10", "micro_log_mrr", "micro_p_mrr"]
    with np.errstate(all="raise"):
        found = means(prepare(table), state, names)
    assert np.isnan(found["micro_mr"][0])
    assert found["micro_mrr"][0] == pytest.approx((0 + 1 / 2 + 1 / 2 + 3) / 6)  # at 3, the one at 2 is filtered out
    assert found["micro_hits@10"][0] == pytest.approx(5 / 6)
    assert found["micro_log_mrr"][0] == pytest.approx((0 + 2 / math.log2(3) + 3) / 6)
    assert found["micro_p_mrr"][0] == pytest.approx((0 + 2 / math.sqrt(2) + 3) / 6)


def test_micro_means_without_an_answer_are_undefined():
    found = means(prepare(one_question([1, 2])), np.zeros(2, dtype=np.int8), NAMES)
    assert all(np.isnan(mean).all() for mean in found.values())


@given(seed=seeds)
def test_micro_values_follow_a_permutation_of_systems_and_triples(world, seed):
    w = world(seed)
    rng = np.random.default_rng(seed)
    systems, triples = rng.permutation(w.table.systems), rng.permutation(len(w.state))
    moved = dataclasses.replace(
        w.table,
        triple=np.argsort(triples)[w.table.triple].astype(np.int32),
        **{n: getattr(w.table, n)[systems] for n in ("strict", "optimistic", "pessimistic")},
    )
    before = values(prepare(w.table), w.state, NAMES)
    after = values(prepare(moved), w.state[triples], NAMES)
    for name in NAMES:
        np.testing.assert_array_equal(after[name].per_unit, before[name].per_unit[systems])


@given(seed=seeds)
def test_micro_rank_of_an_answer_never_grows_when_another_answer_is_found(world, seed):
    w = world(seed)
    positives = np.flatnonzero(w.state == LabelState.POSITIVE)
    others = np.flatnonzero(w.state != LabelState.POSITIVE)
    if not positives.size or not others.size:
        return
    grown = w.state.copy()
    grown[others[0]] = LabelState.POSITIVE
    prepared = prepare(w.table)
    before, after = (values(prepared, s, ["micro_mr"])["micro_mr"] for s in (w.state, grown))
    kept = np.isin(after.unit_row, before.unit_row)
    assert (after.per_unit[:, kept] <= before.per_unit).all()
