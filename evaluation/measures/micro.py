"""Compute micro measures: one value per answer and side, from its rank with all other answers filtered out.

"Filtered out" is exactly what PyKEEN does: the other answers leave the candidate list before the rank
is read. With optimistic rank o and pessimistic rank p, o loses the other answers with a higher score and p
those with a higher or equal score; the realistic rank is (o + p) / 2, so an answer tied with
this one counts half. Source: PyKEEN 1.11, pykeen.evaluation.RankBasedEvaluator.
"""

import numpy as np

from evaluation.measures.measure import Measure, rank_or_nan
from evaluation.measures.prepared import Labelled
from evaluation.measures.rank_table import Floats

SOURCE = "PyKEEN RankBasedEvaluator, realistic rank"
MISSING = "the run did not return {missing} of {n} answers; a mean rank needs all"


def rank(answers: Labelled, k: int | None = None) -> Floats:
    """Return the filtered realistic rank [systems, answers]; nan where the run did not return the answer."""
    return rank_or_nan(answers.micro_rank)


def log_rank(answers: Labelled, k: int | None = None) -> Floats:
    """Return the natural logarithm of `rank`: exp of its mean is the geometric mean rank."""
    return np.log(rank(answers))


def reciprocal_rank(answers: Labelled, k: int | None = None) -> Floats:
    return 1.0 / answers.micro_rank


def hits(answers: Labelled, k: int | None) -> Floats:
    assert k is not None
    return (answers.micro_rank <= k).astype(np.float64)


ROWS = (
    Measure(
        "micro_mr", "Micro MR", "micro", "none", 1.0, None, False,
        "Mean rank of all answers, each ranked with the question's other answers removed. "
        "A single low-ranked answer can change it a lot, and it is undefined if a run misses an answer.",
        "mean over (q, a) of rank(q, a)", SOURCE, rank, (None,), missing=MISSING,
        caution="It grows with the number of candidates, so compare it within one graph only.",
    ),
    Measure(
        "micro_mrr", "Micro MRR", "micro", "none", 0.0, 1.0, True,
        "Mean of 1/rank over all answers, each ranked with the question's other answers removed. "
        "Every answer weighs the same, so questions with many answers dominate.",
        "mean over (q, a) of 1 / rank(q, a)", SOURCE, reciprocal_rank, (None,),
    ),
    Measure(
        "micro_hits", "Micro Hits@{k}", "micro", "required", 0.0, 1.0, True,
        "Share of all answers among the top {k} when the question's other answers are removed. "
        "Every answer weighs the same, so questions with many answers dominate.",
        "mean over (q, a) of [rank(q, a) <= {k}]", SOURCE, hits, (1, 3, 10),
        parameters="k = {k}: the largest rank that is a hit",
        caution="An answer that shares the first place with another candidate has rank 1.5, which is not a hit at 1.",
    ),
)  # fmt: skip
