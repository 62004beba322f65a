"""The lists of one question, against the findings that made the pool and the positions of the rank rows."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from core.errors import UserError
from evaluation.browse import question as inspector
from evaluation.browse.pool_states import ANSWERS, LEGEND, TripleState, pool_states
from evaluation.browse.question import first_entities, inspect_question, known_answers, question_without_runs
from evaluation.browse.search import FIRST, list_figures
from evaluation.browse.triple import Evidence
from evaluation.labels.pool_table import pool_table
from pooling.graphs.opening import open_graph
from pooling.models import Pool, Run
from pooling.pools.build import unpack_provenance

Question = tuple[int, int, int]


def questions(pool: Pool) -> list[Question]:
    side, entity, relation = (column.tolist() for column in pool_states(pool).contents.questions)
    return list(zip(side, relation, entity, strict=True))


def with_most_answers(pool: Pool) -> Question:
    return questions(pool)[int(pool_states(pool).answers.argmax())]


def inspected(pool: Pool, question: Question):
    found = inspect_question(pool, pool_states(pool), *question)
    assert found is not None
    return found


# -- places -----------------------------------------------------------------------------------------------------


def test_seed_answers_stand_among_the_stored_candidates():
    assert first_entities({7: 2, 9: 4}, [1, 2, 3, 4], 5) == [1, 7, 2, 9, 3]


def test_a_pooled_candidate_of_the_stored_list_is_there_once():
    assert first_entities({2: 3, 7: 1}, [1, 2, 3], 4) == [7, 1, 2, 3]


def test_without_a_stored_list_only_rank_rows_are_known():
    assert first_entities({7: 2, 9: 4, 8: 12}, None, 5) == [None, 7, None, 9, None]


def test_after_a_short_list_there_are_gaps():
    assert first_entities({9: 5}, [1, 2], 6) == [1, 2, None, None, 9, None]


# -- lists ------------------------------------------------------------------------------------------------------


def test_lists_without_the_seed_answers_are_what_the_pool_was_gathered_from(labelled: Pool):
    """For each question of a seed the findings of the pool say who stood where, to its depth."""
    found: dict[tuple[Question, str], dict[int, int]] = defaultdict(dict)
    for triple in labelled.triples.all():
        for finding in unpack_provenance(triple.provenance, labelled.contributors):
            tail = finding.side == "tail"
            question = (0 if tail else 1, triple.relation, triple.head if tail else triple.tail)
            found[question, finding.system][finding.rank] = triple.tail if tail else triple.head
    seeds = labelled.seeds.values_list("head", "relation", "tail")
    asked = {(0, r, h) for h, r, t in seeds} | {(1, r, t) for h, r, t in seeds}
    assert len(found) > 20
    for question in asked:
        detail = inspected(labelled, question)
        assert detail.is_seed and [one.system for one in detail.lists] == ["transe", "distmult", "complex"]
        for one in detail.lists:
            assert one.stored or not found[question, one.system]
            entities = [
                entry.candidate.entity
                for entry in one.entries
                if entry.candidate and entry.candidate.state != TripleState.ORIGINAL
            ]
            expected = found[question, one.system]
            assert entities[: len(expected)] == [expected[rank] for rank in sorted(expected)]


def test_positions_are_those_of_the_rank_rows_and_no_known_fact_is_a_candidate(labelled: Pool):
    table, graph = pool_table(labelled), open_graph(labelled.graph)
    seeds = set(labelled.seeds.values_list("head", "relation", "tail"))
    known = {tuple(t) for split in (graph.train, graph.valid, graph.test) for t in split.tolist()} - seeds
    ranks = table.pool.table
    position: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for row in range(ranks.rows):
        side = int(ranks.side[ranks.question[row]])
        triple = tuple(table.triples[ranks.triple[row]].tolist())
        position[side, triple] = ranks.strict[:, row].tolist()
    compared = 0
    for question in questions(labelled):
        detail = inspected(labelled, question)
        for i, one in enumerate(detail.lists):
            assert [entry.position for entry in one.entries] == list(range(1, len(one.entries) + 1))
            assert len(one.entries) == min(FIRST, detail.candidates)
            shown = [entry.candidate.entity for entry in one.entries if entry.candidate]
            assert len(shown) == len(set(shown))
            for entry in one.entries:
                assert entry.candidate is None or entry.candidate.triple not in known
                if entry.candidate and (question[0], entry.candidate.triple) in position:
                    assert position[question[0], entry.candidate.triple][i] == entry.position
                    compared += 1
    assert compared > 200


def test_states_of_all_lists_add_up_to_the_shares(labelled: Pool):
    states = pool_states(labelled)
    found = list_figures(labelled, states)
    counted: dict[str, Counter] = defaultdict(Counter)
    for question in questions(labelled):
        detail = inspected(labelled, question)
        if detail.num_answers:
            for one in detail.lists:
                counted[one.system].update(dict(one.shares()))
    assert found.positions == sum(counted["transe"].values()) > 0
    told = {system: {s: part * found.positions for s, part in parts} for system, parts in found.shares}
    assert told == {s: pytest.approx({k: c[k] for k in LEGEND}) for s, c in counted.items()}


def test_a_question_without_a_stored_list_has_gaps(labelled: Pool, monkeypatch):
    question = with_most_answers(labelled)
    whole = inspected(labelled, question)
    assert whole.all_stored
    monkeypatch.setattr(inspector, "_stored", lambda *_: {})
    gappy = inspected(labelled, question)
    assert not gappy.all_stored
    for one, other in zip(whole.lists, gappy.lists, strict=True):
        for full, place in zip(one.entries, other.entries, strict=True):
            pooled = full.candidate is not None and full.candidate.state != TripleState.NOT_POOLED
            assert place == (full if pooled else inspector.ListEntry(full.position, None))
        assert one.shares() == other.shares()


def test_answers_come_with_all_positions_best_first(labelled: Pool):
    states, table = pool_states(labelled), pool_table(labelled)
    question = with_most_answers(labelled)
    detail = inspected(labelled, question)
    place = states.contents.question(*question)
    on_it = states.contents.of_question(place)
    expected = {tuple(states.contents.triples[p].tolist()) for p in on_it if states.state[p] in ANSWERS}
    assert {row.candidate.triple for row in detail.answers} == expected and len(expected) > 1
    best = [min(p for p in row.positions if p) for row in detail.answers]
    assert best == sorted(best)
    for i, one in enumerate(detail.lists):
        assert one.first_answer == min(row.positions[i] for row in detail.answers)
    assert len(detail.answers[0].positions) == len(table.systems)


def test_known_facts_are_named_and_seeds_are_none(labelled: Pool):
    graph = open_graph(labelled.graph)
    seeds = set(labelled.seeds.values_list("head", "relation", "tail"))
    facts = [tuple(t) for split in (graph.train, graph.valid, graph.test) for t in split.tolist()]
    for side, relation, entity in questions(labelled)[::5]:
        expected = {
            (h if side else t) for h, r, t in set(facts) - seeds if r == relation and (t if side else h) == entity
        }
        assert known_answers(labelled, graph, side, relation, entity) == sorted(expected)
        detail = inspected(labelled, (side, relation, entity))
        assert detail.num_known == len(expected)
        assert detail.candidates == graph.num_entities - len(expected)


def test_rows_are_the_positions_of_all_systems_side_by_side(labelled: Pool):
    detail = inspected(labelled, questions(labelled)[0])
    assert [position for position, _ in detail.rows] == [p.position for p in detail.lists[0].entries]
    for i, (_, places) in enumerate(detail.rows):
        assert places == [one.entries[i] for one in detail.lists]


# -- what there is without runs ---------------------------------------------------------------------------------


def test_a_question_that_no_triple_lies_on_is_none(labelled: Pool):
    graph = open_graph(labelled.graph)
    missing = (0, graph.relation_index["capital of"], graph.entity_index["p7"])
    assert missing not in questions(labelled)
    assert inspect_question(labelled, pool_states(labelled), *missing) is None
    assert question_without_runs(labelled, pool_states(labelled), *missing) is None


def test_without_runs_there_are_answers_and_no_list(labelled: Pool):
    question = questions(labelled)[0]
    whole = inspected(labelled, question)
    Run.objects.all().delete()
    with pytest.raises(UserError, match="No system has the rank rows"):
        inspect_question(labelled, pool_states(labelled), *question)
    bare = question_without_runs(labelled, pool_states(labelled), *question)
    assert bare is not None and bare.lists == [] and bare.candidates is None
    assert {r.candidate.entity for r in bare.answers} == {r.candidate.entity for r in whole.answers}
    assert (bare.words, bare.counts, bare.known) == (whole.words, whole.counts, whole.known)


def test_candidates_carry_reason_and_evidence(labelled: Pool):
    triple = labelled.triples.filter(reason="types").order_by("-id")[0]
    judged = labelled.triples.filter(judgement__verdict="positive").order_by("id")[0]
    judged.imported_labels.create(
        answer="Y", source_url="http://a.example/x", file_name="f.tsv", file_sha256="0" * 64, line=1
    )
    for one, reason, evidence in (
        (triple, "entity type not consistent with the relation", []),
        (judged, "", [Evidence("yes", "http://a.example/x", False, True)]),
    ):
        question = pool_states(labelled).contents.question(0, one.relation, one.head)
        made = inspector._candidates(labelled, pool_states(labelled), question, [one.tail])[one.tail]
        assert (made.triple, made.evidence) == ((one.head, one.relation, one.tail), evidence)
        assert reason in made.reason and (made.reason == "") == (reason == "" and not one.reason)
