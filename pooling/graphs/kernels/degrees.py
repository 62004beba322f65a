"""Count the training triples of each entity, and sort entities into bands of that count."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer]
BAND_EDGES = (1, 5, 20, 100)  # the largest degree of each band but the last, which has no end


class Degrees(NamedTuple):
    """Summarise training triples per entity, as head or tail (a loop counts twice); `alone` entities have none."""

    mean: float
    median: float
    high: float  # nine of ten entities have at most this many
    largest: int
    alone: int


def degrees(train: np.ndarray, num_entities: int) -> Degrees:
    """Summarise the degrees in `train`, int[n, 3]; all 0 for a graph without entities."""
    if num_entities == 0:
        return Degrees(0.0, 0.0, 0.0, 0, 0)
    count = np.bincount(train[:, 0], minlength=num_entities) + np.bincount(train[:, 2], minlength=num_entities)
    median, high = np.quantile(count, [0.5, 0.9], method="inverted_cdf")
    return Degrees(float(count.mean()), float(median), float(high), int(count.max()), int((count == 0).sum()))


def entity_degree(triples: Ints, entities: int) -> NDArray[np.int64]:
    """Count the triples [n, 3] that each entity appears in, [entities]; a loop (h, r, h) counts once."""
    head, tail = triples[:, 0], triples[:, 2]
    both = np.concatenate([head, tail[tail != head]])
    return np.bincount(both, minlength=entities)


def band(degree: Ints, edges: Sequence[int] = BAND_EDGES) -> NDArray[np.int64]:
    """Return the band of each degree: 0 up to edges[0], 1 up to edges[1], …, len(edges) above the last."""
    if list(edges) != sorted(set(edges)):
        raise ValueError(f"the edges of the bands must ascend: {tuple(edges)}")
    return np.searchsorted(np.asarray(edges), degree, side="left").astype(np.int64)


def band_names(edges: Sequence[int] = BAND_EDGES) -> tuple[str, ...]:
    """Return the names of the bands: "0-1", "2-5", …, "over 100"."""
    lows = [0, *(edge + 1 for edge in edges[:-1])]
    named = [str(low) if low == high else f"{low}-{high}" for low, high in zip(lows, edges, strict=True)]
    return (*named, f"over {edges[-1]}")
