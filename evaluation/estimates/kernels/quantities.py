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
COUNTS = (
    Quantity(
        "positives", "Positive triples", "Seeds and the positives that the whole pool would have.",
        "seeds + sum over drawn positives of 1 / probability", "Horvitz and Thompson 1952",
    ),
    Quantity(
        "answers", "Answers", "Positive triples, each once for each of its questions that is asked.",
        "the same over both sides of every positive triple", "Horvitz and Thompson 1952",
    ),
    Quantity(
        "questions", "Questions with an answer", "Questions that would have an answer; those of the seeds have one.",
        "sum over sets S of drawn positives of one question of (-1)^(|S| + 1) / probability of S",
        "inclusion and exclusion over Horvitz and Thompson 1952",
    ),
)  # fmt: skip
LISTS = (
    Quantity(
        "xinfap", "Stratified infAP",
        "MAP of the questions that have a certain positive, each question's sum divided by its estimated number of "
        "answers. That ratio makes it too small where few of a question's triples are drawn.",
        "mean over q of sum over drawn answers i of (1 / p_i + sum over drawn answers j above of 1 / p_ij) / pos_i, "
        "divided by sum over i of 1 / p_i",
        "Yilmaz, Kanoulas and Aslam 2008",
    ),
    Quantity(
        "infndcg@20", "infNDCG@20",
        "nDCG@20 of the same questions, the ideal list as long as the estimated number of answers. "
        "Between two whole numbers the ideal is interpolated.",
        "mean over q of sum over drawn answers with pos_i <= 20 of 1 / (p_i log2(pos_i + 1)), "
        "divided by ideal DCG@20 of sum over i of 1 / p_i answers",
        "Yilmaz, Kanoulas and Aslam 2008",
    ),
)  # fmt: skip
