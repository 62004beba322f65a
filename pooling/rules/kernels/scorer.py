"""Score questions by the rules of their relation that lead from their entity.

Two ways to bring the rules together that propose the same entity:

- max: the most confident one counts, and among equals the next best. A score is a number below 2^24 made of the
  places of both among the confidences of the relation, which float32 holds exactly.
- noisy-or: 1 − Π(1 − c), as −Σ log(1 − c): the same order, and no two certainties end in the same 1.

Entities that no rule proposes come behind all others, by how many training triples of the relation have them in
the slot that is asked for (AnyBURL's rules without a body): a share of the relation's triples below 1 for max, and
below the least rule for noisy-or. Among the proposed ones it breaks ties, as far as the bits reach.
Sources: Meilicke et al. (2019), IJCAI (max with ties broken by the next); Galárraga et al. (2015), Fast rule mining
in ontological knowledge bases with AMIE+, VLDB Journal (noisy-or).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from scipy import sparse

from pooling.rules.kernels.rule_table import Rules
from pooling.rules.kernels.signed_graph import Body, SignedGraph, Walker

Path = tuple[Body, float]  # and its confidence
Hits = Iterable[tuple[np.ndarray, float]]  # places (row · E + entity, distinct) that a rule proposes, its confidence
BITS = 24  # of the whole numbers that float32 holds exactly
BLOCK = 1 << 23  # scores made at once: 64 MiB of float64
KEPT = 1 << 27  # bytes of answers that are kept for the other entities


class _Answers(NamedTuple):
    """Hold scores of some questions of one inverse-aware relation: `proposed` float32 [b, E] of proposed entities."""

    rows: np.ndarray  # of the batch, int64[b]
    proposed: sparse.csr_array
    others: np.ndarray  # scores of the entities that no rule proposes, float32[E]

    @property
    def nbytes(self) -> int:
        """Return the bytes, most of them of the proposed entities."""
        matrix = self.proposed
        return int(self.rows.nbytes + matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)


class PathScorer(ABC):
    """Score questions by paths through the training triples, relation by relation, on the CPU."""

    def __init__(self, graph: SignedGraph) -> None:
        self.graph = graph
        self.num_entities = graph.num_entities
        self.device = torch.device("cpu")
        self._asked: np.ndarray | None = None  # last
        self._kept: dict[int, _Answers] = {}  # answers to it, by their place

    def in_order(self, order: np.ndarray) -> Callable[..., torch.Tensor]:
        """Return `scores(side, entity, relation, out=None) -> float32 [B, C]`, column j = entity `order[j]`.

        `order` may be some of the entities only; of the answers to the last questions, as many as fit into KEPT
        are kept for the others, and the rest is found anew.
        """
        columns = np.asarray(order)

        def scores(side, entity, relation, out=None):
            if out is None:
                out = torch.empty((len(entity), len(columns)))
            for part in self._answers(np.stack([side, entity, relation]).astype(np.int64)):
                block = np.tile(part.others[columns], (len(part.rows), 1))
                found = part.proposed[:, columns].tocoo()
                block[found.coords] = found.data
                out[torch.from_numpy(part.rows)] = torch.from_numpy(block)
            return out

        return scores

    def _answers(self, asked: np.ndarray) -> Iterator[_Answers]:
        """Yield answers to questions int64[3, B]: side, entity, relation."""
        if self._asked is None or not np.array_equal(self._asked, asked):
            self._asked, self._kept = asked, {}
        kept, room = self._kept, KEPT - sum(answers.nbytes for answers in self._kept.values())
        for place, (relation, rows) in enumerate(self._parts(2 * asked[2] + asked[0])):
            answers = kept.get(place) or _Answers(rows, *self.of_relation(relation, asked[1, rows]))
            if place not in kept and answers.nbytes <= room:
                kept[place] = answers
                room -= answers.nbytes
            yield answers

    def _parts(self, signed: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Yield relations, and as many rows of each as are answered at once."""
        size = max(1, BLOCK // self.num_entities)
        for relation in np.unique(signed).tolist():
            rows = np.flatnonzero(signed == relation)
            yield from ((relation, rows[i : i + size]) for i in range(0, len(rows), size))

    @abstractmethod
    def of_relation(self, signed: int, entity: np.ndarray) -> tuple[sparse.csr_array, np.ndarray]:
        """Return scores of the entities that paths propose [b, E] float32, and those of all others float32[E].

        The questions are of one inverse-aware relation, each with its `entity`.
        """


class RuleScorer(PathScorer):
    """Score questions by the confidence of mined rules."""

    def __init__(self, rules: Rules, graph: SignedGraph, aggregation: str) -> None:
        super().__init__(graph)
        self.rules = rules
        self.aggregate = {"max": _best_two, "noisy-or": _noisy_or}[aggregation]
        self._paths: dict[int, list[Path]] = {}

    def of_relation(self, signed: int, entity: np.ndarray) -> tuple[sparse.csr_array, np.ndarray]:
        """See `PathScorer`: what no rule proposes is scored by its popularity."""
        if signed not in self._paths:
            self._paths[signed] = self.rules.of_question(signed)
        paths, walker = self._paths[signed], Walker(self.graph, entity)
        hits = ((places_of(walker.along(body)), confidence) for body, confidence in paths)
        popularity = self.popularity(signed)
        shape = (len(entity), self.num_entities)
        places, score, least = self.aggregate(hits, [confidence for _, confidence in paths], popularity, shape)
        proposed = sparse.csr_array((score.astype(np.float32), np.divmod(places, self.num_entities)), shape=shape)
        return proposed, (least * popularity).astype(np.float32)

    def popularity(self, signed: int) -> np.ndarray:
        """Return the share of the relation's training triples with each entity as the answer, below 1, float64[E]."""
        matrix = self.graph.matrices[signed ^ 1]  # rows are answers
        return np.diff(matrix.indptr) / (matrix.nnz + 1)


def places_of(ends: sparse.csr_array) -> np.ndarray:
    """Return row · E + entity of the entries of a matrix [b, E] of paths."""
    rows = np.repeat(np.arange(ends.shape[0], dtype=np.int64), np.diff(ends.indptr))
    return rows * ends.shape[1] + ends.indices


# Both take the hits, the confidences of the relation's rules, the popularity [E] and the shape [b, E], and return
# the places that any rule proposes, ascending, their scores float64, and what popularity counts elsewhere.
Aggregated = tuple[np.ndarray, np.ndarray, float]


def _best_two(hits: Hits, confidences: Sequence[float], popularity: np.ndarray, shape: tuple[int, int]) -> Aggregated:
    """Score by the best rule, then the next best, then popularity."""
    level = {c: i for i, c in enumerate(sorted(set(confidences)), 1)}  # 0: no rule
    best, second = (np.zeros(shape[0] * shape[1], np.int32) for _ in range(2))
    for places, confidence in hits:
        before, new = best[places], level[confidence]
        second[places] = np.maximum(second[places], np.minimum(before, new))
        best[places] = np.maximum(before, new)
    found, base = np.flatnonzero(best), len(level) + 1
    score = best[found].astype(np.int64) * base + second[found]
    unit = 1 << (BITS - (base * base - 1).bit_length())  # popularity takes the bits that are left
    return found, score + np.floor(popularity[found % shape[1]] * unit) / unit, 1.0


def _noisy_or(hits: Hits, confidences: Sequence[float], popularity: np.ndarray, shape: tuple[int, int]) -> Aggregated:
    """Score by the sum of -log(1 - c) over the rules, plus less than the least of these for popularity."""
    total = np.zeros(shape[0] * shape[1])
    for places, confidence in hits:
        total[places] -= np.log1p(-confidence)
    found, weight = np.flatnonzero(total), -np.log1p(-min(confidences, default=0.5)) / 2
    return found, total[found] + weight * popularity[found % shape[1]], float(weight)
