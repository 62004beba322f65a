"""Define the result of a predictive pass, and the Greedy protocol on it; needs numpy alone, not torch."""

from typing import NamedTuple

import numpy as np

from pooling.questions.kernel import Csr

ALPHAS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
TOP = 100  # first entities kept of each question, over all of E, nothing masked
DRAWS = 100  # i.i.d. draws of a question


class DistributionResult(NamedTuple):
    """Hold the result of a pass over n questions with w known answers (CSR order); A = len(ALPHAS)."""

    top_entity: np.ndarray  # int32 [n, TOP], best first, ties by the tie permutation; -1 where |E| < TOP
    top_score: np.ndarray  # float32 [n, TOP], -inf there
    log_normaliser: np.ndarray  # float64 [n, A]: log Σ_E exp(α·score)
    tvd: np.ndarray  # float64 [n, A]: ½ Σ_E |p − 1/|E||, in [0, 1]
    draws: np.ndarray  # int32 [n, DRAWS]
    answer_score: np.ndarray  # float32 [w]


def greedy_sizes(top_probabilities: np.ndarray, k: int) -> np.ndarray:
    """Return how many entities the Greedy protocol returns for each question; int64[n], at most k.

    `top_probabilities` float64[n, K] descend, the first of all entities (0 behind the last): K ≥ k, or all of them.
    k̂ is the number of p ≥ 1/k, and the size k̂ + the nearest integer of k·(1 − their sum).
    Source: Mei et al. (2018), section 5.3. ValueError: k is not positive.
    """
    if k < 1:
        raise ValueError(f"k = {k}: Greedy returns at most k entities, so k is 1 or more")
    sure = top_probabilities >= 1 / k
    rest = 1 - np.where(sure, top_probabilities, 0).sum(1)
    return sure.sum(1) + np.rint(k * np.clip(rest, 0, 1)).astype(np.int64)


def greedy_f1(
    top_entity: np.ndarray, top_probabilities: np.ndarray, answers: Csr, num_entities: int, k: int
) -> np.ndarray:
    """Return F1@k of each question under Greedy, float64[n]; an entity outside its `answers` is wrong.

    `top_entity` int[n, K] and `top_probabilities` float64[n, K] as `greedy_sizes` has them. 0 without any hit.
    """
    n, size = len(top_entity), greedy_sizes(top_probabilities, k)
    row = np.repeat(np.arange(n), np.diff(answers.indptr))
    first = top_entity[:, :k].astype(np.int64)
    right = np.isin(np.arange(n)[:, None] * num_entities + first, row * num_entities + answers.indices)
    right &= (first >= 0) & (np.arange(first.shape[1]) < size[:, None])
    # 2PR / (P + R) is the Dice coefficient: twice the hits over the sizes of both sets
    return 2 * right.sum(1) / np.maximum(size + np.diff(answers.indptr), 1)


def best_alpha(predicted: DistributionResult, answers: Csr, num_entities: int, k: int = 10) -> float:
    """Return the α of ALPHAS with the highest mean F1@k under Greedy, the smallest of equals; 1 without questions."""
    if not len(predicted.top_entity):
        return 1.0
    mean = []
    for i, alpha in enumerate(ALPHAS):
        p = np.exp(alpha * predicted.top_score.astype(np.float64) - predicted.log_normaliser[:, [i]])
        mean.append(greedy_f1(predicted.top_entity, p, answers, num_entities, k).mean())
    return ALPHAS[int(np.argmax(mean))]
