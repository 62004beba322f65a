"""How many training triples the entities of a graph are in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Degrees(NamedTuple):
    """Training triples per entity, as head or tail (a loop counts twice); `alone` entities are in none."""

    mean: float
    median: float
    high: float  # nine of ten entities have at most this many
    largest: int
    alone: int


def degrees(train: np.ndarray, num_entities: int) -> Degrees:
    """Summary of the degrees in `train`, int[n, 3]; all 0 for a graph without entities."""
    if num_entities == 0:
        return Degrees(0.0, 0.0, 0.0, 0, 0)
    count = np.bincount(train[:, 0], minlength=num_entities) + np.bincount(
        train[:, 2], minlength=num_entities
    )
    median, high = np.quantile(count, [0.5, 0.9], method="inverted_cdf")
    return Degrees(float(count.mean()), float(median), float(high), int(count.max()), int((count == 0).sum()))
