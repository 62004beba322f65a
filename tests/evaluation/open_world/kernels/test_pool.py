"""What judging found of a pool, counted by hand, and the theory's mean over its questions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaluation.measures.label_state import LabelState
from evaluation.open_world.kernels.pool import (
    AnswerCounts,
    count_answers,
    discordant_share,
    mean_expected,
    missing_share,
)
from evaluation.open_world.kernels.theory import expected_metric
from tests.evaluation.rank_world import make_world


@pytest.mark.parametrize("seed", range(6))
def test_counts_are_those_of_the_rows(seed: int):
    world = make_world(seed)
    is_test = np.arange(len(world.state)) % 3 == 0
    found = count_answers(world.table, world.state, is_test)
    for question in range(world.questions):
        of = [t for q, _, t in world.rows if q == question]
        others = [t for t in of if not is_test[t]]
        states = [world.state[t] for t in others]
        assert found.test[question] == len(of) - len(others)
        assert found.new[question] == states.count(LabelState.POSITIVE)
        assert found.judged[question] == found.new[question] + states.count(LabelState.NEGATIVE)
        assert found.candidates[question] == len(states) - states.count(LabelState.NOT_POOLED)


def test_share_is_new_by_all_answers():
    found = AnswerCounts(*(np.array(counts) for counts in ([3, 0, 2, 0], [1, 2, 0, 0], [5, 5, 5, 0], [9, 9, 9, 0])))
    assert missing_share(found)[:3].tolist() == [0.25, 1, 0] and math.isnan(missing_share(found)[3])
    summed = found.by_group(np.array([1, 1, 0, 0]), 2, np.array([True, True, True, False]))
    assert [counts.tolist() for counts in summed] == [[2, 3], [0, 3], [5, 10], [9, 18]]


def test_mean_is_over_the_units():
    answers, beta = np.array([3, 7, 3, 1]), np.array([0.2, 0.5, 0.2, 0.0])
    levels = np.array([0.3, 0.9])
    slow = np.mean([expected_metric(int(n), b, levels, "log_mrr") for n, b in zip(answers, beta, strict=True)], axis=0)
    assert mean_expected(answers, beta, levels, "log_mrr") == pytest.approx(slow)


def test_pairs_in_opposite_orders():
    one, other = np.array([0.1, 0.2, 0.3, 0.3]), np.array([0.2, 0.1, 0.5, 0.6])
    assert discordant_share(one, other) == pytest.approx(1 / 5)  # the pair that one side ties says nothing
    assert discordant_share(one, one) == 0 and discordant_share(one, -one) == 1
    assert math.isnan(discordant_share(one[:1], other[:1])) and math.isnan(discordant_share(one, one * 0))
