"""Which systems found the same pooled triples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Overlap(NamedTuple):
    """shared int[S, S]: triples that both systems found (its diagonal: that one found); only int[S]: nobody else."""

    shared: np.ndarray
    only: np.ndarray


def overlap(systems: np.ndarray, indptr: np.ndarray, num_systems: int) -> Overlap:
    """Overlap of S systems. systems int[f]: who made each finding; indptr int[n + 1]: findings of each triple."""
    found = np.zeros((len(indptr) - 1, num_systems), dtype=bool)
    found[np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)), systems] = True
    counts = found.astype(np.int64)
    return Overlap(counts.T @ counts, found[found.sum(axis=1) == 1].sum(axis=0))
