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
    head, relation, tail = every.astype(np.int64).T
    rank = findings["rank"].astype(np.int64)
    # One integer a triple, in order of relation, head and tail: many times faster to sort than rows.
    width = int(every[:, [0, 2]].max(initial=0)) + 1
    keys, place = np.unique((relation * width + head) * width + tail, return_inverse=True)
    smallest = np.full(len(keys), np.iinfo(np.int64).max)
    np.minimum.at(smallest, place, rank)
    order = np.argsort(smallest, kind="stable")
    new_place = np.empty(len(order), dtype=np.int64)
    new_place[order] = np.arange(len(order))
    place = new_place[place]
    # place, system (8 bits), side (1 bit), rank (16 bits)
    finding_key = (
        place << 25 | findings["system"].astype(np.int64) << 17 | findings["side"].astype(np.int64) << 16
    )
    by_triple = np.argsort(finding_key | rank, kind="stable")
    counts = np.bincount(place, minlength=len(keys))
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    pair, tail = np.divmod(keys[order], width)
    relation, head = np.divmod(pair, width)
    triples = np.stack([head, relation, tail], axis=1).astype(np.int32)
    return Gathered(triples, smallest[order], findings[by_triple], indptr)


def sample_seeds(num_test: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """Places of a random share of the test triples, ascending: round(share · n), at least 1; without replacement."""
    count = max(1, round(share * num_test))
    return np.sort(rng.choice(num_test, size=count, replace=False))
