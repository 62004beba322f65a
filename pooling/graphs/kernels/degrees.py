"""Count the training triples of each entity (degrees, bands) and of each relation (categories 1-1, 1-N, N-1, N-N)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer]
Counts = NDArray[np.int64]
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


def entity_degree(triples: Ints, entities: int) -> Counts:
    """Count the triples [n, 3] that each entity appears in, [entities]; a loop (h, r, h) counts once."""
    head, tail = triples[:, 0], triples[:, 2]
    both = np.concatenate([head, tail[tail != head]])
    return np.bincount(both, minlength=entities)


def band(degree: Ints, edges: Sequence[int] = BAND_EDGES) -> Counts:
    """Return the band of each degree: 0 up to edges[0], 1 up to edges[1], …, len(edges) above the last."""
    if list(edges) != sorted(set(edges)):
        raise ValueError(f"the edges of the bands must ascend: {tuple(edges)}")
    return np.searchsorted(np.asarray(edges), degree, side="left").astype(np.int64)


def band_names(edges: Sequence[int] = BAND_EDGES) -> tuple[str, ...]:
    """Return the names of the bands: "0-1", "2-5", …, "over 100"."""
    lows = [0, *(edge + 1 for edge in edges[:-1])]
    named = [str(low) if low == high else f"{low}-{high}" for low, high in zip(lows, edges, strict=True)]
    return (*named, f"over {edges[-1]}")


def relation_counts(train: NDArray[np.int32], num_relations: int) -> tuple[Counts, Counts, Counts]:
    """Count the distinct (h, r, t), (h, r) and (r, t) of each relation: three int64[num_relations].

    `train` is int32[n, 3]; tails per head are the first divided by the second, heads per tail by the third.
    """
    head, relation, tail = train.astype(np.int64).T
    size = int(train[:, [0, 2]].max(initial=0)) + 1

    def per_relation(entities: Counts) -> tuple[Counts, NDArray[np.intp]]:
        """Count the distinct (relation, entity) per relation; number the pair of every row."""
        pairs, number = np.unique(relation * size + entities, return_inverse=True)
        return np.bincount(pairs // size, minlength=num_relations), number

    heads, head_pair = per_relation(head)
    tails, _ = per_relation(tail)
    _, first = np.unique(head_pair * size + tail, return_index=True)
    return np.bincount(relation[first], minlength=num_relations), heads, tails


def relation_categories(train: NDArray[np.int32], num_relations: int) -> list[str]:
    """Return the category of each relation id; '' for a relation that has no training triple.

    "Many" means more than 1.5 on average, compared in integers: exactly 1.5 is "1". Source: Bordes et al. (2013),
    Translating embeddings for modeling multi-relational data, NeurIPS.
    """
    triples, heads, tails = relation_counts(train, num_relations)
    many_tails, many_heads = 2 * triples > 3 * heads, 2 * triples > 3 * tails
    return [
        f"{'N' if heads_many else '1'}-{'N' if tails_many else '1'}" if count else ""
        for count, heads_many, tails_many in zip(triples, many_heads, many_tails, strict=True)
    ]
