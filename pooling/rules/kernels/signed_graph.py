"""Hold training triples as one sparse matrix per direction of a relation, and follow paths through them.

Relation ids are inverse-aware, as elsewhere: 2r leads from the head of r to its tail, 2r + 1 back. Paths visit
distinct entities only ("object identity"): so no path uses the triple that its ends would make, and none goes
forth and back. Loops (r(X, X)) are left out, since they are no path to somewhere else.
Source: Meilicke et al. (2019), Anytime bottom-up rule learning for knowledge graph completion, IJCAI.
"""

from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import sparse

ROW_BYTES, EDGE_BYTES = 4, 60  # of a row of one matrix; of an edge, in all arrays together
KEPT_BYTES = 1 << 28  # of matrices that are made on the way

Body = tuple[int, ...]  # one to three inverse-aware relation ids, from X to Y


def reverse(body: Body) -> Body:
    """Return the same path, walked from its end."""
    return tuple(relation ^ 1 for relation in reversed(body))


def graph_bytes(num_entities: int, num_relations: int, num_triples: int) -> int:
    """Estimate the memory that a SignedGraph takes: every matrix has a row for each entity."""
    matrices = 2 * num_relations * ROW_BYTES * num_entities
    return matrices + 2 * num_triples * EDGE_BYTES + KEPT_BYTES


class SignedGraph:
    """Hold the distinct triples of a graph, without loops, in both directions.

    `source`, `relation`, `target` are int32[m], sorted by source and target; `start[e]:start[e + 1]` are the edges of
    entity e. `matrices[s]` is int32 CSR [E, E], 1 where relation s leads from row to column.
    """

    def __init__(self, triples: np.ndarray, num_entities: int, num_relations: int) -> None:
        self.num_entities, self.num_relations = num_entities, num_relations
        triples = np.unique(np.asarray(triples, np.int32).reshape(-1, 3), axis=0)
        head, relation, tail = triples[triples[:, 0] != triples[:, 2]].T
        source, target = np.concatenate([head, tail]), np.concatenate([tail, head])
        signed = np.concatenate([2 * relation, 2 * relation + 1])
        order = np.lexsort((signed, target, source))
        self.source, self.relation, self.target = source[order], signed[order], target[order]
        self.start = np.searchsorted(self.source, np.arange(num_entities + 1))
        # Pairs of neighbours, ascending, and where the edges of each begin
        self.pairs, first = np.unique(self.keys(self.source, self.target), return_index=True)
        self.pair_start = np.append(first, len(self.source))
        self.matrices = self._matrices()
        self._common: dict[tuple[int, int], sparse.csr_array] = {}
        self._apart: set[tuple[int, int]] = set()

    def keys(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Return one int64 for each pair of entities."""
        return source.astype(np.int64) * self.num_entities + target

    def _matrices(self) -> list[sparse.csr_array]:
        shape = (self.num_entities, self.num_entities)
        order = np.argsort(self.relation, kind="stable")
        bounds = np.searchsorted(self.relation[order], np.arange(2 * self.num_relations + 1))
        parts = [order[a:b] for a, b in pairwise(bounds.tolist())]
        return [
            sparse.csr_array((np.ones(len(p), np.int32), (self.source[p], self.target[p])), shape=shape) for p in parts
        ]

    def common(self, first: int, second: int) -> sparse.csr_array | None:
        """Return the pairs that both relations connect, as a matrix; None if there are none."""
        key = (first, second)
        if key in self._common:
            return self._common[key]
        found = None if key in self._apart else self.matrices[first].multiply(self.matrices[second]).tocsr()
        if found is None or not found.nnz:
            self._apart.add(key)
            return None
        if len(self._common) * ROW_BYTES * self.num_entities > KEPT_BYTES:
            self._common.clear()
        self._common[key] = found
        return found

    def walks(self, body: Body) -> np.ndarray:
        """Count the steps along the body from each entity, degenerate ones included; float64[E]."""
        total: npt.NDArray[np.float64] = np.zeros(self.num_entities)
        for relation in reversed(body):
            total = self.matrices[relation] @ (total + 1)
        return total


class Walker:
    """Follow paths from the same entities along one body after another; a common beginning is walked once.

    `starts` int[b], with repeats or without; None: every entity of the graph.
    """

    def __init__(self, graph: SignedGraph, starts: np.ndarray | None = None) -> None:
        self.graph, self.all = graph, starts is None
        self.starts = np.arange(graph.num_entities) if starts is None else np.asarray(starts)
        self._steps: list[tuple[Body, sparse.csr_array]] = []

    def rows(self, matrix: sparse.csr_array) -> sparse.csr_array:
        """Return the rows of the starts in a matrix [E, E]; not a copy if these are all."""
        return matrix if self.all else matrix[self.starts]

    def along(self, body: Body) -> sparse.csr_array:
        """Count the paths of distinct entities from each start to each entity, [b, E]."""
        while self._steps and self._steps[-1][0] != body[: len(self._steps)]:
            self._steps.pop()
        for length in range(len(self._steps) + 1, len(body) + 1):
            self._steps.append((body[:length], self._extend(body[:length])))
        return self._steps[len(body) - 1][1]

    def _extend(self, body: Body) -> sparse.csr_array:
        matrix = self.graph.matrices[body[-1]]
        if len(body) == 1:
            return self.rows(matrix)
        ends = self._steps[len(body) - 2][1] @ matrix
        if len(body) == 3 and (again := self._second_again(body)) is not None:
            ends = ends - again
        row = np.repeat(self.starts, np.diff(ends.indptr))
        ends.data[ends.indices == row] = 0  # the start itself
        ends.eliminate_zeros()
        return ends

    def _second_again(self, body: Body) -> sparse.csr_array | None:
        """Count walks X A B A, with B other than X: for each A next to X, the B between A and A."""
        forth_and_back = self.graph.common(body[1], body[2] ^ 1)  # [A, B]
        if forth_and_back is None:
            return None
        again: sparse.csr_array = self._steps[0][1].copy()
        again.data = again.data * forth_and_back.sum(1).astype(np.int32)[again.indices]
        again.eliminate_zeros()
        if not again.nnz:
            return None
        over_start = self._steps[0][1].multiply(self.rows(forth_and_back.T.tocsr()))
        return again - over_start.tocsr()
