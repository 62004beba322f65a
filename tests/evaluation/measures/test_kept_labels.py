"""The means of subsets of the positives equal those computed anew, to the last digit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.rank_rows import pool_case
from evaluation.measures import kept_labels
from evaluation.measures.kept_labels import KeptLabels
from evaluation.measures.label_state import LabelState, positive
from evaluation.measures.prepared import prepare
from evaluation.measures.registry import REGISTRY, parse_measure
from evaluation.measures.values import means

EVERY = [name if measure.cutoff == "none" else f"{name}@3" for name, measure in REGISTRY.items()]
ALONE = [name for name in EVERY if parse_measure(name).answers_only and not parse_measure(name).chance]


def anew(prepared, state, names, subset, assumed_is_judged=True):
    """Evaluate the labels of a subset by themselves."""
    labels = state.copy()
    labels[positive(state)] = LabelState.UNJUDGED
    labels[np.flatnonzero(positive(state))[subset]] = LabelState.POSITIVE
    return means(prepared, labels, names, assumed_is_judged)


def assert_same(found, wanted):
    assert list(found) == list(wanted)
    for name, mean in wanted.items():
        np.testing.assert_array_equal(found[name], mean, err_msg=name)


def coarse(table, width=5, depth=400):
    """Tie positions in groups of `width`, and return nothing below `depth`."""
    first = (table.strict - 1) // width * width
    gone = (table.strict > depth) | (table.strict == 0)
    strict, optimistic, pessimistic = (
        np.where(gone, 0, positions).astype(np.int32) for positions in (table.strict, first + 1, first + width)
    )
    return replace(table, strict=strict, optimistic=optimistic, pessimistic=pessimistic)


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), most=st.integers(1, 4), room=st.sampled_from([0, 2, 100]))
def test_every_measure_equals_its_mean_of_the_same_labels(world, seed, most, room):
    w, rng = world(seed), np.random.default_rng(seed)
    prepared, positives = prepare(w.table), int(positive(w.state).sum())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_labels, "MOST", most)
        patch.setattr(kept_labels, "ROOM", room)
        for assumed_is_judged in (True, False):
            labels = KeptLabels(prepared, w.state, EVERY, assumed_is_judged)
            for size in (positives, positives // 2, min(1, positives), 0):
                subset = rng.permutation(positives)[:size]
                assert_same(labels.means(subset), anew(prepared, w.state, EVERY, subset, assumed_is_judged))


@pytest.mark.parametrize("systems", [1, 2, 13])
@pytest.mark.parametrize("tied", [False, True])
def test_sums_of_thousands_of_values_have_the_same_last_digit(systems, tied):
    case, rng = pool_case(systems), np.random.default_rng(systems)
    prepared = prepare(coarse(case.table) if tied else case.table)
    assert prepared.one_order is not tied
    few = prepared.only(positive(case.state))
    labels = KeptLabels(prepared, case.state, ALONE)
    for share in (0.01, 0.5, 1.0):
        subset = rng.permutation(labels.triples.size)[: int(share * labels.triples.size)]
        assert_same(labels.means(subset), anew(few, case.state, ALONE, subset))


def test_a_subset_reads_only_the_questions_with_many_answers(world, monkeypatch):
    w = world(14)
    w.state[:] = LabelState.POSITIVE
    monkeypatch.setattr(kept_labels, "MOST", 3)
    monkeypatch.setattr(kept_labels, "ROOM", 100)
    labels = KeptLabels(prepare(w.table), w.state, ["map", "micro_mrr"])
    read = []
    of_labels = kept_labels.values
    monkeypatch.setattr(
        kept_labels, "values", lambda prepared, *more: read.append(prepared.table.rows) or of_labels(prepared, *more)
    )
    labels.means(np.arange(5))
    count = np.bincount(w.table.question)
    assert 0 < count[count > 3].sum() < w.table.rows
    assert read == [count[count > 3].sum()]


@pytest.mark.parametrize(("room", "most"), [(0, 0), (0.5, 1), (1, 2), (4, 3), (100, 4)])
def test_subsets_computed_in_advance_stay_within_their_room(world, monkeypatch, room, most):
    w = world(14)
    w.state[:] = LabelState.POSITIVE
    count = np.bincount(w.table.question)
    monkeypatch.setattr(kept_labels, "ROOM", room)
    labels = KeptLabels(prepare(w.table), w.state, ["map"])
    assert count.tolist() == [2, 2, 1, 3, 3, 1, 1, 2, 3, 1, 1, 1, 3, 2, 5, 2, 1, 4]
    # 7 questions of 1 row, 5 of 2, 4 of 3 and 1 of 4 have 7, 37, 121 and 181 rows in all subsets; the table has 38
    assert labels._many.table.rows == count[count > most].sum()


def test_zeros_and_ones_are_counted_and_equal_their_mean(monkeypatch):
    case, rng = pool_case(3), np.random.default_rng(0)
    few = prepare(case.table).only(positive(case.state))
    names = ["micro_hits@10", "macro_hits@10", "recall@3"]  # recall is a fraction where a question has two answers
    labels = KeptLabels(prepare(case.table), case.state, names)
    joined = []
    join = KeptLabels._join
    monkeypatch.setattr(KeptLabels, "_join", lambda self, *more: joined.append(1) or join(self, *more))
    subset = rng.permutation(labels.triples.size)[:900]
    assert_same(labels.means(subset), anew(few, case.state, names, subset))
    assert len(joined) == 1


def test_fractions_of_questions_with_many_answers_are_not_counted(monkeypatch):
    case, rng = pool_case(3), np.random.default_rng(0)
    monkeypatch.setattr(kept_labels, "MOST", 1)  # recall of one answer is 0 or 1, of several it is not
    few = prepare(case.table).only(positive(case.state))
    labels = KeptLabels(prepare(case.table), case.state, ["recall@3"])
    assert list(labels._hits) == ["recall@3"]
    joined = []
    join = KeptLabels._join
    monkeypatch.setattr(KeptLabels, "_join", lambda self, *more: joined.append(1) or join(self, *more))
    subset = rng.permutation(labels.triples.size)[:900]
    assert_same(labels.means(subset), anew(few, case.state, ["recall@3"], subset))
    assert len(joined) == 1
