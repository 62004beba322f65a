"""Pools on arrays: gather the first candidates of several systems, remember who found what at which rank."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pooling.kernels.questions import Questions

# one finding of a pooled triple; a triple's provenance is the bytes of several of these
PROVENANCE = np.dtype([("system", "u1"), ("side", "u1"), ("rank", "<u2")])


class Gathered(NamedTuple):
    """n pooled triples int32[n, 3], smallest depth int[n], findings: PROVENANCE records, indptr int64[n + 1]."""

    triples: np.ndarray
    depth: np.ndarray
    findings: np.ndarray
    indptr: np.ndarray


def gather(questions: Questions, candidates: Sequence[np.ndarray], depth: int) -> Gathered:
    """Pool the first `depth` candidates of every system for m questions.

    candidates: one int32[m, K] an system, best first, -1 where there are no more; K ≥ depth. Triples come ordered by
    smallest depth, then by relation, head and tail, so that the pool does not depend on the order of the systems.
    """
    parts = []
    for system, entity in enumerate(candidates):
        top = entity[:, :depth]
        question, rank = np.nonzero(top >= 0)
        found = top[question, rank]
        side = questions.side[question]
        given = questions.entity[question]
        head, tail = np.where(side == 0, given, found), np.where(side == 0, found, given)
        finding = np.zeros(len(found), dtype=PROVENANCE)
        finding["system"], finding["side"], finding["rank"] = system, side, rank + 1
        parts.append((np.stack([head, questions.relation[question], tail], axis=1), finding))
    every = np.concatenate([p[0] for p in parts]) if parts else np.zeros((0, 3), np.int32)
    findings = np.concatenate([p[1] for p in parts]) if parts else np.zeros(0, PROVENANCE)
    triples, place = np.unique(every.astype(np.int32), axis=0, return_inverse=True)
    place = place.reshape(-1)
    smallest = np.full(len(triples), np.iinfo(np.int64).max)
    np.minimum.at(smallest, place, findings["rank"].astype(np.int64))
    order = np.lexsort((triples[:, 2], triples[:, 0], triples[:, 1], smallest))
    new_place = np.empty(len(order), dtype=np.int64)
    new_place[order] = np.arange(len(order))
    place = new_place[place]
    by_triple = np.lexsort((findings["rank"], findings["side"], findings["system"], place))
    counts = np.bincount(place, minlength=len(triples))
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Gathered(triples[order], smallest[order], findings[by_triple], indptr)


def sample_seeds(num_test: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """Places of a random share of the test triples, ascending: round(share · n), at least 1; without replacement."""
    count = max(1, round(share * num_test))
    return np.sort(rng.choice(num_test, size=count, replace=False))
