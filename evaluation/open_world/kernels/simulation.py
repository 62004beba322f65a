"""Draw open worlds at random: questions, their missing answers, a model of known strength, and its ranks.

The process is that of theory.py, with the paper's numbers as defaults (its appendix A.2; its published script draws
the same). Every rank is exact: recognised answers in random order, then all other candidates in random
order, test answers filtered.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.measures.rank_table import Flags, Floats
from evaluation.open_world.kernels.theory import ENTITIES, RankFunction, Strengths, correlated_strengths, gain_of

RANDOM_BITS = 30
BELOW = np.uint32(1 << 31)  # in a key: not recognised


class Simulated(NamedTuple):
    """Mean and standard deviation of one metric over questions with a test answer, [betas, strengths] each.

    nan where there are too few: none for the mean, fewer than two for the deviation. `questions` counts them.
    """

    mean: Floats
    sd: Floats
    questions: NDArray[np.int64]

    @property
    def error(self) -> Floats:
        """Return the standard error of the mean."""
        return self.sd / np.sqrt(np.maximum(self.questions, 1))


class Drawn(NamedTuple):
    """Answers of questions, [..., n] each: the filtered rank, and whether the test set has the answer."""

    rank: NDArray[np.int64]
    test: Flags


def simulate(
    n: int,
    betas: ArrayLike,
    strengths: ArrayLike,
    metrics: Sequence[str | RankFunction],
    repeats: int,
    rng: np.random.Generator,
    *,
    rho: float = 0.0,
    entities: int = ENTITIES,
) -> list[Simulated]:
    """Simulate `repeats` questions of n answers for every beta and strength; all metrics are of the same ranks.

    ValueError for n or repeats below 1, too few entities, and what `correlated_strengths` refuses.
    """
    if n < 1 or repeats < 1:
        raise ValueError(f"{n} answers and {repeats} repeats: give 1 or more of each")
    if entities <= n:
        raise ValueError(f"{entities:,} entities are too few for {n:,} answers: give more than the answers")
    levels = np.atleast_1d(np.asarray(strengths, dtype=np.float64))
    gains = [gain_of(metric)(np.arange(1.0, entities + 1)) for metric in metrics]
    found: list[list[Simulated]] = [[] for _ in metrics]
    for beta in np.atleast_1d(np.asarray(betas, dtype=np.float64)):
        chances = correlated_strengths(beta, levels, rho)
        drawn = draw(n, float(beta), chances, repeats, rng, entities)
        for of_metric, gain in zip(found, gains, strict=True):
            of_metric.append(_summed(gain, drawn))
    return [Simulated(*(np.stack(rows) for rows in zip(*of_metric, strict=True))) for of_metric in found]


def draw(n: int, beta: float, chances: Strengths, repeats: int, rng: np.random.Generator, entities: int) -> Drawn:
    """Draw questions of models, [models, repeats, n], answers in the model's order. `chances`: [models] each."""
    shape = (chances.test.size, repeats, n)
    missing = rng.random(shape, dtype=np.float32) < beta
    chance = np.where(missing, chances.missing[:, None, None], chances.test[:, None, None])
    below = rng.random(shape) >= chance
    # one integer for class, random place and missing: sorted once, it holds all three in the order of the model
    key = rng.integers(0, 1 << RANDOM_BITS, size=shape, dtype=np.uint32) << np.uint32(1)
    key |= missing
    key[below] |= BELOW
    key.sort(axis=-1)
    missing = (key & 1).astype(bool)
    ahead = np.cumsum(missing, axis=-1, dtype=np.int64) - missing
    return Drawn(1 + ahead + _wrong_ahead(key, entities - n, rng), ~missing)


def _wrong_ahead(key: NDArray[np.uint32], wrong: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw how many wrong candidates are before each answer, [..., n], at random among what is not recognised."""
    below = key >= BELOW
    place = ((key & ~BELOW) >> 1) / float(1 << RANDOM_BITS)  # [..., n], ascending where below
    ahead = np.zeros(key.shape, dtype=np.int64)
    before, so_far = np.zeros(key.shape[:-1]), np.zeros(key.shape[:-1], dtype=np.int64)
    for j in range(key.shape[-1]):
        here = below[..., j]
        share = (place[..., j][here] - before[here]) / (1.0 - before[here])
        so_far[here] += rng.binomial(wrong - so_far[here], share)
        before[here] = place[..., j][here]
        ahead[..., j][here] = so_far[here]
    return ahead


def _summed(gain: Floats, drawn: Drawn) -> Simulated:
    """Summarise the questions with a test answer, [models] each. `gain` by rank, [entities]."""
    count = drawn.test.sum(axis=-1)
    total = np.sum(gain[drawn.rank - 1] * drawn.test, axis=-1)
    asked = count > 0
    value = np.where(asked, total / np.maximum(count, 1), 0.0)
    questions = asked.sum(axis=-1)
    mean = value.sum(axis=-1) / np.maximum(questions, 1)
    square = np.sum(np.where(asked, (value - mean[:, None]) ** 2, 0.0), axis=-1)
    sd = np.sqrt(square / np.maximum(questions - 1, 1))
    return Simulated(np.where(questions > 0, mean, np.nan), np.where(questions > 1, sd, np.nan), questions)
