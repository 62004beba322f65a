"""Numbers of answers in bins."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.statistics.answer_counts import BINS, answer_counts, bin_counts, label_of_bin
from pooling.questions.kernel import Questions


def test_bins_take_their_first_and_last_number():
    numbers = np.array([0, 1, 2, 3, 5, 6, 10, 11, 50, 51, 900])
    assert bin_counts(numbers).tolist() == [1, 1, 1, 2, 2, 2, 2]
    assert [label_of_bin(i) for i in range(len(BINS))] == ["0", "1", "2", "3–5", "6–10", "11–50", "> 50"]


def test_no_number_is_in_no_bin_and_a_negative_one_is_refused():
    assert bin_counts(np.zeros(0, dtype=np.int64)).tolist() == [0] * 7
    with pytest.raises(ValueError, match="fewer than 0"):
        bin_counts(np.array([3, -1]))


def test_a_repeated_triple_is_one_answer_and_other_questions_are_not_counted():
    triples = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 2], [3, 0, 1], [0, 1, 2]])
    side, entity, relation = np.array([[0, 0, 0], [0, 3, 0], [0, 1, 0], [1, 1, 0], [1, 2, 1], [1, 0, 1]]).T
    questions = Questions(side.astype(np.int8), entity, relation)
    assert answer_counts(questions, triples, 4, 2).tolist() == [2, 1, 0, 2, 1, 0]
