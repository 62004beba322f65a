import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.measures.label_state import LabelState
from evaluation.measures.live_sums import LiveSums, questions_only
from evaluation.measures.prepared import prepare
from evaluation.measures.question_sums import question_sums
from evaluation.measures.rank_table import keep_rows
from evaluation.measures.registry import REGISTRY
from evaluation.measures.values import values

NAMES = [name if row.cutoff != "required" else f"{name}@3" for name, row in REGISTRY.items()]
seeds = st.integers(0, 10**6)


def assert_as_from_scratch(live, prepared, state, assumed_is_judged=True):
    for name, value in values(prepared, state, live.names, assumed_is_judged).items():
        found, expected = live.sums()[name], question_sums(value)
        np.testing.assert_array_equal(found.question, expected.question, name)
        np.testing.assert_array_equal(found.counts, expected.counts, name)
        np.testing.assert_allclose(found.sums, expected.sums, rtol=1e-12, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(
            live.means()[name], value.mean(), rtol=1e-12, atol=1e-12, err_msg=name, equal_nan=True
        )
        assert (found.unit, found.higher_is_better) == (expected.unit, expected.higher_is_better)


@settings(max_examples=25)
@given(seed=seeds, assumed_is_judged=st.booleans())
def test_updates_give_what_an_evaluation_from_scratch_gives(world, seed, assumed_is_judged):
    w = world(seed)
    rng, prepared, state = np.random.default_rng(seed), prepare(w.table), w.state
    live = LiveSums(prepared, state, NAMES, assumed_is_judged)
    assert_as_from_scratch(live, prepared, state, assumed_is_judged)
    for _ in range(3):
        state = state.copy()
        changed = rng.choice(state.size, size=rng.integers(1, 3))
        state[changed] = rng.integers(0, 5, size=changed.size)
        live.update(state)
        assert_as_from_scratch(live, prepared, state, assumed_is_judged)


def busy(world):
    """A world of many questions, so that one label touches few of them."""
    return next(w for w in map(world, range(100)) if w.questions >= 10)


def test_one_label_computes_its_two_questions_alone(world, monkeypatch):
    w = busy(world)
    w.state[:] = LabelState.UNJUDGED
    prepared = prepare(w.table)
    live = LiveSums(prepared, w.state, ["micro_mrr", "map@20", "bpref"])
    before = live.sums()
    asked = []
    monkeypatch.setattr(
        "evaluation.measures.live_sums.values",
        lambda part, *args: asked.append((part.table.questions, part.table.rows)) or values(part, *args),
    )
    state = w.state.copy()
    state[0] = LabelState.POSITIVE
    its = {q for q, _, t in w.rows if t == 0}
    assert live.update(state) == 2
    assert asked == [(2, sum(q in its for q, _, _ in w.rows))]
    assert set(live.sums()["map@20"].question.tolist()) == its  # questions appear with their first answer
    assert live.update(w.state) == 2
    assert [live.sums()[name].question.size for name in live.names] == [0, 0, 0]  # and vanish with the last
    assert before["map@20"].question.size == 0  # what was handed out stayed as it was


def test_update_without_a_change_computes_nothing(world, monkeypatch):
    w = world(1)
    live = LiveSums(prepare(w.table), w.state, ["map"])
    monkeypatch.setattr("evaluation.measures.live_sums.values", None)
    handed = live.sums()["map"]
    assert live.update(w.state.copy()) == 0
    assert live.sums()["map"] is handed


def test_state_handed_in_may_be_changed_by_its_owner(world):
    w = busy(world)
    state = np.full_like(w.state, LabelState.UNJUDGED)
    live = LiveSums(prepare(w.table), state, ["map"])
    state[0] = LabelState.POSITIVE  # in place: the change must still be seen
    assert live.update(state) == 2
    state[1] = LabelState.POSITIVE
    assert live.update(state) >= 1
    assert_as_from_scratch(live, live.prepared, state)


def test_many_changes_compute_everything(world, monkeypatch):
    w = busy(world)
    state = np.full_like(w.state, LabelState.POSITIVE)
    prepared = prepare(w.table)
    live = LiveSums(prepared, np.full_like(state, LabelState.UNJUDGED), ["micro_mrr", "map@20", "bpref", "amri"])
    monkeypatch.setattr("evaluation.measures.live_sums.questions_only", None)  # no part: the whole table
    assert live.update(state) == w.questions
    assert_as_from_scratch(live, prepared, state)


def test_state_of_another_size_is_refused(world):
    w = world(1)
    live = LiveSums(prepare(w.table), w.state, ["map"])
    with pytest.raises(ValueError, match=f"has {w.state.size} triples, the new state {w.state.size + 1}"):
        live.update(np.append(w.state, w.state[:1]))


@given(seed=seeds)
def test_slice_of_a_sorted_table_is_the_sorted_slice(world, seed):
    w = world(seed)
    prepared = prepare(w.table)
    chosen = np.flatnonzero(np.random.default_rng(seed).random(w.questions) < 0.5)
    part, triples = questions_only(prepared, chosen)
    kept = np.isin(w.table.question, chosen)
    wanted = prepare(keep_rows(w.table, kept))
    np.testing.assert_array_equal(triples, w.table.triple[kept])
    np.testing.assert_array_equal(chosen[part.table.question], w.table.question[kept])
    np.testing.assert_array_equal(part.table.candidates, w.table.candidates[chosen])
    for field in ("strict_order", "score_order", "strict", "realistic"):
        np.testing.assert_array_equal(getattr(part, field), getattr(wanted, field), field)
