"""The history of one triple: who found it, where systems put it, who labelled it, and how it was settled."""

from __future__ import annotations

from uuid import uuid4

import pytest

from annotation.judging.label_import import import_labels
from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.queue import claim_disputed, release
from annotation.labelling.submit import change
from annotation.labelling.withdraw import reopen_judgement, withdraw_labels
from annotation.models import Judgement, Label
from core.errors import UserError
from evaluation.browse.pool_states import TripleState, pool_states
from evaluation.browse.triple import (
    Evidence,
    Position,
    evidence_of,
    imported_rows,
    inspect_triple,
    is_link,
    label_rows,
    questions_without_runs,
    triple_questions,
)
from evaluation.labels.pool_table import pool_table
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from pooling.pools.build import Finding, unpack_provenance
from tests.annotation.factories import LINK, World, answer, label_item, make_world, windows_closed


@pytest.fixture
def world(db, tmp_path) -> World:
    return make_world(tmp_path / "tsv")


def inspected(pool: Pool, triple):
    return inspect_triple(pool, pool_states(pool), (triple.head, triple.relation, triple.tail))


# -- positions --------------------------------------------------------------------------------------------------


def test_positions_are_the_three_ranks_of_both_questions(labelled: Pool):
    table, states = pool_table(labelled), pool_states(labelled)
    ranks = table.pool.table
    told: dict[tuple, list[Position]] = {}
    for row in range(ranks.rows):
        triple = tuple(table.triples[ranks.triple[row]].tolist())
        told[triple, int(ranks.side[ranks.question[row]])] = [
            Position(int(ranks.strict[i, row]), int(ranks.optimistic[i, row]), int(ranks.pessimistic[i, row]))
            for i in range(ranks.systems)
        ]
    for triple in states.contents.triples.tolist()[::9]:
        systems, places = triple_questions(labelled, states, tuple(triple))
        assert systems == ["transe", "distmult", "complex"]
        assert [(p.side, p.entity, p.in_pool) for p in places] == [("tail", triple[0], True), ("head", triple[2], True)]
        assert [p.positions for p in places] == [told[tuple(triple), 0], told[tuple(triple), 1]]


def test_a_triple_outside_the_pool_has_questions_and_no_position(labelled: Pool):
    graph, states = open_graph(labelled.graph), pool_states(labelled)
    known = tuple(graph.train[0].tolist())
    detail = inspect_triple(labelled, states, known)
    assert (detail.state, detail.known_in, detail.depth, detail.found_by) == (TripleState.NOT_POOLED, ["train"], 0, [])
    assert detail.settled == "It is not in the pool: nobody is asked."
    systems, places = triple_questions(labelled, states, known)
    assert [place.positions for place in places] == [[None] * len(systems)] * 2


def test_seed_and_filtered_triples_say_where_they_come_from(labelled: Pool):
    seed = labelled.seeds.first()
    told = inspected(labelled, seed)
    assert (told.state, told.known_in, told.found_by, told.item) == (TripleState.ORIGINAL, ["test"], [], None)
    assert told.settled == "A seed triple is positive by definition; nobody is asked."
    triple = labelled.triples.filter(reason="types").order_by("-id")[0]
    told = inspected(labelled, triple)
    assert (told.state, told.reason) == (TripleState.ASSUMED_NEGATIVE, "entity type not consistent with the relation")
    assert told.found_by == unpack_provenance(triple.provenance, labelled.contributors) != []
    assert (told.depth, told.settled) == (triple.depth, "A filter took it; nobody was asked.")


def test_without_runs_the_questions_are_still_in_words(world: World):
    states = pool_states(world.pool)
    triple = tuple(states.contents.triples[1].tolist())
    with pytest.raises(UserError, match="No system has the rank rows"):
        triple_questions(world.pool, states, triple)
    words = [place.words for place in questions_without_runs(world.pool, states, triple)]
    graph = open_graph(world.pool.graph)
    assert words == [f"Where has {graph.label(triple[0])} lived?", f"Who has lived in {graph.label(triple[2])}?"]


# -- labels -----------------------------------------------------------------------------------------------------


def test_labels_by_name_for_managers_and_by_number_for_others(world: World):
    first, item = world.campaign.items.order_by("order")[:2]
    label_item(world, first, cleo="Y")  # cleo labelled first, so she is number 1
    release(world.cleo, [slot.ticket for slot in world.cleo.slots.filter(state="leased")])
    label_item(world, item, ann="Y", ben="N")
    windows_closed(item)
    answer(world.ada, claim_disputed(world.campaign, world.ada)[0], "N", comment="Ada decides")
    Label.objects.filter(item=item, annotator=world.ann).update(passage="She moved there in 1815.")
    told = inspected(world.pool, item.triple)
    assert told.state == TripleState.NEGATIVE and told.item == item
    assert told.settled.startswith("By an adjudicator")
    assert told.found_by == unpack_provenance(item.triple.provenance, world.pool.contributors)
    named = label_rows(told, names=True)
    assert [row[:8] for row in named] == [
        ("ann", "annotator", "yes", "yes", LINK, True, "She moved there in 1815.", "because"),
        ("ben", "annotator", "no", "yes", LINK, True, "", "because"),
        ("ada", "adjudicator", "no", "yes", LINK, True, "", "Ada decides"),
    ]
    numbered = label_rows(told, names=False)
    assert [(row.who, row.comment) for row in numbered] == [
        ("annotator 2", ""),
        ("annotator 3", ""),
        ("annotator 4", ""),
    ]
    assert [row[1:7] for row in numbered] == [row[1:7] for row in named]


def test_changed_and_withdrawn_labels_stay_and_count_no_more(world: World):
    item = world.campaign.items.order_by("order").first()
    label_item(world, item, ann="Y", ben="Y")
    label = Label.objects.get(annotator=world.ann)
    assert inspected(world.pool, item.triple).settled == "By two people who agree."
    change(world.ann, label.client_id, GivenAnswer(uuid4(), "N", LINK, "", 1500))
    withdraw_labels(world.campaign, world.ben)
    told = inspected(world.pool, item.triple)
    assert [(row.answer, row.counts) for row in label_rows(told, names=True)] == [
        ("yes", "no: changed later"),
        ("yes", "no: withdrawn"),
        ("no", "yes"),
    ]
    assert told.settled == "Undecided: labels were reopened, withdrawn, or differ."
    assert evidence_of([item.triple_id]) == {item.triple_id: [Evidence("no", LINK, True, False)]}


def test_a_reopened_judgement_is_undecided_with_both_labels(world: World):
    item = world.campaign.items.order_by("order").first()
    label_item(world, item, ann="Y", ben="Y")
    item.refresh_from_db()
    reopen_judgement(item, by=world.manager, reason="doubt")
    told = inspected(world.pool, item.triple)
    assert (told.state, told.item and told.item.reopened) == (TripleState.UNJUDGED, True)
    assert told.settled == "Undecided: labels were reopened, withdrawn, or differ."
    assert [row.counts for row in label_rows(told, names=True)] == ["yes", "yes"]


def test_imported_labels_keep_names_from_researchers_and_bad_links_from_everybody(world: World, tmp_path):
    item = world.campaign.items.order_by("order").first()
    keys = open_graph(world.pool.graph).entities
    pair = f"{keys[item.triple.head]}\tlived_in\t{keys[item.triple.tail]}"
    file = tmp_path / "labels.tsv"
    file.write_text(f"{pair}\tY\tzoe\t{LINK}\n{pair}\tY\tyan\n")
    import_labels(world.pool, file)
    told = inspected(world.pool, item.triple)
    told.imported[1].source_url = "javascript:alert(1)"
    assert told.state == TripleState.NEW and told.settled == "By the majority of 2 imported labels."
    assert imported_rows(told, names=True) == [
        ("zoe", "yes", LINK, True, "", "labels.tsv", 1),
        ("yan", "yes", "javascript:alert(1)", False, "", "labels.tsv", 2),
    ]
    assert [row.who for row in imported_rows(told, names=False)] == ["", ""]
    assert label_rows(told, names=True) == []


def test_a_judgement_without_labels_is_said_to_be_by_people(labelled: Pool):
    triple = labelled.triples.filter(judgement__verdict="negative").order_by("id")[0]
    assert inspected(labelled, triple).settled == "By people."
    Judgement.objects.filter(triple=triple).delete()
    assert inspected(labelled, triple).settled in ("No judgement yet.", "A filter took it; nobody was asked.")


@pytest.mark.parametrize(
    ("url", "linked"),
    [
        (LINK, True), ("https://a.example/x?y=1#z", True), ("", False), ("http://a.example/", False),
        ("javascript:alert(1)", False), ("https://me@a.example/", False), ("https://a.example:1/", False),
        ("https://127.0.0.1/", False), ("https://[::1]/", False), ("https://a b.example/", False),
        ("//a.example/", False), ("https://xn--/", False),
    ],
)  # fmt: skip
def test_only_plain_https_is_a_link(url, linked):
    assert is_link(url) is linked


def test_evidence_of_nothing_is_nothing(db):
    assert evidence_of([]) == {}


def test_findings_have_system_side_and_rank(world: World):
    filtered = world.pool.triples.get(reason="types")
    assert inspected(world.pool, filtered).found_by == [Finding("secret-system-a", "tail", 3)]
