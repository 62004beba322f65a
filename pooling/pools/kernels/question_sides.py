"""Choose the question under which people see a pooled triple: that of the side that found it at the best rank."""

import numpy as np

from pooling.pools.kernels.gathering import PROVENANCE


def question_sides(triples: np.ndarray, provenance: list[bytes], seeds: np.ndarray) -> np.ndarray:
    """Return the side (tail 0, head 1) of the question that found each triple at the best rank; tail in a tie.

    Without provenance a triple belongs to the tail question of a seed that has its head and relation.
    triples int[n, 3]; provenance: n packed findings; seeds int[m, 3]. Returns int8[n].
    """
    lengths = np.array([len(packed) for packed in provenance], dtype=np.int64) // PROVENANCE.itemsize
    findings = np.frombuffer(b"".join(provenance), dtype=PROVENANCE)
    asked = set(map(tuple, seeds[:, :2].tolist()))
    sides = np.array([0 if pair in asked else 1 for pair in map(tuple, triples[:, :2].tolist())], dtype=np.int8)
    found = lengths > 0
    if found.any():
        best_first = findings["rank"].astype(np.int64) * 2 + findings["side"]
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])[found]
        sides[found] = np.minimum.reduceat(best_first, starts) % 2
    return sides


def shown_questions(triples: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Return (side, relation, given entity) of each triple, int64[n, 3]."""
    given = np.where(sides == 0, triples[:, 0], triples[:, 2])
    return np.stack([sides, triples[:, 1], given], axis=1).astype(np.int64)
