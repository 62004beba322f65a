"""Name where our measures and those of other tools differ, each with both values on one example.

docs/measures.md is written from these lists; a test computes every value again, and checks that no measure of
ir_measures and trec_eval is missing here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Convention:
    """Describe one difference: what we do, what the peer does, and what both give for the example."""

    subject: str
    peer: str
    ours: str
    theirs: str
    example: str
    our_value: float | None  # None: undefined, with a reason
    their_value: float
    compute: Callable[[], tuple[float, float]]  # both values


def _ranked(scores: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]]) -> Any:
    """Rank one run, question -> candidate -> score, under labels question -> candidate -> 1, 0 or -1."""
    import pandas as pd

    from evaluation import rank_table

    lines = [("run", q, c, s) for q, candidates in scores.items() for c, s in candidates.items()]
    labels = [(q, c, label) for q, candidates in qrels.items() for c, label in candidates.items()]
    runs = pd.DataFrame(lines, columns=["system", "question", "candidate", "score"])
    return rank_table(runs, pd.DataFrame(labels, columns=["question", "candidate", "label"]))


def _mean(measure: str, scores: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]]) -> float:
    from evaluation import evaluate

    return float(evaluate(_ranked(scores, qrels), [measure]).iloc[0, 0])


def _trec(measure: str, scores: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]]) -> float:
    """Return trec_eval's mean over the questions of the run."""
    import pytrec_eval

    found = pytrec_eval.RelevanceEvaluator(qrels, {measure}).evaluate(scores)
    return float(sum(of[measure] for of in found.values()) / len(found))


def _ir(measure: str, scores: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]]) -> float:
    import ir_measures

    asked = ir_measures.parse_measure(measure)
    return float(ir_measures.calc_aggregate([asked], qrels, scores)[asked])


def judged() -> tuple[float, float]:
    scores, qrels = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"a": 1, "b": 0, "c": -1}}
    return _mean("judged@10", scores, qrels), _ir("Judged@10", scores, qrels)


def missed_question() -> tuple[float, float]:
    scores, qrels = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 1, "b": 0}, "p": {"a": 1}}
    return _mean("map", scores, qrels), _trec("map", scores, qrels)


def tied_list() -> tuple[float, float]:
    scores, qrels = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1, "b": 0}}
    return _mean("macro_mrr", scores, qrels), _trec("recip_rank", scores, qrels)


def tied_average_precision() -> tuple[float, float]:
    from sklearn.metrics import average_precision_score

    scores, qrels = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1, "b": 0}}
    return _mean("map", scores, qrels), float(average_precision_score([1, 0], [1.0, 1.0]))


def tied_ndcg() -> tuple[float, float]:
    from sklearn.metrics import ndcg_score

    scores, qrels = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1, "b": 0}}
    return _mean("ndcg", scores, qrels), float(ndcg_score([[1, 0]], [[1.0, 1.0]]))


def returned() -> tuple[float, float]:
    import ir_measures

    scores = {"q": {"a": 2.0, "b": 1.0}, "p": {"a": 1.0, "b": 0.5, "c": 0.2, "d": 0.1}}
    qrels = {"q": {"a": 1}, "p": {"a": 1}}
    return _mean("num_ret", scores, qrels), float(
        ir_measures.calc_aggregate([ir_measures.NumRet], qrels, scores)[ir_measures.NumRet]
    )


def only_candidate() -> tuple[float, float]:
    import numpy as np
    from pykeen.metrics.ranking import AdjustedArithmeticMeanRankIndex

    ours = _mean("amri", {"q": {"a": 1.0}}, {"q": {"a": 1}})
    return ours, float(AdjustedArithmeticMeanRankIndex()(np.array([1.0]), num_candidates=np.array([1])))


def noise() -> tuple[float, float]:
    import numpy as np
    from scipy.stats import kendalltau

    from evaluation.statistics.correlation import tau_of_means

    one, other = [0.3, 0.1 + 0.2, 0.5], [1.0, 2.0, 3.0]
    return tau_of_means(np.array(one), np.array(other)), float(kendalltau(one, other).statistic)


CONVENTIONS = (
    Convention(
        "judged@k", "ir_measures 0.4, Judged@10",
        "Counts positives, negatives and, by the page's setting, assumed negatives.",
        "Counts every line of the qrels, also grade -1 (in the pool, unjudged). Both tools divide a list shorter than "
        "k by its own length, and count 0 for a question that the run missed.",
        "A list a, b, c; a is positive, b negative, c in the pool and unjudged", 2 / 3, 1.0, judged,
    ),
    Convention(
        "A question that the run missed", "trec_eval 9 and pytrec_eval, map",
        "Counts 0 if the run was asked a question and did not answer it.",
        "Leaves the question out of the mean; `trec_eval -c` and ir_measures count 0.",
        "Two questions with one answer each; the run ranks the answer first in one and lacks the other", 0.5, 1.0,
        missed_question,
    ),
    Convention(
        "Equal scores in a list", "trec_eval 9, recip_rank",
        "One seeded random order of all entities breaks ties, the same for every system and question.",
        "The name of the document breaks ties, larger names first, so a system can gain by its names. Our exports "
        "give tied candidates scores in our order, so trec_eval repeats our figures.",
        "Candidates a and b have the same score, a is the answer", 1.0, 0.5, tied_list,
    ),
    Convention(
        "Equal scores in average precision", "scikit-learn, average_precision_score",
        "Ranks the list strictly, as trec_eval does. The page Triple classification follows scikit-learn.",
        "Tied candidates share one threshold: either all are returned, or none.",
        "Candidates a and b have the same score, a is the answer", 1.0, 0.5, tied_average_precision,
    ),
    Convention(
        "Equal scores in nDCG", "scikit-learn, ndcg_score",
        "Ranks the list strictly, as trec_eval does.",
        "Tied candidates share the mean of their discounts.",
        "Candidates a and b have the same score, a is the answer", 1.0, 0.8154648767857288, tied_ndcg,
    ),
    Convention(
        "Counts", "ir_measures 0.4, NumRet and NumRelRet; trec_eval, num_ret and num_rel_ret",
        "Takes the mean over the questions, like every other measure.",
        "Take the sum over the questions: our value times the number of questions.",
        "Two questions with 2 and 4 candidates returned", 3.0, 6.0, returned,
    ),
    Convention(
        "Nothing to choose", "PyKEEN 1.11, adjusted arithmetic mean rank index",
        "Gives no value, but a reason, if every answer is the only candidate of its question.",
        "Gives the value of a random order.",
        "One question whose answer is its only candidate", None, 0.0, only_candidate,
    ),
    Convention(
        "Equal means in tau", "scipy, kendalltau",
        "Rounds means to 12 digits first, so rounding errors of a sum do not decide the order of systems.",
        "Compares the floats without rounding.",
        "Means 0.3, 0.1 + 0.2 and 0.5 (as floats) against 1, 2, 3", 0.8164965809277261, 1.0, noise,
    ),
)  # fmt: skip

# every measure of ir_measures (its classes) and of trec_eval, and which of ours it is
SAME = {
    "AP": "map", "MAP": "map", "map": "map", "map_cut": "map@k", "NDCG": "ndcg@k", "nDCG": "ndcg@k", "ndcg": "ndcg",
    "ndcg_cut": "ndcg@k", "P": "p@k", "Precision": "p@k", "R": "recall@k", "Recall": "recall@k", "recall": "recall@k",
    "Rprec": "rprec", "RPrec": "rprec", "Bpref": "bpref", "BPref": "bpref", "bpref": "bpref", "infAP": "infap",
    "Success": "success@k", "success": "success@k", "RR": "macro_mrr", "MRR": "macro_mrr", "recip_rank": "macro_mrr",
    "Judged": "judged@k", "SetP": "set_p", "set_P": "set_p", "SetR": "set_r", "set_recall": "set_r", "SetF": "set_f",
    "set_F": "set_f", "SetAP": "set_ap", "set_map": "set_ap", "IPrec": "iprec@k", "iprec_at_recall": "iprec@k",
    "NumRet": "num_ret", "num_ret": "num_ret", "NumRelRet": "num_rel_ret", "num_rel_ret": "num_rel_ret",
}  # fmt: skip
GRADES = "needs grades; answers here are right or wrong"
ASPECTS = "needs aspects of a question; ours have one"
MISSING = {
    "every figure shows its number of questions as n": ("NumQ", "num_q"),
    "the same for every system; see the page Answers per question and the column n": ("NumRel", "num_rel"),
    GRADES: (
        "ERR", "NERR8", "NERR9", "NERR10", "NERR11", "ndcg_rel", "Rndcg", "G", "binG", "SDCG", "utility",
    ),
    ASPECTS: (
        "AP_IA", "MAP_IA", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "P_IA", "StRecall", "alpha_DCG", "alpha_nDCG", "α_DCG",
        "α_nDCG",
    ),
    "models how patiently a person reads on; no work on link prediction reports it": (
        "RBP", "BPM", "INST", "INSQ",
    ),
    "compares with an ideal order of preference, which nobody labels here": ("Compat",),
    "near 1 for every system: it is the chance that an answer ranks above a wrong candidate": (
        "Accuracy",
    ),
    "set precision relative to the best one of the same length; use R-precision": (
        "SetRelP", "set_relative_P", "relative_P",
    ),
    "the mean of eleven values of iprec; IPrec at recall 0 alone is missing, since k starts at 1": ("11pt_avg",),
    "if one question has the value 0, a geometric mean is 0 or depends on an arbitrary smallest value": (
        "gm_map", "gm_bpref",
    ),
    "R-precision at multiples of the number of answers; p@k and recall@k show the same curve": ("Rprec_mult",),
    "use judged@k: it shows how many of the top k candidates are judged": ("num_nonrel_judged_ret",),
    "a text, not a measure": ("runid", "relstring"),
}  # fmt: skip
