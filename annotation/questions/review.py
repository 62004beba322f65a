"""Show a manager, before people are asked: which relations, in which words, with which names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from django.db.models import Count, F, Window
from django.db.models.functions import RowNumber

from annotation.judging.judgements import live_labels
from annotation.models import QuestionTemplate
from annotation.questions.templates import newest_of_graph
from pooling.enums import TO_PEOPLE
from pooling.graphs.opening import open_graph
from pooling.models import Pool, PooledTriple, Relation
from pooling.questions.relation_names import is_readable

EXAMPLES = 3


@dataclass(frozen=True)
class AskedRelation:
    """A relation that people are asked about, with its newest template."""

    relation: Relation
    triples: int  # to judge
    template: QuestionTemplate

    @property
    def is_odd(self) -> bool:
        """Whether the question was made from a name without words, so that people cannot know what it means."""
        return self.template.is_unread and not is_readable(self.relation.name)

    @property
    def is_unread(self) -> bool:
        """Whether nobody has read the automatic question, which a person can confirm."""
        return self.template.is_unread and is_readable(self.relation.name)


@dataclass(frozen=True)
class Coverage:
    """How many relations, and how many of their triples, are asked about in words that a person wrote."""

    relations: int
    written: int
    triples: int
    written_triples: int
    odd: int = 0  # questions made from a name that is not words
    unread: int = 0  # questions made from words of a name, which nobody has read

    @property
    def from_name(self) -> int:
        return self.relations - self.written

    @property
    def read(self) -> int:
        """Count the relations whose words a person wrote or read."""
        return self.relations - self.odd - self.unread

    @property
    def percent(self) -> int:
        return 100 * self.written_triples // self.triples if self.triples else 0


class ExampleNames(NamedTuple):
    subject: str
    object: str


class MissingLabel(NamedTuple):
    """An entity that people see by its key."""

    key: str
    triples: int  # to judge, that contain it


class VersionUse(NamedTuple):
    template: QuestionTemplate
    labels: int  # that count, given under this version


def asked_relations(pool: Pool) -> list[AskedRelation]:
    """Return the relations that people of the pool are asked about, those with most triples first."""
    newest = newest_of_graph(pool.graph)
    asked = num_triples_asked(pool)
    relations = {r.pk: r for r in pool.graph.relations.filter(index__in=asked)}
    found = [AskedRelation(relations[pk], asked[relations[pk].index], newest[pk]) for pk in relations]
    return sorted(found, key=lambda one: (-one.triples, one.relation.index))


def num_triples_asked(pool: Pool) -> dict[int, int]:
    """Return relation index -> number of triples that people judge."""
    rows = pool.triples.filter(reason=TO_PEOPLE).order_by().values_list("relation")
    return dict(rows.annotate(n=Count("id")))


def coverage(asked: Sequence[AskedRelation]) -> Coverage:
    written = [one for one in asked if not one.template.is_default]
    return Coverage(
        len(asked),
        len(written),
        sum(one.triples for one in asked),
        sum(one.triples for one in written),
        sum(one.is_odd for one in asked),
        sum(one.is_unread for one in asked),
    )


def examples(pool: Pool, triples: Mapping[int, int], offset: int = 0) -> dict[int, list[ExampleNames]]:
    """Return names of some triples to judge for each relation (index -> number of triples), repeatably.

    They are mixed so that they differ in both names. The next offset shows the next ones, and starts again at the end.
    """
    places = {
        index: [(offset * EXAMPLES + i) % count for i in range(min(EXAMPLES, count))]
        for index, count in triples.items()
    }
    mixed = (F("id") * 64727) % 104729  # neighbours share an entity: move them far apart
    rows = (
        PooledTriple.objects.filter(pool=pool, reason=TO_PEOPLE, relation__in=places)
        .order_by()
        .annotate(place=Window(RowNumber(), partition_by=F("relation"), order_by=[mixed, F("id")]))
        .filter(place__in={place + 1 for own in places.values() for place in own})
    )
    graph = open_graph(pool.graph)
    found = {
        (index, place - 1): ExampleNames(graph.label(head), graph.label(tail))
        for index, place, head, tail in rows.values_list("relation", "place", "head", "tail")
    }
    return {index: [found[index, place] for place in own] for index, own in places.items()}


def missing_labels(pool: Pool) -> list[MissingLabel]:
    """Return entities in triples to judge that have no readable label, those in most triples first."""
    graph = open_graph(pool.graph)
    if all(graph.labels):
        return []
    pairs = pool.triples.filter(reason=TO_PEOPLE).order_by().values_list("head", "tail")
    entities, counts = np.unique(np.array(list(pairs), dtype=np.int64), return_counts=True)
    missing = [
        MissingLabel(graph.entities[entity], count)
        for entity, count in zip(entities.tolist(), counts.tolist(), strict=True)
        if not graph.labels[entity]
    ]
    return sorted(missing, key=lambda one: (-one.triples, one.key))


def versions(pool: Pool, relation: Relation) -> list[VersionUse]:
    """Return every version of the questions of a relation, newest first."""
    given = live_labels().filter(item__campaign__pool=pool, template__relation=relation)
    labels = dict(given.order_by().values_list("template").annotate(n=Count("id")))
    templates = relation.templates.select_related("created_by", "read_by").order_by("-version")
    return [VersionUse(template, labels.get(template.pk, 0)) for template in templates]
