"""What all measures have in common: undefined values with a reason, bad input, and what must not change a value."""

import dataclasses
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.measures.label_state import LabelState
from evaluation.measures.prepared import prepare
from evaluation.measures.rank_table import RankTable, keep_rows
from evaluation.measures.registry import MEASURES
from evaluation.measures.values import NO_ANSWER, values

ALL = [measure.name for measure in MEASURES]
NEEDS_ALL = {"micro_mr", "macro_mr", "condensed_micro_mr", "condensed_macro_mr", "amr", "amri", "gmr"}
seeds = st.integers(0, 10**6)
few = settings(max_examples=30)


@pytest.fixture(autouse=True)
def _no_warnings():
    """An undefined value is a case, not a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def with_ranks(table, ranks, tied=None):
    tied = ranks if tied is None else tied
    optimistic, pessimistic = tied if isinstance(tied, tuple) else (tied, tied)
    return prepare(dataclasses.replace(table, strict=ranks, optimistic=optimistic, pessimistic=pessimistic))


def same_means(one, other):
    for name in one:
        np.testing.assert_allclose(one[name].mean(), other[name].mean(), rtol=1e-12, err_msg=name)


def is_undefined(found):
    return {name: np.isnan(value.mean()).tolist() for name, value in found.items()}


@few
@given(seed=seeds)
def test_undefined_means_are_nan_with_a_reason_and_others_are_finite_without(world, seed):
    w = world(seed)
    rng = np.random.default_rng(seed)
    ranks = np.where(rng.random(w.table.strict.shape) < 0.1, 0, w.table.strict)
    found = values(with_ranks(w.table, ranks), w.state, ALL)
    for name, value in found.items():
        mean, reasons = value.mean(), value.reasons()
        assert not np.isinf(mean).any(), name
        assert [bool(reason) for reason in reasons] == np.isnan(mean).tolist(), name
        assert not any("{" in reason for reason in reasons), name


def test_no_positive_label_makes_every_measure_undefined(world):
    w = world(14)
    w.state[w.state == LabelState.POSITIVE] = LabelState.NEGATIVE
    found = values(prepare(w.table), w.state, ALL)
    assert {name: value.reasons() for name, value in found.items()} == dict.fromkeys(ALL, [NO_ANSWER] * 3)
    assert is_undefined(found) == dict.fromkeys(ALL, [True] * 3)


def test_table_without_rows_makes_every_measure_undefined():
    nothing, none = np.zeros(0, dtype=np.int32), np.zeros((2, 0), dtype=np.int32)
    table = RankTable(nothing, nothing, nothing, none, none, none, nothing.astype(np.int8), nothing, nothing)
    found = values(prepare(table), np.zeros(0, dtype=np.int8), ALL)
    assert {name: value.reasons() for name, value in found.items()} == dict.fromkeys(ALL, [NO_ANSWER] * 2)
    assert is_undefined(found) == dict.fromkeys(ALL, [True] * 2)


def test_run_without_some_questions_has_no_mean_rank_and_zeros_elsewhere(world):
    w = world(14)
    w.state[:] = LabelState.POSITIVE
    gone = w.table.question < 2
    ranks = w.table.strict.copy()
    ranks[1, gone] = 0
    found = values(with_ranks(w.table, ranks), w.state, ALL)
    assert is_undefined(found) == {name: [False, name in NEEDS_ALL, False] for name in ALL}
    n, e = w.table.rows, w.questions
    assert found["micro_mr"].reasons()[1] == (
        f"the run did not return {gone.sum()} of {n} answers; a mean rank needs all"
    )
    assert found["macro_mr"].reasons()[1] == (
        f"the run returned no answer to 2 of {e} questions; a mean rank needs one to each"
    )
    for name in ("map", "ndcg@20", "macro_mrr", "bpref", "infap", "recall@10", "condensed_map", "judged@10"):
        value = found[name]
        missed = value.unit_question < 2
        assert value.per_unit[1, missed].tolist() == [0.0, 0.0], name
        assert (value.per_unit[1, ~missed] > 0).any(), name


def test_run_that_stops_at_a_depth_equals_the_full_run_at_cutoffs_to_it(world):
    w = world(14)
    shallow = np.where(w.table.strict <= 3, w.table.strict, 0)
    names = ["map@3", "ndcg@3", "p@3", "recall@3", "success@3", "macro_hits@3", "judged@3"]
    deep, cut = (values(with_ranks(w.table, ranks), w.state, names) for ranks in (w.table.strict, shallow))
    for name in names:
        np.testing.assert_array_equal(cut[name].per_unit, deep[name].per_unit, err_msg=name)
    whole = values(with_ranks(w.table, shallow), w.state, ["map", "micro_mr"])
    assert (whole["map"].mean() < values(prepare(w.table), w.state, ["map"])["map"].mean()).all()
    assert np.isnan(whole["micro_mr"].mean()).all()


def test_all_scores_equal_gives_the_rank_in_the_middle_whatever_the_order(world):
    """A constant score: strict order is the seeded one, micro ranks are the mean of first and last."""
    w = world(14)
    w.scores = {key: np.zeros_like(score) for key, score in w.scores.items()}
    w.state[:] = np.where(np.arange(len(w.state)) % 2, LabelState.POSITIVE, LabelState.NEGATIVE)
    table = w.make_table(np.zeros(len(w.state), dtype=bool))
    found = values(prepare(table), w.state, ALL)
    assert not any(any(undefined) for undefined in is_undefined(found).values())
    question = found["micro_mr"].unit_question
    answers_of = np.bincount(question, minlength=w.questions)
    middle = (1 + table.candidates[question] - (answers_of[question] - 1)) / 2
    for s in range(table.systems):
        assert found["micro_mr"].per_unit[s].tolist() == middle.tolist()
    assert found["amr"].mean() == pytest.approx([1.0] * 3, abs=1e-12)  # chance itself
    assert found["amri"].mean() == pytest.approx([0.0] * 3, abs=1e-12)


def test_two_systems_that_tie_everywhere_have_equal_values(world):
    w = world(14)
    both = {name: getattr(w.table, name)[[0, 0]] for name in ("strict", "optimistic", "pessimistic")}
    found = values(prepare(dataclasses.replace(w.table, **both)), w.state, ALL)
    for name, value in found.items():
        assert value.mean()[0] == value.mean()[1], name
        np.testing.assert_array_equal(value.per_unit[0], value.per_unit[1], err_msg=name)


def test_one_system_alone_has_the_values_it_has_among_others(world):
    w = world(14)
    one = {name: getattr(w.table, name)[[1]] for name in ("strict", "optimistic", "pessimistic")}
    alone = values(prepare(dataclasses.replace(w.table, **one)), w.state, ALL)
    among = values(prepare(w.table), w.state, ALL)
    for name in ALL:
        np.testing.assert_array_equal(alone[name].per_unit[0], among[name].per_unit[1], err_msg=name)


@few
@given(seed=seeds)
def test_values_follow_a_permutation_of_systems_entities_and_triples(world, seed):
    w = world(seed)
    rng = np.random.default_rng(seed)
    systems, triples = rng.permutation(w.table.systems), rng.permutation(len(w.state))
    rows = np.lexsort((rng.random(w.table.rows), w.table.question))  # another numbering of the entities
    moved = dataclasses.replace(
        w.table,
        entity=w.table.entity[rows],
        triple=np.argsort(triples)[w.table.triple[rows]].astype(np.int32),
        **{n: getattr(w.table, n)[systems][:, rows] for n in ("strict", "optimistic", "pessimistic")},
    )
    before, after = values(prepare(w.table), w.state, ALL), values(prepare(moved), w.state[triples], ALL)
    for name in ALL:
        np.testing.assert_allclose(after[name].mean(), before[name].mean()[systems], rtol=1e-12, err_msg=name)


@few
@given(seed=seeds)
def test_values_ignore_rows_that_are_not_pooled(world, seed):
    w = world(seed)
    pooled = (w.state != LabelState.NOT_POOLED)[w.table.triple]
    fewer = values(prepare(keep_rows(w.table, pooled)), w.state, ALL)
    same_means(fewer, values(prepare(w.table), w.state, ALL))


@few
@given(seed=seeds)
def test_condensed_measures_and_bpref_ignore_candidates_that_nobody_judged(world, seed):
    """Unseen candidates that push all ranks down change MRR, and nothing that looks at judged ones only."""
    w = world(seed)
    rng = np.random.default_rng(seed)
    shift = np.cumsum(rng.integers(0, 4, size=100)).astype(np.int32)  # grows with the position: order is kept
    ranks = w.table.strict + shift[w.table.strict]
    names = [name for name in ALL if name.startswith("condensed_")] + ["bpref"]
    shifted = dataclasses.replace(w.table, candidates=w.table.candidates + shift[-1])
    before = values(with_ranks(w.table, w.table.strict), w.state, names)
    same_means(values(with_ranks(shifted, ranks), w.state, names), before)


@few
@given(seed=seeds)
def test_keep_equals_the_values_of_a_label_set_of_these_questions(world, seed):
    w = world(seed)
    kept = np.random.default_rng(seed).random(w.questions) < 0.5
    found = values(prepare(w.table), w.state, ALL)
    alone = values(prepare(keep_rows(w.table, kept[w.table.question])), w.state, ALL)
    for name in ALL:
        ours = found[name].keep(kept)
        assert ours.unit_question.tolist() == alone[name].unit_question.tolist()
        np.testing.assert_allclose(ours.per_unit, alone[name].per_unit, rtol=1e-9, atol=1e-9, err_msg=name)
        assert ours.reasons() == alone[name].reasons(), name
