"""Choose sample facts of an entity from train: always the same ones, spread over relations."""

from collections import OrderedDict
from threading import Lock

import numpy as np

from pooling.graphs.kernels.graph_arrays import Ids

Fact = tuple[int, int, int]  # head, relation, tail
MOST = 24  # facts of one entity that samples are drawn from
_REMEMBERED = 50_000  # entities whose facts stay in memory


class SampleFacts:
    """Give sample facts of entities; made once per graph (counting sort, O(triples)), then shared by threads."""

    def __init__(self, train: Ids, num_entities: int) -> None:
        """Take train int32[n, 3], entities by id below `num_entities`."""
        from scipy import sparse  # here, since few need it: docs/measured/benchmarks.md, Start-up

        self._train = train
        count = len(train)
        ends = np.concatenate([train[:, 0], train[:, 2]])
        # row e of the matrix lists where e is in `ends`: as a head below n, as a tail from n on
        shape = (num_entities, max(1, 2 * count))
        places = sparse.csr_array((np.ones(2 * count, np.int8), (ends, np.arange(2 * count))), shape=shape)
        self._starts, self._places = places.indptr, places.indices
        self._found: OrderedDict[int, tuple[Fact, ...]] = OrderedDict()
        self._lock = Lock()

    def of(self, entity: int, relation: int, other: int, most: int = 3) -> list[Fact]:
        """Return up to `most` facts of an entity for somebody who is asked about it, `relation` and `other`.

        Leaves out every fact of that relation, and every fact about both entities in either direction: the triple in
        question, its inverse and its duplicates are among these. Depends on the graph and the triple alone.
        """
        known = (fact for fact in self._facts(entity) if fact[1] != relation)
        facts = (fact for fact in known if other == entity or other not in (fact[0], fact[2]))
        return [fact for fact, _ in zip(facts, range(most), strict=False)]

    def _facts(self, entity: int) -> tuple[Fact, ...]:
        with self._lock:
            found = self._found.get(entity)
            if found is not None:
                self._found.move_to_end(entity)
                return found
        found = self._choose(entity)
        with self._lock:
            self._found[entity] = found
            while len(self._found) > _REMEMBERED:
                self._found.popitem(last=False)
        return found

    def _choose(self, entity: int) -> tuple[Fact, ...]:
        """Order the facts of an entity, without loops: one of each relation, then the next of each.

        What the entity is the head of comes first, then relations of which it has few facts: they say most about it.
        """
        mine = self._places[self._starts[entity] : self._starts[entity + 1]]
        rows = mine % len(self._train) if len(mine) else mine
        triples = self._train[rows]
        as_tail = mine >= len(self._train)
        keep = triples[:, 0] != triples[:, 2]
        triples, as_tail = triples[keep], as_tail[keep]
        if not len(triples):
            return ()
        kinds = triples[:, 1].astype(np.int64) * 2 + as_tail
        _, kind, counts = np.unique(kinds, return_inverse=True, return_counts=True)
        by_kind = np.argsort(kind, kind="stable")
        nth = np.empty(len(kind), np.int64)
        nth[by_kind] = np.arange(len(kind)) - np.repeat(np.cumsum(counts) - counts, counts)
        order = np.lexsort((kinds, counts[kind], as_tail, nth))[:MOST]
        return tuple((int(h), int(r), int(t)) for h, r, t in triples[order])
