"""Compute the list measures of trec_eval on the strict order: one value per question.

All answers are relevant with gain 1. Judged nonrelevant are the negatives and, if they count as judged, the
assumed negatives; what is in the pool without a judgement is trec_eval's -1. A question counts once it has
an answer. The reference is trec_eval 9 (m_map.c, m_ndcg_cut.c, m_bpref.c, m_infap.c, …) through pytrec_eval;
tests compare to 1e-6.
"""

import numpy as np

from evaluation.measures.measure import Measure
from evaluation.measures.prepared import Labelled
from evaluation.measures.rank_table import Flags, Floats

SOURCE = "trec_eval 9, {}"
INFAP_EPSILON = 0.00001  # trec_eval's smoothing in m_infap.c


def _within(answers: Labelled, k: int | None) -> Flags:
    """Tell which answers are among the first k, or were returned at all: [systems, n] by position."""
    return answers.strict <= k if k is not None else answers.strict < np.inf


def average_precision(answers: Labelled, k: int | None = None) -> Floats:
    precision = (answers.answers_above + 1) / answers.strict
    return answers.sum_by_question(precision if k is None else precision * _within(answers, k)) / answers.count


def ndcg(answers: Labelled, k: int | None = None) -> Floats:
    ideal = np.cumsum(1.0 / np.log2(np.arange(2, int(answers.count.max(initial=0)) + 2)))
    if k is None:
        return answers.sum_by_question(answers.gain) / ideal[answers.count - 1]
    return answers.sum_by_question(answers.gain * _within(answers, k)) / ideal[np.minimum(answers.count, k) - 1]


def precision(answers: Labelled, k: int | None) -> Floats:
    assert k is not None
    return answers.sum_by_question(_within(answers, k)) / k


def recall(answers: Labelled, k: int | None) -> Floats:
    return answers.sum_by_question(_within(answers, k)) / answers.count


def success(answers: Labelled, k: int | None) -> Floats:
    assert k is not None
    return (answers.first <= k).astype(np.float64)


def r_precision(answers: Labelled, k: int | None = None) -> Floats:
    return answers.sum_by_question(answers.strict <= np.repeat(answers.count, answers.count)) / answers.count


def bpref(answers: Labelled, k: int | None = None) -> Floats:
    """Return bpref [systems, questions]; recall without a judged nonrelevant candidate, as in trec_eval."""
    relevant = np.repeat(answers.count, answers.count)  # [n]
    nonrelevant = np.repeat(answers.count_in_question(answers.nonrelevant), answers.count)
    above = np.minimum(answers.nonrelevant_above, relevant)
    preferred = 1.0 - above / np.maximum(np.minimum(nonrelevant, relevant), 1)
    return answers.sum_by_question(np.where(_within(answers, None), preferred, 0.0)) / answers.count


def inferred_average_precision(answers: Labelled, k: int | None = None) -> Floats:
    """Return infAP (Yilmaz and Aslam 2006): precision above an answer is estimated from what is judged there."""
    before = answers.strict - 1.0  # candidates above
    relevant = answers.answers_above
    nonrelevant = answers.nonrelevant_above
    pooled = relevant + nonrelevant + answers.count_above(answers.unjudged)
    estimated = (relevant + INFAP_EPSILON) / (relevant + nonrelevant + 2 * INFAP_EPSILON)
    # 1/(b+1) + b/(b+1) * pooled/b * estimated; b cancels, so the first position needs no case of its own
    expected = (1.0 + np.where(before > 0, pooled * estimated, 0.0)) / answers.strict
    return answers.sum_by_question(expected) / answers.count


PREFIX = "k = {k}: candidates after position k count as not returned"
UNLABELLED = "Unjudged candidates count as wrong. If a system's new answers were not pooled, it looks worse than it is."


ROWS = (
    Measure(
        "map", "MAP@{k}", "macro", "optional", 0.0, 1.0, True,
        "Mean over questions of the average precision at the positions of the answers. "
        "Answers outside the list count as zero, so it rewards finding all answers early.",
        "mean over q of (1 / n_q) * sum over answers at position r of (answers up to r) / r",
        SOURCE.format("map and map_cut"), average_precision, (None, 20),
        parameters=PREFIX, caution=UNLABELLED,
    ),
    Measure(
        "ndcg", "nDCG@{k}", "macro", "optional", 0.0, 1.0, True,
        "Sum of discounts 1 / log2(position + 1) of the answers, divided by the best possible sum. "
        "A late answer still counts a little, unlike in Hits.",
        "mean over q of DCG / ideal DCG, DCG = sum over answers at position r <= {k} of 1 / log2(r + 1), "
        "ideal DCG = sum over i = 1 … min(n_q, {k}) of 1 / log2(i + 1)",
        SOURCE.format("ndcg and ndcg_cut"), ndcg, (20,),
        parameters=PREFIX, caution=UNLABELLED,
    ),
    Measure(
        "p", "P@{k}", "macro", "required", 0.0, 1.0, True,
        "Share of answers among the top {k} candidates. "
        "A question with fewer than {k} answers cannot reach 1.",
        "mean over q of (answers in the first {k}) / {k}",
        SOURCE.format("P"), precision, (10,),
        parameters="k = {k}: the first k candidates", caution=UNLABELLED,
    ),
    Measure(
        "recall", "Recall@{k}", "macro", "required", 0.0, 1.0, True,
        "Share of a question's answers among the top {k}. "
        "A question with more than {k} answers cannot reach 1.",
        "mean over q of (answers in the first {k}) / n_q",
        SOURCE.format("recall"), recall, (10,),
        parameters="k = {k}: the first k candidates",
        caution="Only the answers found so far are known. Recall of all true answers is lower.",
    ),
    Measure(
        "rprec", "R-precision", "macro", "none", 0.0, 1.0, True,
        "Share of answers among the top n candidates, where n is the question's number of answers. "
        "A perfect order reaches 1 for every question.",
        "mean over q of (answers in the first n_q) / n_q",
        SOURCE.format("Rprec"), r_precision, (None,),
        caution="n_q is the number of answers found so far, so it grows with the labels.",
    ),
    Measure(
        "bpref", "bpref", "macro", "none", 0.0, 1.0, True,
        "How often answers rank above the judged negatives of their question; unjudged candidates are ignored. "
        "Without a judged negative, the value of a question is its recall.",
        "mean over q of (1 / n_q) * sum over returned answers of "
        "1 - min(negatives above, n_q) / max(1, min(negatives, n_q)); without negatives: (returned answers) / n_q",
        SOURCE.format("bpref"), bpref, (None,),
        caution="Without judged negatives it is recall, and only measures how many answers a system returns.",
        answers_only=False,
    ),
    Measure(
        "infap", "infAP", "macro", "none", 0.0, 1.0, True,
        "Average precision estimated from a pool that is only partly judged. "
        "The estimate holds only if the judged triples are a random sample of the pool.",
        "mean over q of (1 / n_q) * sum over answers at r of (1 + pooled above * precision above) / r, "
        f"precision above = (answers above + {INFAP_EPSILON:.5f})"
        f" / (answers above + negatives above + {2 * INFAP_EPSILON:.5f})",
        SOURCE.format("infAP"), inferred_average_precision, (None,),
        caution="A pool judged by depth or by type is not a random sample, so the estimate is biased. "
        "If the whole pool is judged, it equals MAP except for trec_eval's smoothing.",
        answers_only=False,
    ),
    Measure(
        "success", "Success@{k}", "macro", "required", 0.0, 1.0, True,
        "Share of questions with an answer among the top {k}. It is the same as Macro Hits@{k}.",
        "mean over q of [an answer in the first {k}]",
        SOURCE.format("success"), success, (10,),
        parameters="k = {k}: the first k candidates",
    ),
)  # fmt: skip
