"""Questions and triples are found by words, state and origin; the counts are those of counting one by one."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest

from annotation.enums import JudgementOrigin
from annotation.models import Judgement
from evaluation.browse.pool_states import ANSWERS, LEGEND, TripleState, pool_states
from evaluation.browse.search import (
    QuestionFilter,
    TripleFilter,
    find_questions,
    find_triples,
    list_figures,
    question_rows,
    relations_of,
    triple_rows,
)
from evaluation.labels.pool_table import pool_table
from pooling.graphs.opening import open_graph
from pooling.models import Pool, Run
from pooling.pools.build import unpack_provenance
from tests.factories import judge, judge_all

STATE = {"positive": TripleState.NEW, "negative": TripleState.NEGATIVE, "undecided": TripleState.UNJUDGED}


def states_of(pool: Pool) -> dict[tuple[int, int, int], TripleState]:
    """Every triple of the pool with its state, from the rows."""
    found = dict.fromkeys(pool.seeds.values_list("head", "relation", "tail"), TripleState.ORIGINAL)
    for t in pool.triples.select_related("judgement"):
        verdict = t.judgement.verdict if hasattr(t, "judgement") else ""
        state = STATE[verdict] if verdict else TripleState.ASSUMED_NEGATIVE if t.reason else TripleState.UNJUDGED
        found[t.head, t.relation, t.tail] = state
    return found


def counts_of(pool: Pool) -> dict[tuple[int, int, int], Counter]:
    """(side, relation, given entity) to its triples by state."""
    found: dict[tuple[int, int, int], Counter] = defaultdict(Counter)
    for (h, r, t), state in states_of(pool).items():
        found[0, r, h][state] += 1
        found[1, r, t][state] += 1
    return found


def asked(pool: Pool, **wanted) -> list[tuple[int, int, int]]:
    states = pool_states(pool)
    places = find_questions(states, QuestionFilter(**wanted), list_figures(pool, states).spread)
    side, entity, relation = states.contents.questions
    return [(int(side[q]), int(relation[q]), int(entity[q])) for q in places]


def triples_found(pool: Pool, **wanted) -> list[tuple[int, int, int]]:
    states = pool_states(pool)
    return [tuple(states.contents.triples[p].tolist()) for p in find_triples(pool, states, TripleFilter(**wanted))]


# -- states of triples ------------------------------------------------------------------------------------------


def test_every_triple_has_the_state_of_its_rows(labelled: Pool):
    states = pool_states(labelled)
    shown = {
        tuple(t): TripleState(s) for t, s in zip(states.contents.triples.tolist(), states.state.tolist(), strict=True)
    }
    assert shown == states_of(labelled)
    assert set(shown.values()) == set(TripleState) - {TripleState.NOT_POOLED}


def test_counts_of_questions_are_those_of_their_triples(labelled: Pool):
    states = pool_states(labelled)
    side, entity, relation = (column.tolist() for column in states.contents.questions)
    found = {
        key: {state: n for state, n in zip(TripleState, row, strict=True) if n}
        for key, row in zip(zip(side, relation, entity, strict=True), states.counts.tolist(), strict=True)
    }
    assert found == {key: dict(counter) for key, counter in counts_of(labelled).items()}


def test_the_inventory_follows_a_label_and_keeps_what_no_label_changes(pool: Pool):
    before = pool_states(pool)
    assert pool_states(pool) is before
    triple = pool.triples.filter(reason="").order_by("id")[0]
    judge(triple, "positive")
    after = pool_states(pool)
    assert after.contents is before.contents
    place = after.contents.place[triple.head, triple.relation, triple.tail]
    assert (before.state[place], after.state[place]) == (TripleState.UNJUDGED, TripleState.NEW)
    assert (before.state != after.state).sum() == 1


# -- questions --------------------------------------------------------------------------------------------------


def test_questions_by_what_lies_on_them(labelled: Pool):
    counts = counts_of(labelled)
    wanted = {
        "": lambda c: c[TripleState.ORIGINAL] + c[TripleState.NEW] > 0,
        "seed": lambda c: c[TripleState.ORIGINAL] > 0,
        "opened": lambda c: c[TripleState.ORIGINAL] == 0 < c[TripleState.NEW],
        "waiting": lambda c: c[TripleState.ORIGINAL] + c[TripleState.NEW] == 0,
        "all": lambda c: True,
    }
    expected = {which: sorted(q for q, c in counts.items() if has(c)) for which, has in wanted.items()}
    assert all(expected.values())
    assert {which: sorted(asked(labelled, which=which)) for which in wanted} == expected


def test_questions_by_side_relation_and_text(labelled: Pool):
    graph, every = open_graph(labelled.graph), sorted(counts_of(labelled))
    assert sorted(asked(labelled, which="all", side="head")) == [q for q in every if q[0] == 1]
    assert sorted(asked(labelled, which="all", relation=0)) == [q for q in every if q[1] == 0]
    seventh = graph.entity_index["p7"]
    assert sorted(asked(labelled, which="all", text="THE {sev")) == [q for q in every if q[2] == seventh]
    assert sorted(asked(labelled, which="all", text="p7")) == [q for q in every if q[2] == seventh]
    lives = graph.relation_index["lives in"]
    assert sorted(asked(labelled, which="all", text="Lives")) == [q for q in every if q[1] == lives]
    assert asked(labelled, which="all", text="nowhere at all") == []


def test_questions_in_the_order_wanted(labelled: Pool):
    counts = counts_of(labelled)

    def ordered(weight) -> list[tuple[int, int, int]]:
        return sorted(counts, key=lambda q: (-weight(counts[q]), q))

    assert asked(labelled, which="all", sort="new") == ordered(lambda c: c[TripleState.NEW])
    assert asked(labelled, which="all", sort="unjudged") == ordered(lambda c: c[TripleState.UNJUDGED])
    answers = ordered(lambda c: c[TripleState.NEW] + c[TripleState.ORIGINAL])
    assert asked(labelled, which="all", sort="answers") == answers
    assert asked(labelled, which="all", sort="given") == sorted(counts)


def test_spread_is_that_of_the_first_answers(labelled: Pool):
    found_states, table = pool_states(labelled), pool_table(labelled)
    ranks, states = table.pool.table, states_of(labelled)
    first: dict[tuple[int, int, int], np.ndarray] = {}
    for row in range(ranks.rows):
        h, r, t = table.triples[ranks.triple[row]].tolist()
        if states.get((h, r, t)) in ANSWERS:
            side = int(ranks.side[ranks.question[row]])
            key = (side, r, t if side else h)
            reciprocal = np.array([1 / p if p else 0.0 for p in ranks.strict[:, row].tolist()])
            first[key] = np.maximum(first.get(key, 0.0), reciprocal)
    expected = {key: best.max() - best.min() for key, best in first.items()}
    found = list_figures(labelled, found_states)
    side, entity, relation = (column.tolist() for column in found_states.contents.questions)
    told = dict(zip(zip(side, relation, entity, strict=True), found.spread.tolist(), strict=True))
    assert {key: value for key, value in told.items() if not np.isnan(value)} == pytest.approx(expected)
    assert len(set(expected.values())) > 3
    spreads = [told[q] for q in asked(labelled, sort="spread")]
    assert spreads == sorted(expected.values(), reverse=True)


def test_without_runs_there_is_no_spread_and_a_reason(labelled: Pool):
    Run.objects.all().delete()
    found = list_figures(labelled, pool_states(labelled))
    assert np.isnan(found.spread).all() and found.shares == []
    assert "No system has the rank rows" in found.problem
    assert len(asked(labelled, sort="spread")) == len(asked(labelled))


def test_rows_say_it_in_words_with_what_lies_on_them(labelled: Pool):
    states = pool_states(labelled)
    graph, counts = states.contents.graph, counts_of(labelled)
    relation, entity = graph.relation_index["knows"], graph.entity_index["p7"]
    question = states.contents.question(0, relation, entity)
    row = question_rows(labelled, states, [question], list_figures(labelled, states).spread)[0]
    assert (row.side, row.relation, row.entity, row.relation_name) == ("tail", relation, entity, "knows")
    assert row.given == "The {seventh}" and "The {seventh}" in row.words and "know" in row.words
    count = counts[0, relation, entity]
    assert row[6:11] == tuple(
        count[s]
        for s in (
            TripleState.ORIGINAL,
            TripleState.NEW,
            TripleState.NEGATIVE,
            TripleState.ASSUMED_NEGATIVE,
            TripleState.UNJUDGED,
        )
    )


# -- triples ----------------------------------------------------------------------------------------------------


def test_triples_by_state(labelled: Pool):
    states = states_of(labelled)
    for state in (s for s in LEGEND if s != TripleState.NOT_POOLED):
        expected = sorted(t for t, s in states.items() if s == state)
        assert expected and sorted(triples_found(labelled, state=state.key)) == expected


def test_triples_by_who_found_them_and_why_they_were_filtered(labelled: Pool):
    rows = list(labelled.triples.order_by("id"))
    for system in labelled.contributors:
        expected = [
            (t.head, t.relation, t.tail)
            for t in rows
            if system in {f.system for f in unpack_provenance(t.provenance, labelled.contributors)}
        ]
        assert 0 < len(expected) < len(rows) and triples_found(labelled, system=system) == expected
    reasons = {t.reason for t in rows} - {""}
    assert reasons
    for reason in reasons:
        expected = [(t.head, t.relation, t.tail) for t in rows if t.reason == reason]
        assert triples_found(labelled, reason=reason) == expected


def test_triples_by_who_judged_them(pool: Pool):
    one, two = pool.triples.order_by("id")[:2]
    judge(one, "negative")
    judge(two, "positive")
    Judgement.objects.filter(triple=two).update(origin=JudgementOrigin.IMPORT)
    key = lambda t: (t.head, t.relation, t.tail)  # noqa: E731
    assert triples_found(pool, judged_by="people") == [key(one)]
    assert triples_found(pool, judged_by="import") == [key(two)]
    rest = [key(t) for t in pool.triples.exclude(pk__in=[one.pk, two.pk]).order_by("id")]
    assert triples_found(pool, judged_by="nobody") == rest


def test_triples_by_text_and_relation(labelled: Pool):
    graph, every = open_graph(labelled.graph), states_of(labelled)
    seventh, knows = graph.entity_index["p7"], graph.relation_index["knows"]
    with_it = sorted(t for t in every if seventh in (t[0], t[2]))
    assert with_it and sorted(triples_found(labelled, text="Seventh")) == with_it
    both = [t for t in with_it if t[1] == knows]
    assert sorted(triples_found(labelled, text="seventh", relation=knows)) == both
    assert sorted(triples_found(labelled, text="KNOWS")) == sorted(t for t in every if t[1] == knows)


def test_seeds_stand_first_then_the_order_of_the_pool(labelled: Pool):
    keys = ("head", "relation", "tail")
    expected = [*labelled.seeds.order_by("id").values_list(*keys)]
    expected += labelled.triples.order_by("id").values_list(*keys)
    assert triples_found(labelled) == expected


def test_what_makes_no_sense_is_no_filter(labelled: Pool):
    assert triples_found(labelled, state="not_pooled") == []
    odd = {"state": "x", "system": "nobody", "reason": "x", "judged_by": "x"}
    assert triples_found(labelled, **odd) == triples_found(labelled)
    assert asked(labelled, side="x", which="y", sort="z") == asked(labelled)


def test_rows_of_triples_name_finders_and_reason(labelled: Pool):
    states = pool_states(labelled)
    triple = labelled.triples.filter(reason="types").order_by("id")[2]  # the first ones are labelled
    place = states.contents.place[triple.head, triple.relation, triple.tail]
    row = triple_rows(labelled, states, [0, place])
    assert (row[0].state, row[0].depth, row[0].found_by, row[0].judged_by) == (TripleState.ORIGINAL, 0, [], "")
    assert row[1].reason == "entity type not consistent with the relation"
    assert row[1].found_by == unpack_provenance(triple.provenance, labelled.contributors)
    assert (row[1].depth, row[1].judged_by) == (triple.depth, "")


def test_relations_are_those_of_the_pool_by_name(labelled: Pool):
    graph = open_graph(labelled.graph)
    expected = sorted((graph.relations[r], r) for r in {t[1] for t in states_of(labelled)})
    assert [(name, r) for r, name in relations_of(pool_states(labelled).contents)] == expected


def test_a_pool_without_triples_has_no_question(town):
    pool = Pool.objects.create(graph=town, name="bare", origin="built", state="building", depth=5)
    states = pool_states(pool)
    assert find_questions(states, QuestionFilter(which="all"), list_figures(pool, states).spread) == []
    assert find_triples(pool, states, TripleFilter(text="p")) == []
    judge_all(pool)
    assert len(pool_states(pool).state) == 0
