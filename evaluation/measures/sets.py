"""Compute set measures, interpolated precision and counts of trec_eval: what a run returned, before its order.

A run's set of a question is everything it returned. A system of this site ranks every candidate, so its set is all of
them and these measures say little about it; they tell short imported runs apart. The reference is trec_eval 9
(m_set_P.c, m_set_F.c, m_set_map.c, m_iprec_at_recall.c, m_num_ret.c, …) through pytrec_eval; tests compare to 1e-6.
"""

import numpy as np

from evaluation.measures.measure import Measure
from evaluation.measures.prepared import Labelled
from evaluation.measures.rank_table import Floats

SOURCE = "trec_eval 9, {}; ir_measures {}"
WHOLE = "A system that ranks every candidate returns them all. Compare only runs that end their lists on purpose."


def answers_returned(answers: Labelled, k: int | None = None) -> Floats:
    """Count the answers that each system returned, [systems, questions]."""
    return answers.sum_by_question(answers.strict < np.inf)


def num_returned(answers: Labelled, k: int | None = None) -> Floats:
    return answers.returned.astype(np.float64)


def set_precision(answers: Labelled, k: int | None = None) -> Floats:
    return answers_returned(answers) / np.maximum(answers.returned, 1)


def set_recall(answers: Labelled, k: int | None = None) -> Floats:
    return answers_returned(answers) / answers.count


def set_f1(answers: Labelled, k: int | None = None) -> Floats:
    return 2.0 * answers_returned(answers) / (answers.returned + answers.count)


def set_average_precision(answers: Labelled, k: int | None = None) -> Floats:
    return set_precision(answers) * set_recall(answers)


def interpolated_precision(answers: Labelled, k: int | None) -> Floats:
    """Return the best precision at or after the answer that brings recall to k percent, [systems, questions].

    As trec_eval: floor(k / 100 * n_q + 0.9) answers bring it; with none of them needed, the best of the whole list.
    """
    assert k is not None
    precision = (answers.answers_above + 1) / answers.strict  # [systems, n] by position, 0 where not returned
    needed = np.floor(k * answers.count / 100 + 0.9).astype(np.intp)
    place = answers.answers_above + 1
    counted = np.where(place >= np.repeat(needed, answers.count), precision, 0.0)
    if answers.start.size == 0:
        return np.zeros((answers.table.systems, 0))
    return np.maximum.reduceat(counted, answers.start, axis=1)


ROWS = (
    Measure(
        "set_p", "Set precision", "macro", "none", 0.0, 1.0, True,
        "Share of answers among all returned candidates. The order within a list does not matter.",
        "mean over q of (answers returned) / (candidates returned); 0 if none was returned",
        SOURCE.format("set_P", "SetP"), set_precision, (None,), caution=WHOLE,
    ),
    Measure(
        "set_r", "Set recall", "macro", "none", 0.0, 1.0, True,
        "Share of a question's answers that were returned at all. The order within a list does not matter.",
        "mean over q of (answers returned) / n_q",
        SOURCE.format("set_recall", "SetR"), set_recall, (None,), caution=WHOLE,
    ),
    Measure(
        "set_f", "Set F1", "macro", "none", 0.0, 1.0, True,
        "Harmonic mean of set precision and set recall of each question. The order within a list does not matter.",
        "mean over q of 2 * (answers returned) / (candidates returned + n_q)",
        SOURCE.format("set_F", "SetF"), set_f1, (None,), caution=WHOLE,
    ),
    Measure(
        "set_ap", "Set average precision", "macro", "none", 0.0, 1.0, True,
        "Set precision times set recall of each question. It is high if the returned set is both precise and complete.",
        "mean over q of (answers returned)^2 / (candidates returned * n_q); 0 if none was returned",
        SOURCE.format("set_map", "SetAP"), set_average_precision, (None,), caution=WHOLE,
    ),
    Measure(
        "iprec", "Precision at recall {k} %", "macro", "required", 0.0, 1.0, True,
        "Best precision at or after the position where {k} % of the answers are found. "
        "It is 0 if a list ends earlier.",
        "mean over q of max (answers up to r) / r over positions r with floor({k} / 100 * n_q + 0.9) or more answers",
        SOURCE.format("iprec_at_recall", "IPrec"), interpolated_precision, (50,),
        parameters="k = {k}: percent of the answers; iprec@50 is IPrec@0.5", largest_k=100,
        caution="Only the answers found so far are known. Recall of all true answers is lower.",
    ),
    Measure(
        "num_ret", "Candidates returned", "macro", "none", 0.0, None, True,
        "Number of candidates that a run returned for a question. If it is low, the lists are short.",
        "mean over q of candidates returned",
        SOURCE.format("num_ret", "NumRet"), num_returned, (None,),
        caution="It shows how long the lists are, not how good a system is, so do not order systems by it.",
    ),
    Measure(
        "num_rel_ret", "Answers returned", "macro", "none", 0.0, None, True,
        "Number of a question's answers that a run returned. Questions with many answers weigh most.",
        "mean over q of answers returned",
        SOURCE.format("num_rel_ret", "NumRelRet"), answers_returned, (None,), caution=WHOLE,
    ),
)  # fmt: skip
