"""Gather the first candidates of several systems, with who found what at which rank; count and order by finders."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pooling.questions.kernel import Questions

# one finding of a pooled triple; its provenance is the bytes of all its findings
PROVENANCE = np.dtype([("system", "u1"), ("side", "u1"), ("rank", "<u2")])


class Gathered(NamedTuple):
    """Hold n pooled triples int32[n, 3], smallest depth int[n], findings (PROVENANCE records), indptr int64[n + 1]."""

    triples: np.ndarray
    depth: np.ndarray
    findings: np.ndarray
    indptr: np.ndarray


def gather(questions: Questions, candidates: Sequence[np.ndarray], depth: int) -> Gathered:
    """Pool the first `depth` candidates of every system for m questions.

    candidates: one int32[m, K] a system, best first, -1 where there are no more; K may differ. Triples come ordered by
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
    rank = findings["rank"].astype(np.int64)
    width = _width(every)
    keys, place = np.unique(_triple_keys(every, width), return_inverse=True)
    smallest = np.full(len(keys), np.iinfo(np.int64).max)
    np.minimum.at(smallest, place, rank)
    order = np.argsort(smallest, kind="stable")
    place = np.argsort(order)[place]
    by_triple = np.argsort(_finding_keys(place, findings), kind="stable")
    indptr = _starts(place, len(keys))
    pair, tail = np.divmod(keys[order], width)
    relation, head = np.divmod(pair, width)
    triples = np.stack([head, relation, tail], axis=1).astype(np.int32)
    return Gathered(triples, smallest[order], findings[by_triple], indptr)


def merge(old: Gathered, fresh: Gathered) -> Gathered:
    """Join two pools: the triples of `old` in their order, then those that only `fresh` has, in its order.

    A triple keeps every finding of both, once, in order of system, side and rank, and the smaller depth.
    """
    triples = np.concatenate([old.triples, fresh.triples])
    keys, first, place = np.unique(_triple_keys(triples, _width(triples)), return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.argsort(order)[place]
    depth = np.full(len(keys), np.iinfo(np.int64).max)
    np.minimum.at(depth, place, np.concatenate([old.depth, fresh.depth]).astype(np.int64))
    findings = np.concatenate([old.findings, fresh.findings])
    counts = np.concatenate([np.diff(old.indptr), np.diff(fresh.indptr)])
    place = np.repeat(place, counts)
    _, once = np.unique(_finding_keys(place, findings), return_index=True)
    return Gathered(triples[first[order]], depth, findings[once], _starts(place[once], len(keys)))


def _width(triples: np.ndarray) -> int:
    return int(triples[:, [0, 2]].max(initial=0)) + 1


def _triple_keys(triples: np.ndarray, width: int) -> np.ndarray:
    """Return one integer a triple, in order of relation, head and tail; it sorts many times faster than rows."""
    head, relation, tail = triples.astype(np.int64).T
    return (relation * width + head) * width + tail


def _finding_keys(place: np.ndarray, findings: np.ndarray) -> np.ndarray:
    """Return one integer a finding: index of its triple, system (8 bits), side (1 bit), rank (16 bits)."""
    system, side, rank = (findings[name].astype(np.int64) for name in ("system", "side", "rank"))
    return place << 25 | system << 17 | side << 16 | rank


def _starts(place: np.ndarray, triples: int) -> np.ndarray:
    """Return where the findings of each triple begin, int64[triples + 1], if ordered by triple."""
    return np.concatenate([[0], np.cumsum(np.bincount(place, minlength=triples))]).astype(np.int64)


class Overlap(NamedTuple):
    """Hold shared int[S, S], triples that both systems found (diagonal: one), and only int[S], that no other found."""

    shared: np.ndarray
    only: np.ndarray


def overlap(systems: np.ndarray, indptr: np.ndarray, num_systems: int) -> Overlap:
    """Count the overlap of S systems: `systems` int[f] of the findings, `indptr` int[n + 1] of the triples."""
    found = np.zeros((len(indptr) - 1, num_systems), dtype=bool)
    found[np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)), systems] = True
    counts = found.astype(np.int64)
    return Overlap(counts.T @ counts, found[found.sum(axis=1) == 1].sum(axis=0))


def question_sides(triples: np.ndarray, provenance: list[bytes], seeds: np.ndarray) -> np.ndarray:
    """Return the side (tail 0, head 1) of the question that found each triple at the best rank; tail in a tie.

    Without provenance a triple belongs to the tail question of a seed that has its head and relation.
    triples int[n, 3]; provenance: n packed findings; seeds int[m, 3]. Returns int8[n].
    """
    lengths = np.array([len(packed) for packed in provenance], dtype=np.int64) // PROVENANCE.itemsize
    findings = np.frombuffer(b"".join(provenance), dtype=PROVENANCE)
    width = int(max(triples[:, 1].max(initial=0), seeds[:, 1].max(initial=0))) + 1
    given, asked = (of[:, 0].astype(np.int64) * width + of[:, 1] for of in (triples, seeds))
    sides = np.where(np.isin(given, asked), 0, 1).astype(np.int8)
    found = lengths > 0
    if found.any():
        best_first = findings["rank"].astype(np.int64) * 2 + findings["side"]
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])[found]
        sides[found] = np.minimum.reduceat(best_first, starts) % 2
    return sides


def shown_questions(triples: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Return (side, relation, given entity) of each triple, int64[n, 3]."""
    given = np.where(sides == 0, triples[:, 0], triples[:, 2])
    return np.stack([sides, triples[:, 1], given], axis=1).astype(np.int64)
