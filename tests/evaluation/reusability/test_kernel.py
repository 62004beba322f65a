"""Systems left out of a pool: triples counted one by one, states rebuilt by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata

from evaluation.measures.label_state import LabelState
from evaluation.measures.prepared import prepare
from evaluation.measures.values import means
from evaluation.reusability.kernel import found_by_only, largest_shift, leave_out, without_triples

NAMES = ("micro_mrr", "macro_hits@3", "map", "bpref", "micro_mr")


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), max_size=12), st.sets(st.integers(0, 3)))
def test_found_by_only_looks_at_each_triple(rows, group):
    found = np.array(rows, dtype=bool).reshape(-1, 4)
    chosen = np.isin(np.arange(4), list(group))
    expected = [any(row[i] for i in group) and not any(row[i] for i in range(4) if i not in group) for row in rows]
    assert found_by_only(found, chosen).tolist() == expected


def test_dropped_triples_are_outside_the_pool():
    state = np.array([4, 3, 2, 1, 0, 4], dtype=np.int8)
    dropped = np.array([True, True, True, True, True, False])
    assert without_triples(state, dropped).tolist() == [0, 0, 0, 0, 0, 4]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("assumed", [True, False])
def test_each_group_equals_states_made_by_hand(world, seed: int, assumed: bool):
    made = world(seed)
    prepared = prepare(made.table)
    rng = np.random.default_rng(seed)
    dropped = [rng.random(len(made.state)) < share for share in (0.0, 0.3, 0.7)]
    found = leave_out(prepared, made.state, dropped, NAMES, assumed)
    assert list(found) == list(NAMES)
    for name, out in found.items():
        before = means(prepared, made.state, [name], assumed)[name]
        np.testing.assert_allclose(out.before, before, rtol=0, atol=1e-12)
        for g, gone in enumerate(dropped):
            state = made.state.copy()
            for triple in np.flatnonzero(gone):
                state[triple] = LabelState.NOT_POOLED
            after = means(prepared, state, [name], assumed)[name]
            np.testing.assert_allclose(out.after[g], after, rtol=0, atol=1e-12)
            _compare(out, g, before, after, -1 if name == "micro_mr" else 1)


def _compare(out, g: int, before: np.ndarray, after: np.ndarray, sign: int) -> None:
    both = np.isfinite(before) & np.isfinite(after)
    rounded = [np.round(side[both], 9) for side in (before, after)]
    tau = kendalltau(*rounded).statistic if both.sum() > 1 else np.nan
    np.testing.assert_allclose(out.tau[g], tau, atol=1e-9)
    for places, values in zip((out.place_before[g], out.place_after[g]), rounded, strict=True):
        assert np.isnan(places[~both]).all()
        assert places[both].tolist() == rankdata(-sign * values, "min").tolist()


def test_largest_shift_is_of_somebody_else():
    before = np.array([[1.0, 2, 3, 4], [1, 2, 3, np.nan], [1, 2, 2, 4], [1, 2, 3, 4]])
    after = np.array([[4.0, 1, 2, 3], [3, 1, 2, np.nan], [1, 2, 2, 4], [2, 1, 4, 3]])
    own = [np.array([0]), np.array([0, 1]), np.array([0]), np.array([0, 1, 2, 3])]
    assert largest_shift(before, after, own).tolist() == [1, 2, 1, -1]
    assert largest_shift(np.zeros((2, 0)), np.zeros((2, 0)), [np.zeros(0, int)] * 2).tolist() == [-1, -1]
