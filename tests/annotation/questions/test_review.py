"""What a manager looks at before people are asked: coverage, examples, missing labels, versions."""

from __future__ import annotations

import dataclasses

import pytest

from annotation.models import Slot
from annotation.questions import review
from annotation.questions.review import (
    Coverage,
    ExampleNames,
    MissingLabel,
    asked_relations,
    coverage,
    examples,
    missing_labels,
    num_triples_asked,
    versions,
)
from annotation.questions.templates import save_template
from pooling.graphs.opening import open_graph
from pooling.models import Pool, PooledTriple, Relation
from tests.annotation.factories import label_item


@pytest.fixture
def pool(world) -> Pool:
    """Six triples to people of lived_in, nine of born_in, one of rules; a filtered one of fled_to."""
    graph = world.pool.graph
    for index, key in ((1, "born_in"), (2, "fled_to"), (3, "rules")):
        Relation.objects.create(graph=graph, index=index, key=key)
    rows = [(h, 1, t, "") for h in range(3) for t in range(3, 6)] + [(0, 3, 1, ""), (0, 2, 1, "types")]
    PooledTriple.objects.bulk_create(
        PooledTriple(pool=world.pool, head=h, relation=r, tail=t, depth=1, reason=reason) for h, r, t, reason in rows
    )
    return world.pool


def test_relations_come_by_their_triples_to_people(pool: Pool) -> None:
    assert [(one.relation.key, one.triples) for one in asked_relations(pool)] == [
        ("born_in", 9),
        ("lived_in", 6),
        ("rules", 1),
    ]
    assert num_triples_asked(pool) == {0: 6, 1: 9, 3: 1}


def test_coverage_counts_relations_and_triples(pool: Pool) -> None:
    assert coverage(asked_relations(pool)) == Coverage(3, 1, 16, 6, unread=2)
    rules = pool.graph.relations.get(key="rules")
    save_template(rules, "Does {subject} rule {object}?", "What does {subject} rule?", "Who rules {object}?")
    found = coverage(asked_relations(pool))
    assert found == Coverage(3, 2, 16, 7, unread=1)
    assert (found.from_name, found.percent, found.read) == (1, 43, 2)
    assert coverage([]).percent == 0


def test_relations_whose_names_are_no_words_are_counted_until_somebody_writes(pool: Pool) -> None:
    Relation.objects.filter(key="rules").update(key="P31")
    assert coverage(asked_relations(pool)) == Coverage(3, 1, 16, 6, odd=1, unread=1)
    assert [one.relation.key for one in asked_relations(pool) if one.is_odd] == ["P31"]
    save_template(pool.graph.relations.get(key="P31"), "Is {subject} a {object}?", "{subject}?", "{object}?")
    assert coverage(asked_relations(pool)).odd == 0


def test_newest_template_is_the_one_that_counts(pool: Pool) -> None:
    lived = pool.graph.relations.get(key="lived_in")
    save_template(lived, "{subject} in {object}?", "{subject}?", "{object}?")
    (found,) = [one for one in asked_relations(pool) if one.relation == lived]
    assert (found.template.version, found.template.statement) == (2, "{subject} in {object}?")


def test_examples_are_real_triples_to_people(pool: Pool) -> None:
    graph = open_graph(pool.graph)
    pairs = {
        index: {
            ExampleNames(graph.label(h), graph.label(t))
            for h, t in pool.triples.filter(reason="", relation=index).values_list("head", "tail")
        }
        for index in (0, 1, 3)
    }
    found = examples(pool, num_triples_asked(pool))
    assert {index: len(own) for index, own in found.items()} == {0: 3, 1: 3, 3: 1}
    for index, own in found.items():
        assert set(own) <= pairs[index] and len(set(own)) == len(own)
    assert found == examples(pool, num_triples_asked(pool))


def test_other_examples_show_all_triples_in_turn(pool: Pool) -> None:
    shown = [examples(pool, {1: 9}, offset)[1] for offset in range(4)]
    assert len({names for own in shown[:3] for names in own}) == 9
    assert shown[3] == shown[0]
    first = [names.subject for names in shown[0]]
    assert len(set(first)) > 1  # not all of one question


@pytest.mark.parametrize("indices", [[0], [0, 1, 3]])
def test_examples_take_one_query(pool: Pool, indices: list[int], django_assert_num_queries) -> None:
    counts = num_triples_asked(pool)
    open_graph(pool.graph)
    with django_assert_num_queries(1):
        examples(pool, {index: counts[index] for index in indices})


def test_asked_relations_take_four_queries(pool: Pool, django_assert_num_queries) -> None:
    asked_relations(pool)
    with django_assert_num_queries(4):
        asked_relations(pool)


def test_entities_without_a_label_are_listed_with_their_triples(pool: Pool, monkeypatch) -> None:
    assert missing_labels(pool) == []
    graph = open_graph(pool.graph)
    labels = ["" if entity in (0, 1, 4, 9) else label for entity, label in enumerate(graph.labels)]
    odd = dataclasses.replace(graph, labels=labels)
    monkeypatch.setattr(review, "open_graph", lambda _: odd)
    ends = [end for pair in pool.triples.filter(reason="").values_list("head", "tail") for end in pair]
    wanted = [MissingLabel(graph.entities[e], ends.count(e)) for e in (0, 1, 4, 9) if ends.count(e)]
    assert missing_labels(pool) == sorted(wanted, key=lambda one: (-one.triples, one.key))
    assert len(wanted) >= 3


def test_versions_know_the_labels_given_under_them(world, pool: Pool) -> None:
    lived = pool.graph.relations.get(key="lived_in")
    items = list(world.campaign.items.all()[:3])
    label_item(world, items[0], ann="Y")
    label_item(world, items[1], ann="Y")
    Slot.objects.filter(item=items[1]).exclude(annotator=None).update(state="withdrawn")
    # what is leased already keeps the words that were shown; a new person is shown the new ones
    save_template(lived, "{subject} in {object}?", "{subject}?", "{object}?", world.manager)
    label_item(world, items[0], ben="Y")
    assert [(one.template.version, one.labels) for one in versions(pool, lived)] == [(2, 1), (1, 1)]
    assert versions(pool, lived)[0].template.created_by == world.manager


@pytest.mark.parametrize("count", [1, 3])
def test_versions_take_two_queries(pool: Pool, count: int, django_assert_num_queries) -> None:
    lived = pool.graph.relations.get(key="lived_in")
    for n in range(1, count):
        save_template(lived, f"{n} {{subject}} {{object}}?", "{subject}?", "{object}?")
    with django_assert_num_queries(2):
        assert len(versions(pool, lived)) == count
