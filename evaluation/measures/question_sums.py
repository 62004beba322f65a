"""Sum the values of a measure by question: enough for means, resampled questions and live updates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.measure import Chance
from evaluation.measures.rank_table import Flags, Floats, Ints
from evaluation.measures.values import Values


@dataclass(frozen=True)
class QuestionSums:
    """Hold one measure of all systems, summed by evaluated question: several units (answers) if micro, one if macro.

    A resample of questions is one product of weights with `sums`. `finish` and `chance` are those of the measure.

    Attributes
    ----------
    sums : ndarray of float [systems, e]
        Sum over the units of each question; nan where one is undefined.
    counts : ndarray of int64 [e]
        Units of each question.
    question : ndarray of int [e]
        The questions, ascending.
    unit : {"answer", "question"}
        What a unit is.
    higher_is_better : bool
        The direction of the measure.

    Examples
    --------
    >>> from triplepool import question_sums, values
    >>> from triplepool.example import prepared, state
    >>> sums = question_sums(values(prepared, state, ["micro_mrr"])["micro_mrr"])
    >>> sums.counts, sums.mean().round(3)
    (array([2, 1, 2, 2]), array([1.   , 0.857, 0.267]))
    """

    sums: Floats  # [systems, e]; nan where a unit is undefined
    counts: NDArray[np.int64]  # [e] units
    question: Ints  # [e] ascending
    unit: Literal["answer", "question"]
    higher_is_better: bool
    finish: Callable[[Floats], Floats] | None = None
    chance: Chance | None = None  # of adjusted ranks: the level that the units were adjusted by

    @property
    def units(self) -> int:
        return int(self.counts.sum())

    def mean(self) -> Floats:
        """Return the mean [systems]; nan where a unit is undefined or there is none."""
        if not self.question.size:
            return np.full(self.sums.shape[0], np.nan)
        # rows in order, and no matrix product: the last digit is then the same on every machine and way here
        mean = np.ascontiguousarray(self.sums).sum(axis=1) / self.units
        return self.finish(mean) if self.finish else mean

    def keep(self, questions: Flags) -> QuestionSums:
        """Keep some questions of the rank table, bool [questions]; chance is then that among these."""
        kept = questions[self.question]
        sums, counts = self.sums[:, kept], self.counts[kept]
        chance = self.chance.keep(np.repeat(kept, self.counts)) if self.chance else None
        if self.chance and chance:
            sums = counts * self.chance.move(sums / counts, chance)  # a sum of n values moves as n times their mean
        return replace(self, sums=sums, counts=counts, question=self.question[kept], chance=chance)


def question_sums(values: Values) -> QuestionSums:
    """Sum per-unit values by question.

    Parameters
    ----------
    values : Values
        One measure, from `values`.

    Returns
    -------
    QuestionSums
        Sum and number of units for each evaluated question.

    Examples
    --------
    >>> from triplepool import question_sums, values
    >>> from triplepool.example import prepared, state
    >>> question_sums(values(prepared, state, ["micro_hits@1"])["micro_hits@1"]).sums
    array([[2., 1., 2., 2.],
           [1., 0., 2., 2.],
           [0., 0., 0., 0.]])
    """
    question = values.unit_question
    starts = np.flatnonzero(np.diff(question, prepend=-1))
    counts = np.diff(np.append(starts, question.size))
    sums = np.add.reduceat(values.per_unit, starts, axis=1) if starts.size else np.zeros((len(values.per_unit), 0))
    return QuestionSums(
        sums, counts, question[starts], values.unit, values.higher_is_better, values.finish, values.chance
    )
