"""Count how often a body holds, and its head with it: exact, or for a seeded draw of the first entities."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from pooling.rules.kernels.signed_graph import Body, SignedGraph, Walker


class Count(NamedTuple):
    """Hold the counts of a body: pairs it connects, those of them that each head connects, share of the starts."""

    covered: int
    support: list[int]
    share: float


class BodyCounter:
    """Count one body after another; sorted ones share the walks of their common beginning.

    Where the walks along a body take more than `max_steps` steps, they are made from some entities only: in `order`
    (a permutation) until the steps are used up, at least one. Body and head are counted from the same entities, so that
    their ratio stands for all.
    """

    def __init__(self, graph: SignedGraph, order: np.ndarray, max_steps: int) -> None:
        self.graph, self.order, self.max_steps = graph, order, max_steps
        self.from_all = Walker(graph)

    def count(self, body: Body, heads: list[int]) -> Count:
        """Count the pairs that `body` connects, and how many of these each inverse-aware relation of `heads` does."""
        steps = self.graph.walks(body)
        walker, share = self.from_all, 1.0
        if steps.sum() > self.max_steps:
            starts = self.order[steps[self.order] > 0]
            last = int(np.searchsorted(np.cumsum(steps[starts]), self.max_steps, side="right"))
            chosen = np.sort(starts[: max(1, last)])
            walker, share = Walker(self.graph, chosen), len(chosen) / len(starts)
        connected = self._keys(walker, walker.along(body))
        connected.sort()
        return Count(len(connected), [self._shared(head, walker, connected) for head in heads], share)

    def _shared(self, head: int, walker: Walker, connected: np.ndarray) -> int:
        """Count the pairs of relation `head`, from the walker's starts, that are among the keys `connected`."""
        if not len(connected):
            return 0
        keys = self._keys(walker, walker.rows(self.graph.matrices[head]))
        place = np.searchsorted(connected, keys)
        place[place == len(connected)] = 0
        return int((connected[place] == keys).sum())

    def _keys(self, walker: Walker, ends: sparse.csr_array) -> np.ndarray:
        return self.graph.keys(np.repeat(walker.starts, np.diff(ends.indptr)), ends.indices)
