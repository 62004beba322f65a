"""Compute macro measures: one value per question, from the strict position of its best answer."""

import numpy as np

from evaluation.measures.measure import Measure, rank_or_nan
from evaluation.measures.prepared import Labelled
from evaluation.measures.rank_table import Floats

SOURCE = "trec_eval recip_rank and success"


def first_rank(answers: Labelled, k: int | None = None) -> Floats:
    """Return the position of the best answer [systems, questions]; nan where the run returned no answer."""
    return rank_or_nan(answers.first)


def reciprocal_rank(answers: Labelled, k: int | None = None) -> Floats:
    return 1.0 / answers.first


def hits(answers: Labelled, k: int | None) -> Floats:
    assert k is not None
    return (answers.first <= k).astype(np.float64)


ROWS = (
    Measure(
        "macro_mr", "Macro MR", "macro", "none", 1.0, None, False,
        "Mean position of the best answer of each question. "
        "It is undefined if a run returns no answer to a question.",
        "mean over q of first(q), the smallest strict position of an answer", SOURCE, first_rank, (None,),
        missing="the run returned no answer to {missing} of {n} questions; a mean rank needs one to each",
        caution="It grows with the number of candidates, so compare it within one graph only.",
    ),
    Measure(
        "macro_mrr", "Macro MRR", "macro", "none", 0.0, 1.0, True,
        "Mean over questions of 1/position of the best answer. "
        "Every question weighs the same, however many answers it has.",
        "mean over q of 1 / first(q)", SOURCE, reciprocal_rank, (None,),
    ),
    Measure(
        "macro_hits", "Macro Hits@{k}", "macro", "required", 0.0, 1.0, True,
        "Share of questions with at least one answer among the top {k}. "
        "Every question weighs the same, however many answers it has.",
        "mean over q of [first(q) <= {k}]", SOURCE, hits, (1, 3, 10),
        parameters="k = {k}: the largest position that is a hit",
    ),
)  # fmt: skip
