"""Which systems found the same pooled triples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Overlap(NamedTuple):
    """shared int[S, S]: triples that both systems found (diagonal: that one found); only int[S]: no other."""

    shared: np.ndarray
    only: np.ndarray


def overlap(systems: np.ndarray, indptr: np.ndarray, num_systems: int) -> Overlap:
    """Overlap of S systems: who made each finding, int[f]; where those of each triple are, int[n + 1]."""
    found = np.zeros((len(indptr) - 1, num_systems), dtype=bool)
    found[np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)), systems] = True
    counts = found.astype(np.int64)
    return Overlap(counts.T @ counts, found[found.sum(axis=1) == 1].sum(axis=0))
