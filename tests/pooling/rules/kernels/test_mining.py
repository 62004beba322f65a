"""Mined rules are those that plain loops find, with the same counts; what is drawn is drawn with the seed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pooling.graphs.kernels.family_trees import Shape, derive_relations, draw_families
from pooling.rules.kernels.mining import BodyCounter, mine_rules
from pooling.rules.kernels.rule_table import read_model, read_rules, write_rules
from pooling.rules.kernels.signed_graph import SignedGraph, Walker, reverse
from tests.pooling.rules.kernels import oracle
from tests.pooling.rules.kernels.oracle import ALL, BODIES, ENTITIES, RELATIONS


def mine(triples, seed=0, entities=ENTITIES, relations=RELATIONS, **changed):
    graph = SignedGraph(np.array(triples), entities, relations)
    rules = mine_rules(graph, {**ALL, **changed}, seed, lambda stage, done, total: None)
    return {
        (int(rules.relation[i]), rules.body_of(i)): (rules.support[i], rules.covered[i], rules.confidence[i])
        for i in range(len(rules))
    }


@settings(max_examples=10)
@given(oracle.triples, st.lists(st.integers(0, ENTITIES - 1), min_size=1, max_size=4))
def test_paths_equal_literal(triples, starts):
    walker = Walker(SignedGraph(np.array(triples), ENTITIES, RELATIONS), np.array(starts))
    for body in BODIES:
        expected = [np.bincount(oracle.paths(set(triples), body, x), minlength=ENTITIES) for x in starts]
        np.testing.assert_array_equal(walker.along(body).toarray(), expected, err_msg=str(body))


@settings(max_examples=30)
@given(oracle.triples)
def test_rules_equal_literal(triples):
    assert mine(triples) == oracle.all_rules(set(triples))


@settings(max_examples=10)
@given(oracle.triples)
def test_rules_dropped_as_asked(triples):
    expected = oracle.all_rules(set(triples), laplace=2.0)
    found = mine(triples, min_support=2, min_confidence=0.3, max_length=2, laplace=2.0)
    assert found == {
        (r, body): row for (r, body), row in expected.items() if len(body) < 3 and row[0] > 1 and row[2] >= 0.3
    }


@settings(max_examples=10)
@given(oracle.triples)
def test_max_rules_keeps_the_most_confident_of_each_relation(triples):
    every, kept = mine(triples), mine(triples, max_rules=3)
    for relation in range(RELATIONS):
        confidence = sorted((row[2] for (r, _), row in every.items() if r == relation), reverse=True)
        assert [row[2] for (r, _), row in kept.items() if r == relation] == confidence[:3]


def test_a_triple_does_not_support_itself():
    """a → b alone: neither r ← r, nor the way there, back and there again."""
    assert mine([(0, 0, 1)]) == {}


def test_symmetric_relation_is_a_rule_of_its_inverse():
    assert mine([(0, 0, 1), (1, 0, 0), (2, 0, 3)]) == {(0, (1,)): (2, 3, 2 / 8)}


def test_loops_are_no_paths():
    assert mine([(0, 0, 0), (0, 0, 1), (0, 1, 1)]) == {(0, (2,)): (1, 1, 1 / 6), (1, (0,)): (1, 1, 1 / 6)}


def family(people=60):
    drawn = draw_families(1, Shape(people=people), np.random.default_rng(0))
    facts = derive_relations(drawn.parents, drawn.female)
    names = list(facts)
    triples = np.concatenate([np.insert(facts[name], 1, i, axis=1) for i, name in enumerate(names)])
    return triples, {name: i for i, name in enumerate(names)}, len(drawn.parents)


def test_a_grandparent_is_a_parents_parent():
    triples, ids, people = family()
    found = mine(triples, entities=people, relations=len(ids), candidates=50, samples=50, max_length=2)
    cases = int((triples[:, 1] == ids["grandmotherOf"]).sum())
    assert found[ids["grandmotherOf"], (2 * ids["motherOf"], 2 * ids["parentOf"])] == (
        cases,
        cases,
        cases / (cases + 5),
    )
    nephew, uncle = 2 * ids["nephewOf"], 2 * ids["uncleOf"]
    assert found[ids["uncleOf"], (nephew + 1,)][0] < found[ids["uncleOf"], (nephew + 1,)][1]  # aunts have them too
    assert (ids["uncleOf"], (uncle,)) not in found


def test_same_seed_same_rules_however_much_is_drawn():
    triples, ids, people = family(30)
    drawn = {"samples": 3, "paths": 20, "max_steps": 300, "candidates": 10}
    first, again, other = (mine(triples, seed, people, len(ids), **drawn) for seed in (1, 1, 2))
    assert first == again
    assert set(first) != set(other)


def test_count_from_some_entities_is_that_of_these():
    triples, ids, people = family()
    graph = SignedGraph(triples, people, len(ids))
    body, head = (2 * ids["siblingOf"], 2 * ids["parentOf"]), 2 * ids["uncleOf"]
    order = np.random.default_rng(0).permutation(people)
    whole = BodyCounter(graph, order, 10**9).count(body, [head])
    part = BodyCounter(graph, order, 100).count(body, [head])
    assert whole.share == 1 and 0 < part.share < 1
    starts = [e for e in order if graph.walks(body)[e] > 0]
    starts = starts[: round(part.share * len(starts))]
    ends = {(x, y) for x in starts for y in np.flatnonzero(Walker(graph, np.array([x])).along(body).toarray()[0])}
    uncles = {(h, t) for h, r, t in triples.tolist() if 2 * r == head}
    assert (part.covered, part.support) == (len(ends), [len(ends & uncles)])


def test_counts_of_a_reverse_body_are_the_same():
    triples, ids, people = family(30)
    counter = BodyCounter(SignedGraph(triples, people, len(ids)), np.arange(people), 10**9)
    body, head = (0, 2 * ids["sisterOf"], 5), 2 * ids["auntOf"]
    assert counter.count(body, [head]) == counter.count(reverse(body), [head ^ 1])


def test_rules_file_gives_back_what_was_written(tmp_path):
    graph = SignedGraph(np.array([(0, 0, 1), (1, 0, 0), (2, 0, 3)]), ENTITIES, RELATIONS)
    mined = mine_rules(graph, ALL, 0, lambda stage, done, total: None)
    write_rules(tmp_path / "plain.npz", mined)
    assert read_rules(tmp_path / "plain.npz").weight is None and read_model(tmp_path / "plain.npz") == {}
    rules, model = replace(mined, weight=np.ones((len(mined), 2))), {"network/a": np.arange(3.0), "b": np.eye(2)}
    write_rules(tmp_path / "deep" / "rules.npz", rules, model)
    write_rules(tmp_path / "again.npz", rules, model)
    np.testing.assert_equal(read_model(tmp_path / "again.npz"), model)
    again = read_rules(tmp_path / "deep" / "rules.npz")
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["rules.npz"]
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "deep" / "rules.npz").read_bytes()
    for key, value in vars(rules).items():
        np.testing.assert_array_equal(getattr(again, key), value)
        assert getattr(again, key).dtype == value.dtype


def test_rules_file_never_unpickles(tmp_path):
    np.savez(tmp_path / "rules.npz", **{"relation": np.array([object()], dtype=object)})
    with pytest.raises(ValueError, match="allow_pickle=False"):
        read_rules(tmp_path / "rules.npz")
