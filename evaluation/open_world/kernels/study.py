"""Compare the values that a sparse and a full test set give the checkpoints of a system.

The full test set are all facts outside train and valid (the open answers); some of them are test answers, the others
are missing. A row is an open answer of a question, and what `RankTable` calls a system is a checkpoint here. In the
sparse evaluation the missing answers are candidates like any wrong entity, and so push test answers down.
Source: Yang, Lin and Zhang (2022), Rethinking knowledge graph evaluation under the open-world assumption, NeurIPS.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluation.measures.label_state import LabelState
from evaluation.measures.prepared import Labelled, Prepared, prepare
from evaluation.measures.rank_table import Flags, Floats, Ints, RankTable
from evaluation.open_world.kernels.theory import METRICS, gain_of


def prepare_answers(question: Ints, entity: Ints, strict: Ints, optimistic: Ints, pessimistic: Ints) -> Prepared:
    """Prepare rows [w] in the order of questions, with positions [checkpoints, w] among what train leaves open."""
    count = int(question.max(initial=-1)) + 1
    nothing = np.zeros(count, np.int32)
    return prepare(
        RankTable(
            question=question.astype(np.int32),
            entity=entity.astype(np.int32),
            triple=np.arange(len(question), dtype=np.int32),
            strict=strict.astype(np.int32),
            optimistic=optimistic.astype(np.int32),
            pessimistic=pessimistic.astype(np.int32),
            side=nothing.astype(np.int8),
            relation=nothing,
            candidates=nothing,
        )
    )


def _labelled(prepared: Prepared, counted: Flags) -> Labelled:
    return Labelled(prepared, np.where(counted, LabelState.POSITIVE, LabelState.UNJUDGED).astype(np.int8))


def filtered_ranks(prepared: Prepared, counted: Flags) -> Floats:
    """Return realistic ranks [checkpoints, counted rows] where only the `counted` rows, bool [w], are answers."""
    return _labelled(prepared, counted).micro_rank


def metric_values(prepared: Prepared, counted: Flags) -> dict[str, Floats]:
    """Return each of METRICS [checkpoints]; nan where no row is counted.

    The mean over the questions with a counted row of the mean over those rows.
    """
    answers = _labelled(prepared, counted)
    if not answers.count.size:
        return {metric: np.full(answers.table.systems, np.nan) for metric in METRICS}
    return {
        metric: (answers.sum_by_question(gain_of(metric)(answers.micro_rank)) / answers.count).mean(axis=1)
        for metric in METRICS
    }


def divide_by_prediction(
    question: Ints, rank: Floats, test: Flags, predicted_missing: bool, rng: np.random.Generator
) -> Flags:
    """Return which rows are test answers where a model influences what is missing, bool [w].

    Each question keeps as many test answers as `test` gives it. They are those of the best `rank` (of the model,
    filtered by all open answers), or of the worst where the answers that it predicts are to be missing; rows of equal
    rank are drawn.
    """
    order = np.lexsort((rng.permutation(len(rank)), -rank if predicted_missing else rank, question))
    start = np.searchsorted(question, question)  # rows are ordered by question
    wanted = np.bincount(question[test], minlength=int(question.max(initial=-1)) + 1)
    chosen = np.zeros(len(rank), bool)
    chosen[order] = np.arange(len(rank)) - start < wanted[question]
    return chosen


def correlation(missing: Flags, predicted: Flags) -> float:
    """Return ρ, the phi coefficient of two flags of the same answers; nan where one of them never changes."""
    x, y = missing.mean(), predicted.mean()
    spread = x * (1 - x) * y * (1 - y)
    return float(((missing & predicted).mean() - x * y) / np.sqrt(spread)) if spread > 0 else float("nan")


class Slopes(NamedTuple):
    """Slope of the sparse metric over the full one; nan where the full one never changes."""

    first: float  # over the lower half of the range of the full metric
    last: float  # over the upper half

    @property
    def fall(self) -> float:
        """Return the degradation, the lost share of the slope; below 0 where the curve gets steeper."""
        return 1.0 - self.last / self.first if self.first > 0 else float("nan")


def slopes(full: Floats, sparse: Floats) -> Slopes:
    """Return the slopes of a system's sparse-full curve, linear between checkpoints; both metrics [checkpoints]."""
    x, place = np.unique(full, return_inverse=True)
    if len(x) < 2:
        return Slopes(float("nan"), float("nan"))
    y = np.bincount(place, sparse) / np.bincount(place)
    middle = (x[0] + x[-1]) / 2
    half = middle - x[0]
    at = float(np.interp(middle, x, y))
    return Slopes((at - float(y[0])) / half, (float(y[-1]) - at) / half)


class Pairs(NamedTuple):
    """Pairs of checkpoints of different systems; `largest`: the largest inverted difference of the full metric."""

    inverted: int
    compared: int  # those with different full metrics
    largest: float

    @property
    def share(self) -> float:
        return self.inverted / self.compared if self.compared else float("nan")


def inverted_pairs(owner: Sequence[int] | Ints, full: Floats, sparse: Floats) -> Pairs:
    """Count the pairs that the sparse metric orders against the full one; `owner` is the system of each point."""
    one, other = np.triu_indices(len(full), 1)
    system = np.asarray(owner)
    apart = system[one] != system[other]
    difference = (full[other] - full[one])[apart]
    shown = (sparse[other] - sparse[one])[apart]
    inverted = difference * shown < 0
    largest = float(np.abs(difference[inverted]).max(initial=0.0))
    return Pairs(int(np.count_nonzero(inverted)), int(np.count_nonzero(difference)), largest)
