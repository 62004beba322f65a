from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pooling.orders.bandit import BANDIT_MM, BANDIT_THOMPSON
from pooling.orders.base import NO, YES, JudgingState, OrderPool
from pooling.orders.follow import run_places
from tests.pooling.orders.literal import best_of_run, counts, one_at_a_time, shallow_first, standings, worlds

Value = Callable[[list[int], list[int], int], list[float]]  # yes and no of each arm, judged so far


def literal(pool: OrderPool, truth: np.ndarray, seed: int, value: Value) -> tuple[list[int], list[int]]:
    left, triples, arms = list(range(pool.size)), [], []
    while left:
        seen = [counts(pool, run, triples, truth) for run in range(pool.runs)]
        worth = value([yes for yes, _ in seen], [no for _, no in seen], len(triples))
        able = [run for run in range(pool.runs) if best_of_run(pool, run, left, seed) is not None]
        arm = min(able, key=lambda run: (-worth[run], run_places(pool, seed)[run]), default=-1)
        triple = shallow_first(pool, left, seed) if arm < 0 else best_of_run(pool, arm, left, seed)
        assert triple is not None
        triples.append(triple)
        arms.append(arm)
        left.remove(triple)
    return triples, arms


@given(worlds(), st.integers(0, 3))
def test_mm_one_at_a_time_equals_the_textbook(world, seed):
    pool, truth = world
    truth = np.where(truth == YES, YES, NO).astype(np.int8)  # undecided counts as no

    def means(yes, no, n):
        return [(1 + y) / (2 + y + n_) for y, n_ in zip(yes, no, strict=True)]

    assert one_at_a_time(BANDIT_MM, pool, truth, seed) == literal(pool, truth, seed, means)


@given(worlds(), st.integers(0, 3))
def test_mm_counts_undecided_as_no(world, seed):
    pool, truth = world
    as_no = np.where(truth == YES, YES, NO).astype(np.int8)
    assert one_at_a_time(BANDIT_MM, pool, truth, seed) == one_at_a_time(BANDIT_MM, pool, as_no, seed)


@given(worlds(), st.integers(0, 3))
def test_thompson_one_at_a_time_equals_the_textbook(world, seed):
    pool, truth = world

    def draws(yes, no, n):
        rng = np.random.default_rng([seed, 2, n])
        return [rng.beta(1 + y, 1 + n_) for y, n_ in zip(yes, no, strict=True)]

    assert one_at_a_time(BANDIT_THOMPSON, pool, truth, seed) == literal(pool, truth, seed, draws)


@given(standings(), st.integers(1, 14), st.integers(0, 3))
def test_mm_in_a_batch_takes_every_open_answer_for_no(standing, size, seed):
    pool, state = standing
    batch = BANDIT_MM.pick(pool, state, size, seed, {})
    for triple, arm in zip(batch.triple.tolist(), batch.arm.tolist(), strict=True):
        one = BANDIT_MM.pick(pool, state, 1, seed, {})
        assert (one.triple.tolist(), one.arm.tolist()) == ([triple], [arm])
        state.released[triple], state.label[triple] = True, NO


@given(standings(), st.integers(1, 14), st.integers(0, 3))
def test_thompson_in_a_batch_draws_anew_for_every_choice(standing, size, seed):
    pool, state = standing
    batch = BANDIT_THOMPSON.pick(pool, state, size, seed, {})
    for triple, arm in zip(batch.triple.tolist(), batch.arm.tolist(), strict=True):
        one = BANDIT_THOMPSON.pick(pool, state, 1, seed, {})
        assert (one.triple.tolist(), one.arm.tolist()) == ([triple], [arm])
        state.released[triple] = True  # no label: what is open counts for nothing


def test_an_answer_counts_for_every_arm_that_holds_the_triple():
    ranks = np.array([[1, 2, 0, 0], [1, 0, 2, 0], [0, 0, 0, 1]], np.int32)
    pool = OrderPool(ranks, np.array([1, 2, 2, 1], np.int32), np.arange(4))
    judged = np.array([True, False, False, False])
    for label, arms in ((NO, {2}), (YES, {0, 1})):
        state = JudgingState(judged, judged, np.where(judged, label, -1).astype(np.int8), np.full(4, -1))
        chosen = {int(BANDIT_MM.pick(pool, state, 1, seed, {}).arm[0]) for seed in range(8)}
        assert chosen == arms


def test_thompson_tries_arms_that_look_worse_now_and_then():
    ranks = np.array([[1, 2, 0, 0], [0, 0, 1, 2]], np.int32)
    pool = OrderPool(ranks, np.array([1, 2, 1, 2], np.int32), np.arange(4))
    judged = np.array([True, False, True, False])
    label = np.array([YES, -1, NO, -1], np.int8)
    state = JudgingState(judged, judged, label, np.full(4, -1))
    arms = [int(BANDIT_THOMPSON.pick(pool, state, 1, seed, {}).arm[0]) for seed in range(60)]
    # Beta(2, 1) beats Beta(1, 2) with probability 5/6: 50 of 60 expected, standard deviation 2.9
    assert 41 <= arms.count(0) <= 59
