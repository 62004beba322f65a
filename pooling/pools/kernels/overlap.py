"""Count the pooled triples that systems found together and alone."""

from typing import NamedTuple

import numpy as np


class Overlap(NamedTuple):
    """Hold shared int[S, S], triples that both systems found (diagonal: one), and only int[S], that no other found."""

    shared: np.ndarray
    only: np.ndarray


def overlap(systems: np.ndarray, indptr: np.ndarray, num_systems: int) -> Overlap:
    """Count the overlap of S systems: `systems` int[f] of the findings, `indptr` int[n + 1] of the triples."""
    found = np.zeros((len(indptr) - 1, num_systems), dtype=bool)
    found[np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)), systems] = True
    counts = found.astype(np.int64)
    return Overlap(counts.T @ counts, found[found.sum(axis=1) == 1].sum(axis=0))
