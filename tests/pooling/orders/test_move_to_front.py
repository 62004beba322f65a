from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pooling.orders.base import YES, JudgingState, OrderPool
from pooling.orders.follow import run_places
from pooling.orders.move_to_front import MOVE_TO_FRONT
from tests.pooling.orders.literal import best_of_run, one_at_a_time, shallow_first, standings, worlds


def literal(pool: OrderPool, truth: np.ndarray, seed: int) -> tuple[list[int], list[int]]:
    """Cormack's: the run with the highest priority is followed while it is right; a wrong candidate costs it one."""
    place = run_places(pool, seed)
    priority = dict.fromkeys(range(pool.runs), int(pool.ranks.max(initial=0)))
    left, triples, arms = list(range(pool.size)), [], []
    while left:
        for run in [r for r in priority if best_of_run(pool, r, left, seed) is None]:
            del priority[run]
        if not priority:
            triples.append(shallow_first(pool, left, seed))
            arms.append(-1)
            left.remove(triples[-1])
            continue
        run = min(priority, key=lambda r: (-priority[r], place[r]))
        while (triple := best_of_run(pool, run, left, seed)) is not None:
            triples.append(triple)
            arms.append(run)
            left.remove(triple)
            if truth[triple] != YES:
                priority[run] -= 1
                break
    return triples, arms


@given(worlds(), st.integers(0, 3))
def test_one_at_a_time_equals_the_textbook(world, seed):
    pool, truth = world
    assert one_at_a_time(MOVE_TO_FRONT, pool, truth, seed) == literal(pool, truth, seed)


@given(standings(), st.integers(1, 14), st.integers(0, 3))
def test_a_batch_is_what_follows_when_every_open_answer_is_no(standing, size, seed):
    pool, state = standing
    batch = MOVE_TO_FRONT.pick(pool, state, size, seed, {})
    for triple, arm in zip(batch.triple.tolist(), batch.arm.tolist(), strict=True):
        one = MOVE_TO_FRONT.pick(pool, state, 1, seed, {})
        assert (one.triple.tolist(), one.arm.tolist()) == ([triple], [arm])
        state.released[triple], state.label[triple], state.arm[triple] = True, 0, arm


def test_stays_with_a_run_that_is_right_and_leaves_one_that_is_wrong():
    ranks = np.array([[1, 2, 3, 0, 0], [0, 0, 0, 1, 2]], np.int32)
    pool = OrderPool(ranks, np.array([1, 2, 3, 1, 2], np.int32), np.arange(5))
    seed = next(s for s in range(9) if run_places(pool, s)[0] == 0)  # the first run comes first
    triples, arms = one_at_a_time(MOVE_TO_FRONT, pool, np.array([1, 0, 1, 0, 1], np.int8), seed)
    # after its wrong second candidate run 0 waits for run 1, whose first is wrong: equal again
    assert (triples, arms) == ([0, 1, 3, 2, 4], [0, 0, 1, 0, 1])


def test_what_came_with_its_question_costs_no_run():
    ranks = np.array([[1, 2, 0], [0, 0, 1]], np.int32)
    pool = OrderPool(ranks, np.array([1, 2, 1], np.int32), np.arange(3))
    seed = next(s for s in range(9) if run_places(pool, s)[0] == 0)
    state = JudgingState(
        np.array([True, False, False]), np.zeros(3, bool), np.array([0, -1, -1], np.int8), np.full(3, -1)
    )
    assert MOVE_TO_FRONT.pick(pool, state, 1, seed, {}).arm.tolist() == [0]
