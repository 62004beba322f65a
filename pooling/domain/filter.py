"""Filtering: which pooled triples are assumed negatives, and why."""

from collections.abc import Sequence

import numpy as np

from pooling.kernels.filters import Found, apply_filters, parse_filters
from pooling.kernels.graph import GraphArrays
from pooling.kernels.pool import Gathered


def found_by(gathered: Gathered, seeds: np.ndarray, graph: GraphArrays) -> Found:
    """What filters see. Triples without findings (imported) count as found by every seed question they answer."""
    triples = gathered.triples
    counts = np.diff(gathered.indptr)
    owner = np.repeat(np.arange(len(triples)), counts)
    by_tail, by_head = np.zeros(len(triples), bool), np.zeros(len(triples), bool)
    by_tail[owner[gathered.findings["side"] == 0]] = True
    by_head[owner[gathered.findings["side"] == 1]] = True
    bare = counts == 0
    if bare.any():
        e = graph.num_entities
        tail_questions = seeds[:, 1].astype(np.int64) * e + seeds[:, 0]
        head_questions = seeds[:, 1].astype(np.int64) * e + seeds[:, 2]
        relation = triples[:, 1].astype(np.int64) * e
        by_tail |= bare & np.isin(relation + triples[:, 0], tail_questions)
        by_head |= bare & np.isin(relation + triples[:, 2], head_questions)
    return Found(triples, by_tail, by_head, graph.categories, graph.types, graph.domains, graph.ranges)


def reasons(gathered: Gathered, seeds: np.ndarray, graph: GraphArrays, names: Sequence[str]) -> np.ndarray:
    """The filter that takes each triple, '' where people judge it; str[n]."""
    return apply_filters(found_by(gathered, seeds, graph), names)


__all__ = ["found_by", "parse_filters", "reasons"]
