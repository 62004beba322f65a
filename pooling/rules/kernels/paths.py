"""Find bodies worth counting: closed paths around training triples, drawn as AnyBURL draws them.

For a triple r(x, y) every path from x to y of one or two edges is taken, and of those with three edges the ones
whose first and last edge are among `paths` pairs of edges that are drawn at x and y: all, where there are no more.
Source: Meilicke et al. (2019), Anytime bottom-up rule learning for knowledge graph completion, IJCAI.
"""

import numpy as np

from pooling.rules.kernels.rule_table import MAX_LENGTH
from pooling.rules.kernels.signed_graph import Body, SignedGraph, reverse


def candidate_bodies(
    graph: SignedGraph,
    relation: int,
    *,
    max_length: int,
    samples: int,
    paths: int,
    limit: int,
    rng: np.random.Generator,
) -> list[Body]:
    """Return bodies for `relation`, found around at most `samples` of its triples, ids inverse-aware.

    Of each length the `limit` that close the most of these triples are kept.
    """
    heads, tails = graph.matrices[2 * relation].tocoo().coords
    chosen = rng.permutation(len(heads))[:samples]
    found = [
        _bodies_around(graph, 2 * relation, x, y, max_length, paths, rng)
        for x, y in zip(heads[chosen].tolist(), tails[chosen].tolist(), strict=True)
    ]
    codes, count = np.unique(np.concatenate([*found, np.zeros(0, np.int64)]), return_counts=True)
    bodies = _decode(codes, graph.num_relations)
    lengths = np.array([len(body) for body in bodies], np.int64)
    order = np.lexsort((codes, -count))
    return [bodies[i] for length in range(1, MAX_LENGTH + 1) for i in order[lengths[order] == length][:limit]]


def _bodies_around(
    graph: SignedGraph, signed: int, x: int, y: int, max_length: int, paths: int, rng: np.random.Generator
) -> np.ndarray:
    """Return codes of the distinct bodies that lead from x to y on paths of distinct entities."""
    near_x, near_y = (slice(graph.start[e], graph.start[e + 1]) for e in (x, y))
    first, a = graph.relation[near_x], graph.target[near_x]
    last, b = graph.relation[near_y] ^ 1, graph.target[near_y]  # last: from b to y
    direct = first[(a == y) & (first != signed)]  # r(X, Y) ← r(X, Y) says nothing
    codes = [_encode(graph, direct)]
    first, a, last, b = first[a != y], a[a != y], last[b != x], b[b != x]
    if max_length >= 2:
        begin, end = (np.searchsorted(b, a, side) for side in ("left", "right"))
        one, other = _ranges(begin, end)
        codes.append(_encode(graph, first[one], last[other]))
    if max_length >= 3 and len(a) and len(b):
        i, j = _combinations(len(a), len(b), paths, rng)
        begin, end = _edges_between(graph, a[i], b[j])
        pair, edge = _ranges(begin, end)
        codes.append(_encode(graph, first[i][pair], graph.relation[edge], last[j][pair]))
    return np.unique(np.concatenate(codes))


def _combinations(m: int, n: int, limit: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of an index below m and one below n, or `limit` that are drawn."""
    if m * n <= limit:
        return np.repeat(np.arange(m), n), np.tile(np.arange(n), m)
    return rng.integers(m, size=limit), rng.integers(n, size=limit)


def _edges_between(graph: SignedGraph, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where the edges from a[i] to b[i] begin and end in the graph; equal where there are none."""
    keys = graph.keys(a, b)
    place = np.minimum(np.searchsorted(graph.pairs, keys), len(graph.pairs) - 1)
    begin = graph.pair_start[place]
    return begin, np.where(graph.pairs[place] == keys, graph.pair_start[place + 1], begin)


def _ranges(begin: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (i, j) for every j from begin[i] to end[i] - 1."""
    size = end - begin
    before = np.cumsum(size) - size
    i = np.repeat(np.arange(len(size)), size)
    return i, np.arange(len(i)) + np.repeat(begin - before, size)


def _encode(graph: SignedGraph, *relations: np.ndarray) -> np.ndarray:
    """Return one int64 for each body: its relations, plus one, as digits; 0 behind its end."""
    base, code = 2 * graph.num_relations + 1, np.zeros(len(relations[0]), np.int64)
    for place in range(MAX_LENGTH):
        code = code * base + (relations[place].astype(np.int64) + 1 if place < len(relations) else 0)
    return code


def _decode(codes: np.ndarray, num_relations: int) -> list[Body]:
    base = 2 * num_relations + 1
    digits = np.stack([codes // base ** (MAX_LENGTH - 1 - place) % base for place in range(MAX_LENGTH)], 1)
    return [tuple(digit - 1 for digit in row if digit) for row in digits.tolist()]


def canonical(body: Body, signed: int) -> tuple[Body, int]:
    """Return the one of a rule and its reverse that is counted: the same path, walked from its other end."""
    back = reverse(body)
    return (back, signed ^ 1) if back < body else (body, signed)
