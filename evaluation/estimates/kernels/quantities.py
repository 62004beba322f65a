"""Name the estimates for pages, commands and docs; measures have the names of the registry of measures."""

from typing import NamedTuple

from evaluation.estimates.kernels.estimator import OF_RANK


class Quantity(NamedTuple):
    name: str
    label: str
    description: str
    formula: str
    source: str


MEASURED = tuple(f"{kind}_{name}" for kind in ("micro", "macro") for name in OF_RANK)
MODELLED = ("map", "ndcg@20")  # list measures that the model estimates
# The model spreads positives among questions slightly too evenly, which shifts what looks at the top of a list by about
# one percent. Each factor widens the interval beyond the spread of the imputations. They were set on the published
# labels of FB15k-237 (60 draws of each kind of benchmarks/estimate_coverage.py, seeds 19 to 78).
WIDER = {
    "micro_mrr": 1.2, "micro_hits@1": 1.2, "map": 1.15, "micro_hits@10": 1.1, "macro_hits@1": 1.1, "ndcg@20": 1.1,
    "micro_hits@3": 1.05, "macro_mrr": 1.05, "macro_hits@10": 1.05,
}  # fmt: skip
NO_INTERVAL = {
    "unbiased": "Weights grow with every positive above an answer, so a few questions decide how far an estimate"
    " spreads. A sample without them shows a small spread, and an interval made of it is too short.",
    "questions": "The model opens one or two percent more questions than there are, and an interval of their number is"
    " too wide under one order and too short under another.",
    "lists": "An estimated number of answers divides the sum of each question. That shifts the value by an amount that"
    " the sample does not show.",
}
COUNTS = (
    Quantity(
        "positives", "Positive triples", "Seeds plus the positives that the whole pool would have.",
        "seeds + sum over drawn positives of 1 / probability", "Horvitz and Thompson 1952",
    ),
    Quantity(
        "answers", "Answers", "Positive triples, counted once for each of their questions in the pool.",
        "the same over both sides of every positive triple", "Horvitz and Thompson 1952",
    ),
    Quantity(
        "questions", "Questions with an answer",
        "Questions that would have an answer. The questions of the seeds always have one.",
        "sum over sets S of drawn positives of one question of (-1)^(|S| + 1) / probability of S",
        "inclusion and exclusion over Horvitz and Thompson 1952",
    ),
)  # fmt: skip
LISTS = (
    Quantity(
        "xinfap", "Stratified infAP",
        "MAP of the questions with a certain positive. Each question's sum is divided by its estimated number of "
        "answers. This makes the value too small if few of a question's triples are drawn.",
        "mean over q of sum over drawn answers i of (1 / p_i + sum over drawn answers j above of 1 / p_ij) / pos_i, "
        "divided by sum over i of 1 / p_i",
        "Yilmaz, Kanoulas and Aslam 2008",
    ),
    Quantity(
        "infndcg@20", "infNDCG@20",
        "nDCG@20 of the same questions. The ideal list is as long as the estimated number of answers. "
        "Between two whole numbers, the ideal is interpolated.",
        "mean over q of sum over drawn answers with pos_i <= 20 of 1 / (p_i log2(pos_i + 1)), "
        "divided by ideal DCG@20 of sum over i of 1 / p_i answers",
        "Yilmaz, Kanoulas and Aslam 2008",
    ),
    Quantity(
        "nist_infap", "infAP (NIST)",
        "MAP of the same questions as NIST's sample_eval.pl estimates it: weights are the shares of each question, and "
        "the precision at an answer is expected from the judged triples above it.",
        "mean over q of sum over strata of N / n times sum over drawn answers i of (1 + sum over strata of D (r + e) / "
        "(s + 3 e)) / pos_i, divided by sum over strata of r N / n; N, n, r: pooled, judged and positive triples of "
        "the question, D, s, r: of these above i; e = 0.00001",
        "Yilmaz, Kanoulas and Aslam 2008; sample_eval.pl of NIST",
    ),
    Quantity(
        "nist_infndcg", "infNDCG (NIST)",
        "nDCG@1000 of the same questions as NIST's sample_eval.pl estimates it. The ideal list has the whole part of "
        "the estimated number of answers.",
        "mean over q of sum over strata of D / s times sum over drawn answers i of 1 / log2(pos_i + 1), divided by "
        "ideal DCG of sum over strata of r N / n answers; D, s: pooled and judged triples in the first 1,000",
        "Yilmaz, Kanoulas and Aslam 2008; sample_eval.pl of NIST",
    ),
)  # fmt: skip
