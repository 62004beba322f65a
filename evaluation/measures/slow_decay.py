"""Compute micro measures that fall more slowly with the rank than MRR, so that missing labels distort them less.

Source: Yang, Lin and Zhang 2022 (arXiv 2209.08858).
"""

import numpy as np

from evaluation.measures.measure import Measure
from evaluation.measures.prepared import Labelled
from evaluation.measures.rank_table import Floats

POWER = 0.5  # p of p-MRR
SOURCE = "Yang, Lin and Zhang 2022 (arXiv 2209.08858)"


def log_reciprocal_rank(answers: Labelled, k: int | None = None) -> Floats:
    return 1.0 / np.log2(answers.micro_rank + 1.0)


def power_of_rank(answers: Labelled, k: int | None = None) -> Floats:
    return answers.micro_rank**-POWER


ROWS = (
    Measure(
        "micro_log_mrr", "Micro log-MRR", "micro", "none", 0.0, 1.0, True,
        "Mean of 1/log2(rank + 1) over all answers, each ranked with the question's other answers removed. "
        "It falls more slowly with the rank than Micro MRR, so missing labels distort it less.",
        "mean over (q, a) of 1 / log2(rank(q, a) + 1)", SOURCE, log_reciprocal_rank, (None,),
    ),
    Measure(
        "micro_p_mrr", "Micro p-MRR", "micro", "none", 0.0, 1.0, True,
        "Mean of rank to the power of -p over all answers, with p = 0.5, each ranked with the question's other "
        "answers removed. It falls more slowly with the rank than Micro MRR, so missing labels distort it less.",
        f"mean over (q, a) of rank(q, a)^-{POWER}", SOURCE, power_of_rank, (None,),
    ),
)  # fmt: skip
