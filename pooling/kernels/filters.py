"""Filters of trivial triples: a registry of rules on arrays. Each turns a pooled triple into an assumed negative.

Source: spec of the pool, after Zhou et al. (2022), section 3.1: a triple is trivial when any question that found it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Found:
    """n pooled triples as a filter sees them.

    triples int32[n, 3]; by_tail and by_head bool[n]: found by a tail question, by a head question.
    category: of each relation id; types: of each entity id; domains and ranges: of each relation id ('' unknown).
    """

    triples: np.ndarray
    by_tail: np.ndarray
    by_head: np.ndarray
    category: Sequence[str]
    types: Sequence[tuple[str, ...]]
    domains: Sequence[str]
    ranges: Sequence[str]


def head_question_trivial(found: Found) -> np.ndarray:
    """Found by the head question of a 1-1 or 1-N relation: such a tail has one head, and it is known. bool[n]."""
    one_head = np.isin(np.asarray(found.category), ["1-1", "1-N"])
    return found.by_head & one_head[found.triples[:, 1]]


def tail_question_trivial(found: Found) -> np.ndarray:
    """Found by the tail question of a 1-1 or N-1 relation: such a head has one tail, and it is known. bool[n]."""
    one_tail = np.isin(np.asarray(found.category), ["1-1", "N-1"])
    return found.by_tail & one_tail[found.triples[:, 1]]


def types_inconsistent(found: Found) -> np.ndarray:
    """The head has declared types without the relation's domain, or the tail without its range. bool[n].

    An entity without declared types, or a relation without a declared domain or range, is never filtered.
    """
    heads = _lacks(found.triples[:, 0], found.triples[:, 1], found.types, found.domains)
    return heads | _lacks(found.triples[:, 2], found.triples[:, 1], found.types, found.ranges)


def _lacks(
    entity: np.ndarray, relation: np.ndarray, types: Sequence[tuple[str, ...]], wanted: Sequence[str]
) -> np.ndarray:
    pairs, place = np.unique(np.stack([entity, relation], axis=1), axis=0, return_inverse=True)
    lacks = [bool(wanted[r]) and bool(types[e]) and wanted[r] not in types[e] for e, r in pairs.tolist()]
    return np.array(lacks, dtype=bool)[place.reshape(-1)]


@dataclass(frozen=True)
class Filter:
    name: str
    label: str
    description: str
    rule: Callable[[Found], np.ndarray]


FILTERS: dict[str, Filter] = {
    f.name: f
    for f in (
        Filter(
            "category-head",
            "head question of a 1-1 or 1-N relation",
            "Asking for the head of such a relation has one answer, and the seed triple holds it.",
            head_question_trivial,
        ),
        Filter(
            "category-tail",
            "tail question of a 1-1 or N-1 relation",
            "Asking for the tail of such a relation has one answer, and the seed triple holds it.",
            tail_question_trivial,
        ),
        Filter(
            "types",
            "entity type not consistent with the relation",
            "The head's declared types lack the relation's domain, or the tail's lack its range.",
            types_inconsistent,
        ),
    )
}
# names that stand for several
GROUPS = {"category": ("category-head", "category-tail"), "none": ()}


def parse_filters(text: str) -> list[str]:
    """Names of filters from `category,types`; ValueError names those that exist."""
    names: list[str] = []
    for word in (w.strip() for w in text.split(",") if w.strip()):
        if word not in FILTERS and word not in GROUPS:
            known = ", ".join([*FILTERS, *GROUPS])
            raise ValueError(f"unknown filter {word!r}: the known filters are {known}")
        names += GROUPS.get(word, (word,))
    return list(dict.fromkeys(names))


def apply_filters(found: Found, names: Sequence[str]) -> np.ndarray:
    """Name of the first of the filters that takes each triple, '' where none does; str[n]."""
    reason = np.full(len(found.triples), "", dtype=object)
    for name in names:
        reason[(reason == "") & FILTERS[name].rule(found)] = name
    return reason
