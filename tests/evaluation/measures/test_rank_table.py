import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.measures.prepared import prepare
from evaluation.measures.rank_table import without_known

seeds = st.integers(0, 10**6)


@given(seed=seeds)
def test_without_known_equals_ranking_again_without_them(world, seed):
    w = world(seed)
    expected = w.make_table(w.known)
    found = without_known(w.table, w.known)
    for part in dataclasses.fields(found):
        np.testing.assert_array_equal(getattr(found, part.name), getattr(expected, part.name), err_msg=part.name)


@given(seed=seeds)
def test_without_known_keeps_what_a_run_did_not_return(world, seed):
    w = world(seed)
    lost = np.random.default_rng(seed).random(w.table.strict.shape) < 0.3
    cut = dataclasses.replace(
        w.table, **{n: np.where(lost, 0, getattr(w.table, n)) for n in ("strict", "optimistic", "pessimistic")}
    )
    found = without_known(cut, w.known)
    kept = ~w.known[w.table.triple]
    np.testing.assert_array_equal(found.strict == 0, lost[:, kept])
    # a known answer that the run did not return stands above nothing
    for s, i in zip(*np.nonzero(found.strict), strict=True):
        row = np.flatnonzero(kept)[i]
        same = w.known[w.table.triple] & (w.table.question == w.table.question[row]) & (cut.strict[s] > 0)
        assert found.strict[s, i] == cut.strict[s, row] - np.sum(cut.strict[s, same] < cut.strict[s, row])


def test_table_refuses_rows_out_of_order(world):
    table = world(1).table
    with pytest.raises(ValueError, match="ordered by question"):
        dataclasses.replace(table, question=table.question[::-1].copy())


def test_prepare_refuses_two_entities_at_one_position(world):
    table = world(3).table
    same = np.ones_like(table.strict)
    with pytest.raises(ValueError, match="share a strict position"):
        prepare(dataclasses.replace(table, strict=same, optimistic=same, pessimistic=same))


def test_prepare_refuses_a_position_outside_its_tie(world):
    table = world(3).table
    with pytest.raises(ValueError, match="outside its optimistic"):
        prepare(dataclasses.replace(table, pessimistic=table.strict - 1))
