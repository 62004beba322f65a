"""Define ranks, the result of a ranking pass, and the order of ties; needs numpy alone, not torch."""

from typing import NamedTuple

import numpy as np


class NotFinite(ValueError):  # noqa: N818 - says what is wrong
    """Report a score that is NaN or infinite: it would pass as a good rank (PyKEEN turns NaN into an MRR of 2)."""


class RankingResult(NamedTuple):
    """Hold n questions × K candidates, and three ranks for each of w wanted pairs (CSR order)."""

    top_entity: np.ndarray  # int32 [n, K], -1 where there are fewer candidates
    top_score: np.ndarray  # float32 [n, K], -inf there
    top_raw: np.ndarray  # int32 [n, K], position among all entities, known ones in place; 0 there, and where not known
    strict: np.ndarray  # int32 [w]
    optimistic: np.ndarray  # int32 [w]
    pessimistic: np.ndarray  # int32 [w]


class Ranks(NamedTuple):
    """Hold the ranks of m triples, each int32[2m]: all their tail questions, then all their head questions."""

    strict: np.ndarray
    optimistic: np.ndarray
    pessimistic: np.ndarray

    @property
    def realistic(self) -> np.ndarray:
        """Return the mean of the optimistic and the pessimistic rank, float64[2m]."""
        return (self.optimistic.astype(np.float64) + self.pessimistic) / 2

    @property
    def mrr(self) -> float:
        """Return the mean reciprocal realistic rank over both sides of all triples."""
        return float(np.mean(1.0 / self.realistic))


def tie_order(num_entities: int, seed: int) -> np.ndarray:
    """Return the permutation int64[E] that breaks ties: of equal scores, the entity that comes first wins."""
    return np.random.default_rng(seed).permutation(num_entities)
