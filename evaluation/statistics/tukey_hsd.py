"""Run the randomised Tukey HSD: all pairs of systems tested at once, without assuming a distribution.

Sources: Carterette 2012, "Multiple testing in statistical analysis of systems-based information retrieval
experiments"; Sakai 2014, "Statistical reform in information retrieval?".
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.question_sums import QuestionSums
from evaluation.measures.rank_table import Flags, Floats
from evaluation.statistics.t_tests import PairPs

CHUNK_VALUES = 500_000  # permuted values at a time: 4 MB a thread
MAX_CHUNK = 500  # permutations at a time, so that few questions still share the work among threads


@dataclass(frozen=True)
class RandomisedTests(PairPs):
    """Hold the randomised Tukey HSD; p is nan for the pairs of a system in `left_out`, or without a question."""

    permutations: int
    questions: int
    left_out: NDArray[np.intp]  # systems whose value is undefined on some question; the others are one family


def randomised_tukey(
    sums: QuestionSums, rng: np.random.Generator, permutations: int = 10_000, threads: int = 2
) -> RandomisedTests:
    """Test all pairs of systems at once with the randomised Tukey HSD.

    Parameters
    ----------
    sums : QuestionSums
        One measure of all systems.
    rng : numpy.random.Generator
        The source of randomness; the result depends on it alone.
    permutations : int, default 10000
        How often values change places.
    threads : int, default 2
        They do not change the result: each block of permutations has its own spawned generator.

    Returns
    -------
    RandomisedTests
        p-values of all pairs that hold together: the chance of any false finding is below alpha.

    Notes
    -----
    If all systems were the same, their values could change places within each question. In each of B permutations
    they do, independently by question, and the largest difference between two means is kept; p of a pair =
    (1 + number of permutations whose largest difference >= its observed one) / (1 + B). For a micro measure the sum
    over the answers of a question moves as one value, since its answers are not independent. For a measure with a
    `finish` (a geometric mean) the means before it are compared.

    Examples
    --------
    >>> import numpy as np
    >>> from triplepool import question_sums, randomised_tukey, values
    >>> from triplepool.example import prepared, state
    >>> sums = question_sums(values(prepared, state, ["map"])["map"])
    >>> randomised_tukey(sums, np.random.default_rng(7), permutations=500).p.round(3)
    array([0.838, 0.026, 0.124])
    """
    systems, questions = sums.sums.shape
    first, second = np.triu_indices(systems, k=1)
    units = sums.units
    defined: Flags = np.asarray(np.isfinite(sums.sums).all(axis=1))
    mean = sums.sums.sum(axis=1) / units if units else np.full(systems, np.nan)
    difference = mean[first] - mean[second]
    tested = defined[first] & defined[second] & (units > 0)  # [pairs]
    p = np.full(first.size, np.nan)
    if tested.any():
        largest = np.sort(_largest_differences(sums.sums[defined], rng, permutations, threads)) / units
        # the order of summation must not decide whether a permutation reaches what was observed
        slack = 1e-12 * max(1.0, float(np.abs(mean[defined]).max()))
        reached = permutations - np.searchsorted(largest, np.abs(difference[tested]) - slack)
        p[tested] = (1 + reached) / (1 + permutations)
    return RandomisedTests(first, second, difference, p, permutations, questions, np.flatnonzero(~defined))


def _largest_differences(values: Floats, rng: np.random.Generator, permutations: int, threads: int) -> Floats:
    """Return the largest less the smallest sum of each permutation, [permutations]; `values` [systems, questions]."""
    # a question on which all systems are equal adds the same to all, however it is permuted
    differing = np.ascontiguousarray(values[:, np.ptp(values, axis=0) > 0].T)  # [questions, systems]
    if differing.size == 0:
        return np.zeros(permutations)
    size = min(MAX_CHUNK, max(1, CHUNK_VALUES // differing.size))
    sizes = [min(size, permutations - begin) for begin in range(0, permutations, size)]

    def block(count: int, own: np.random.Generator) -> Floats:
        shuffled = np.repeat(differing[None], count, axis=0)  # [count, questions, systems]
        own.permuted(shuffled, axis=2, out=shuffled)
        totals = np.matmul(np.ones((1, differing.shape[0])), shuffled)[:, 0]  # [count, systems]
        return np.ptp(totals, axis=1)

    with ThreadPoolExecutor(threads) as pool:
        return np.concatenate(list(pool.map(block, sizes, rng.spawn(len(sizes)))))
