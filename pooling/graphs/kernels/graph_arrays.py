"""Hold a graph in memory: names by id, and three arrays of triples."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class GraphArrays:
    """Hold a graph in memory; all readers of a process share it, so the arrays are read-only.

    Lists are indexed by entity id or relation id (int32, in order of first appearance in train, valid, test);
    train, valid, test are int32[n, 3] with columns head, relation, tail, in the order of the source.
    """

    entities: list[str]
    labels: list[str]  # readable, '' where none was given
    types: list[tuple[str, ...]]
    relations: list[str]
    categories: list[str]  # '1-1', '1-N', 'N-1', 'N-N'; '' when the relation is not in train
    domains: list[str]  # '' where none was given
    ranges: list[str]
    train: Ids
    valid: Ids
    test: Ids
    relation_labels: list[str] = field(default_factory=list)  # readable, '' where none was given; [] of none at all

    def __post_init__(self) -> None:
        for triples in (self.train, self.valid, self.test):
            triples.setflags(write=False)

    @property
    def num_entities(self) -> int:
        return len(self.entities)

    @property
    def num_relations(self) -> int:
        return len(self.relations)

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of entities and relations, which the keys of questions and rows need."""
        return len(self.entities), len(self.relations)

    def label(self, entity: int) -> str:
        """Return the readable label of an entity id, or its key where it has none."""
        return self.labels[entity] or self.entities[entity]

    def relation_name(self, relation: int) -> str:
        """Return the readable label of a relation id, or its key where it has none."""
        return (self.relation_labels[relation] if self.relation_labels else "") or self.relations[relation]

    @cached_property
    def entity_index(self) -> dict[str, int]:
        return {key: entity for entity, key in enumerate(self.entities)}

    @cached_property
    def relation_index(self) -> dict[str, int]:
        return {key: relation for relation, key in enumerate(self.relations)}
