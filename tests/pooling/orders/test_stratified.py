from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.orders.base import JudgingState, OrderPool
from pooling.orders.stratified import STRATIFIED, stratum_of
from tests.pooling.orders.literal import NOTHING, standings

SETTINGS = st.sampled_from(
    [
        {},
        {"bounds": [2, 5], "rates": [1, 0.5, 0.25]},
        {"bounds": [3], "rates": [0.9, 0.1]},
        {"bounds": [], "rates": [1]},
    ]
)


def literal(pool: OrderPool, state: JudgingState, size: int, seed: int, bounds, rates):
    """One draw after the other: of the stratum that is furthest behind its rate, in the order of the seed.

    A stratum's turn is counted by how many of the seed's order stand before in it, so that old draws stay a prefix.
    """
    strata = [
        [i for i in range(pool.size) if low < pool.depth[i] <= high]
        for low, high in zip([0, *bounds], [*bounds, 10**6], strict=True)
    ]
    members = [sorted(stratum, key=lambda i: pool.place(seed)[i]) for stratum in strata]
    turn = {
        i: (round(before / (rate * len(stratum)), 12), s, before)
        for s, (stratum, rate) in enumerate(zip(members, rates, strict=True))
        for before, i in enumerate(stratum)
    }
    waiting = [i for i in sorted(turn, key=turn.__getitem__) if not state.drawn[i]][:size]
    drawn = {*np.flatnonzero(state.drawn).tolist(), *waiting}
    share = {i: len(drawn & set(s)) / len(s) for s in members for i in s}
    return waiting, [share[i] for i in waiting]


@given(standings(), SETTINGS, st.integers(1, 14), st.integers(0, 3))
def test_equals_the_literal_rule(standing, strata, size, seed):
    pool, state = standing
    bounds, rates = strata.get("bounds", [2, 5]), strata.get("rates", [1, 0.5, 0.25])
    triples, shares = literal(pool, state, size, seed, bounds, rates)
    pick = STRATIFIED.pick(pool, state, size, seed, strata)
    assert pick.triple.tolist() == triples
    np.testing.assert_array_equal(pick.probability, shares)


def test_all_strata_reach_their_rates_together():
    depth = np.repeat([1, 2, 4, 9], [20, 20, 40, 80]).astype(np.int32)
    pool = OrderPool(np.zeros((0, 160), np.int32), depth, np.arange(160))
    pick = STRATIFIED.pick(pool, JudgingState.start(160), 80, 7, {})
    assert np.bincount(stratum_of(depth[pick.triple], [2, 5])).tolist() == [40, 20, 20]
    half = np.bincount(stratum_of(depth[pick.triple[:40]], [2, 5])).tolist()
    assert half == [20, 10, 10]
    assert [pick.probability[depth[pick.triple] == d].tolist()[0] for d in (1, 4, 9)] == [1.0, 0.5, 0.25]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"rates": [1, 0.5]}, "one rate more than there are bounds"),
        ({"bounds": 3}, "bounds and rates must be lists"),
        ({"bounds": [5, 2]}, r"bounds must be depths that grow, from 1; got \[5, 2\]"),
        ({"bounds": [0, 2]}, r"bounds must be depths that grow, from 1; got \[0, 2\]"),
        ({"rates": [1, 0.5, 0]}, r"rates must be above 0 and at most 1; got \[1, 0.5, 0\]"),
        ({"rates": [1.5, 0.5, 0.2]}, r"rates must be above 0 and at most 1"),
    ],
)
def test_settings_that_make_no_strata_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        STRATIFIED.pick(NOTHING, JudgingState.start(0), 1, 0, wrong)
