"""Adjust ranks for chance, and take their geometric mean, as PyKEEN's metric classes do on filtered realistic ranks.

What a random order would reach depends on how many candidates an answer is ranked among: those of its question
without the question's other answers. PyKEEN gives an affine change of the mean rank or the mean reciprocal
rank from these numbers alone, so every answer has a value of its own and the measure is their mean.
Sources: Berrendorf et al. 2020 (arXiv 2002.06914), Hoyt et al. 2022 (arXiv 2203.07544);
PyKEEN 1.11, pykeen.metrics.ranking.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from evaluation.measures import micro
from evaluation.measures.measure import Chance, Measure
from evaluation.measures.prepared import Labelled
from evaluation.measures.rank_table import Floats, Ints

SOURCE = "PyKEEN 1.11, {metric}; {paper}"
BERRENDORF, HOYT = "Berrendorf et al. 2020, arXiv 2002.06914", "Hoyt et al. 2022, arXiv 2203.07544"
Kernel = Callable[[Labelled, int | None], Floats]
OF_A_GROUP = "Chance is computed for the label set or group shown. Resampled questions keep the same chance."


def candidates_of_answers(answers: Labelled) -> Ints:
    """Return how many candidates each answer [n] is ranked among: C(q) without the question's other answers."""
    others = np.repeat(answers.count - 1, answers.count)
    left = answers.table.candidates[answers.answer_question].astype(np.int64) - others
    if left.min(initial=1) < 1:
        raise ValueError("a question has more answers than candidates")
    return left


def coefficients(metric: str, candidates: Ints) -> tuple[float, float]:
    """Return scale and offset of a PyKEEN metric class for the candidates [n] of n answers; nan where undefined."""
    # one candidate each: the expected value is the best one and the variance 0; PyKEEN divides by 1e-12 then
    if candidates.max(initial=0) <= 1 and (metric != "AdjustedArithmeticMeanRank" or candidates.size == 0):
        return np.nan, np.nan
    try:
        from pykeen.metrics import ranking  # imported here, since it takes seconds
    except ImportError as error:
        raise ValueError(f"{metric} comes from PyKEEN: pip install 'triplepool[train]', or leave it out.") from error

    scale, offset = getattr(ranking, metric)().get_coefficients(num_candidates=candidates)
    return float(scale), float(offset)


def _adjusted(metric: str, paper: str, base: Kernel, **more: str) -> dict[str, Any]:
    """Return the fields of a measure that a metric class of PyKEEN makes from a base measure."""

    def chance(answers: Labelled) -> Chance:
        return Chance(candidates_of_answers(answers), partial(coefficients, metric))

    def kernel(answers: Labelled, k: int | None) -> Floats:
        scale, offset = chance(answers).affine
        return scale * base(answers, k) + offset

    source = SOURCE.format(metric=metric, paper=paper)
    return {"source": source, "kernel": kernel, "offered": (None,), "caution": OF_A_GROUP, "chance": chance, **more}


ROWS = (
    Measure(
        "amr", "Adjusted MR", "micro", "none", 0.0, 2.0, False,
        "Micro MR divided by the mean rank of a random order, so 1 is chance. "
        "Use it to compare graphs with different numbers of entities.",
        "MR / E[MR], E[MR] = mean over (q, a) of (N(q, a) + 1) / 2",
        **_adjusted("AdjustedArithmeticMeanRank", BERRENDORF, micro.rank, missing=micro.MISSING),
    ),
    Measure(
        "amri", "Adjusted MR index", "micro", "none", -1.0, 1.0, True,
        "Adjusted MR on a scale where 1 is the best and 0 is chance. "
        "Below 0, a system is worse than a random order.",
        "1 - (MR - 1) / (E[MR] - 1)",
        **_adjusted("AdjustedArithmeticMeanRankIndex", BERRENDORF, micro.rank, missing=micro.MISSING),
    ),
    Measure(
        "adjusted_mrr", "Adjusted MRR", "micro", "none", None, 1.0, True,
        "Micro MRR on a scale where chance is 0 and the best is 1. "
        "With thousands of candidates, chance is near 0 and the value is close to Micro MRR.",
        "(MRR - E[MRR]) / (1 - E[MRR]), E[MRR] = mean over (q, a) of (1 + 1/2 + ... + 1/N(q, a)) / N(q, a)",
        **_adjusted("AdjustedInverseHarmonicMeanRank", HOYT, micro.reciprocal_rank),
    ),
    Measure(
        "z_mrr", "z-MRR", "micro", "none", None, None, True,
        "Number of standard deviations by which Micro MRR exceeds that of a random order. "
        "It grows with the number of answers, as evidence does.",
        "(MRR - E[MRR]) / sqrt(Var[MRR]) under a random order",
        **_adjusted("ZInverseHarmonicMeanRank", HOYT, micro.reciprocal_rank),
    ),
    Measure(
        "gmr", "Geometric mean rank", "micro", "none", 1.0, None, False,
        "Geometric mean of the ranks of all answers, each with the question's other answers removed. "
        "A low-ranked answer has less weight than in Micro MR.",
        "exp(mean over (q, a) of log rank(q, a))", SOURCE.format(metric="GeometricMeanRank", paper=HOYT),
        micro.log_rank, (None,), finish=np.exp, missing=micro.MISSING.replace("mean", "geometric mean"),
        caution="Tests and per-answer values use the logarithm of the rank.",
    ),
)  # fmt: skip
