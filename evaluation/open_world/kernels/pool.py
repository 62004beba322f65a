"""Measure the missing answers of a judged pool, and compute what theory expects of its reported values.

New answers are positives that are not in the test set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.measures.label_state import LabelState, States
from evaluation.measures.rank_table import Flags, Floats, RankTable
from evaluation.open_world.kernels.theory import RankFunction, expected_metric
from evaluation.statistics.correlation import merit


class AnswerCounts(NamedTuple):
    """Answers by question, [questions]: test answers, new ones, judged and all candidates outside the test set."""

    test: NDArray[np.int64]
    new: NDArray[np.int64]
    judged: NDArray[np.int64]
    candidates: NDArray[np.int64]

    def by_group(self, groups: NDArray[np.int64], size: int, questions: Flags) -> AnswerCounts:
        """Return sums over the `questions`, bool[questions], by their group, [questions] below size: [size] each."""
        at = groups[questions]
        summed = (np.bincount(at, weights=count[questions], minlength=size) for count in self)
        return AnswerCounts(*(total.astype(np.int64) for total in summed))


def count_answers(table: RankTable, state: States, is_test: Flags) -> AnswerCounts:
    """Count answers by question. `state`, `is_test` [triples]; `table` has rows of all test triples, sampled or not."""
    new = (state == LabelState.POSITIVE) & ~is_test
    judged = new | ((state == LabelState.NEGATIVE) & ~is_test)
    candidates = (state != LabelState.NOT_POOLED) & ~is_test

    def holding(triples: Flags) -> NDArray[np.int64]:
        return np.bincount(table.question[triples[table.triple]], minlength=table.questions)

    return AnswerCounts(holding(is_test), holding(new), holding(judged), holding(candidates))


def missing_share(found: AnswerCounts) -> Floats:
    """Return β, the share of new answers in all, in the shape of `found`; nan where there is no answer."""
    answers = found.new + found.test
    return np.divide(found.new, answers, out=np.full(answers.shape, np.nan), where=answers > 0)


def mean_expected(answers: NDArray[np.int64], beta: Floats, strengths: ArrayLike, f: str | RankFunction) -> Floats:
    """Return the mean of Ê over units at strengths [...]: [...]. `answers` and `beta`: right answers and β, [units]."""
    levels = np.asarray(strengths, dtype=np.float64)
    kinds, counts = np.unique(np.stack([answers.astype(np.float64), beta]), axis=1, return_counts=True)
    total = np.zeros(levels.shape)
    for (n, share), count in zip(kinds.T, counts, strict=True):
        total += count * expected_metric(int(n), share, levels, f)
    return total / max(answers.size, 1)


def discordant_share(one: Floats, other: Floats) -> float:
    """Return the share of pairs of systems that two values, [systems] each, order oppositely; nan without a pair.

    Pairs that one of the values ties are left out.
    """
    left, right = np.triu_indices(one.size, k=1)
    here, there = (np.sign(value[left] - value[right]) for value in (merit(one, True), merit(other, True)))
    told = here * there
    return float(np.mean(told[told != 0] < 0)) if np.any(told != 0) else float("nan")
