"""What a filter is, and what it sees of pooled triples."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Ids = NDArray[np.int32]


class Typed(NamedTuple):
    """Hold the types of the pooled entities: `has` bool[entities], and sorted keys int64 of (entity, type number)."""

    has: Flags
    keys: NDArray[np.int64]


@dataclass(frozen=True)
class FilterInput:
    """Hold n pooled triples and what filters know of their graph.

    triples int32[n, 3]; by_tail and by_head bool[n]: found by a tail question, by a head question.
    category: of each relation id; types: of each entity id; domains and ranges: of each relation id ('' unknown);
    train int32[m, 3]: the triples that types are entailed from.
    """

    triples: Ids
    by_tail: Flags
    by_head: Flags
    category: Sequence[str]
    types: Sequence[tuple[str, ...]]
    domains: Sequence[str]
    ranges: Sequence[str]
    train: Ids

    @cached_property
    def wanted(self) -> tuple[NDArray[np.int64], NDArray[np.int64], dict[str, int]]:
        """Return domain and range of each relation as numbers int64[relations], -1 unknown; and numbers by type."""
        names = sorted({*self.domains, *self.ranges} - {""})
        number = {name: i for i, name in enumerate(names)}
        domain, range_ = (
            np.array([number.get(name, -1) for name in of], dtype=np.int64) for of in (self.domains, self.ranges)
        )
        return domain, range_, number

    @cached_property
    def declared(self) -> Typed:
        """Return the types that the graph gives."""
        _, _, number = self.wanted
        has = np.zeros(len(self.types), dtype=bool)
        keys = []
        for entity in np.unique(self.triples[:, [0, 2]]).tolist():
            has[entity] = bool(self.types[entity])
            keys += [entity * len(number) + number[name] for name in self.types[entity] if name in number]
        return Typed(has, np.array(sorted(keys), dtype=np.int64))

    @cached_property
    def entailed(self) -> Typed:
        """Return the types that train entails: domains of the relations of a head, ranges of those of a tail."""
        domain, range_, number = self.wanted
        pooled = np.zeros(len(self.types), dtype=bool)
        pooled[self.triples[:, [0, 2]]] = True
        parts = []
        for column, wanted in ((0, domain), (2, range_)):
            entity, type_ = self.train[:, column], wanted[self.train[:, 1]]
            used = pooled[entity] & (type_ >= 0)
            parts.append(entity[used].astype(np.int64) * len(number) + type_[used])
        keys = np.unique(np.concatenate(parts))
        has = np.zeros(len(self.types), dtype=bool)
        has[keys // max(len(number), 1)] = True
        return Typed(has, keys)

    @property
    def either(self) -> Typed:
        """Return declared and entailed types together."""
        return Typed(self.declared.has | self.entailed.has, np.union1d(self.declared.keys, self.entailed.keys))


@dataclass(frozen=True)
class Filter:
    """A filter: `name` is the reason stored with each triple that it takes; `rule` returns bool[n]."""

    name: str
    label: str
    description: str
    rule: Callable[[FilterInput], Flags]
