"""Groundings, loss, slope and worth of rules are those of plain loops over all entities."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import approx_fprime

from pooling.rules.kernels.rule_predictor import Problem, fit, ground, reach, worth
from pooling.rules.kernels.signed_graph import SignedGraph
from tests.pooling.rules.kernels import oracle
from tests.pooling.rules.kernels.oracle import ENTITIES, RELATIONS
from tests.pooling.rules.kernels.test_grounded_triples import FACTS

BODIES = [(2,), (1,), (0, 0), (0, 2), (2, 1, 0), (0, 0, 3), (3, 2)]


def counts_of(facts, bodies, entity):
    """[questions, E, rules] paths of distinct entities."""
    table = np.zeros((len(entity), ENTITIES, len(bodies)))
    for q, x in enumerate(entity):
        for i, body in enumerate(bodies):
            for y in oracle.paths(facts, body, x):
                table[q, y, i] += 1
    return table


def answers_of(facts, signed, entity):
    return np.array([[oracle.holds(facts, signed, x, y) for y in range(ENTITIES)] for x in entity], float)


def literal(facts, signed, entity, x, smoothing, decay):
    """The loss, over a table of all entities."""
    table, answer = counts_of(facts, BODIES, entity), answers_of(facts, signed, entity)
    seen = answers_of(facts, signed, range(ENTITIES)).sum(0)
    scores = table @ x[:-1] + x[-1] * np.log1p(seen - answer)  # without the triple that answers
    log_p = scores - np.log(np.exp(scores).sum(1, keepdims=True))
    target = (1 - smoothing) * answer / answer.sum(1, keepdims=True) + smoothing / ENTITIES
    return -(target * log_p).sum() / len(entity) + decay * (x[:-1] @ x[:-1])


@settings(max_examples=20)
@given(oracle.triples)
def test_groundings_are_paths_of_distinct_entities(triples):
    facts = {fact for fact in triples if fact[0] != fact[2]}
    graph = SignedGraph(np.array(triples), ENTITIES, RELATIONS)
    entity = np.arange(ENTITIES)
    keys, counts, taken = reach(graph, BODIES, entity)
    table = counts_of(facts, BODIES, entity).reshape(-1, len(BODIES))
    assert keys.tolist() == np.flatnonzero(table.sum(1)).tolist()
    assert np.array_equal(counts.toarray(), table[keys])
    assert taken == ENTITIES


def test_only_the_first_questions_are_taken_where_there_are_too_many_groundings():
    graph = SignedGraph(np.array(FACTS), ENTITIES, RELATIONS)
    each = counts_of(set(FACTS), BODIES, range(ENTITIES)).astype(bool).sum((1, 2))
    keys, counts, taken = reach(graph, BODIES, np.arange(ENTITIES), most=int(each[:3].sum()))
    assert (taken, counts.nnz, keys.max() < 3 * ENTITIES) == (3, each[:3].sum(), True)
    assert reach(graph, BODIES, np.arange(ENTITIES), most=0)[2] == 1, "one question is asked whatever it takes"


@pytest.mark.parametrize("signed", [0, 1, 2, 3])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_loss_and_slope_are_those_of_a_table_of_all_entities(signed, smoothing):
    facts, graph = set(FACTS), SignedGraph(np.array(FACTS), ENTITIES, RELATIONS)
    entity = np.array([e for e in range(ENTITIES) if answers_of(facts, signed, [e]).any()])
    problem = Problem(ground(graph, signed, BODIES, entity, 10**6), smoothing, 0.01)
    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=len(BODIES) + 1)
        value, slope = problem.loss(x)
        assert value == pytest.approx(literal(facts, signed, entity, x, smoothing, 0.01), rel=1e-12)
        assert slope == pytest.approx(approx_fprime(x, lambda x: problem.loss(x)[0], 1e-7), abs=1e-5)


def test_fitting_ends_where_the_slope_is_flat():
    facts, graph = set(FACTS), SignedGraph(np.array(FACTS), ENTITIES, RELATIONS)
    entity = np.array([e for e in range(ENTITIES) if answers_of(facts, 0, [e]).any()])
    grounded = ground(graph, 0, BODIES, entity, 10**6)
    weight, rate, loss = fit(grounded, 0.1, 0.01)
    value, slope = Problem(grounded, 0.1, 0.01).loss(np.append(weight, rate))
    assert (np.abs(slope).max() < 1e-4, value) == (True, loss)


def test_worth_is_what_answers_get_above_what_reached_entities_get():
    facts, graph = set(FACTS), SignedGraph(np.array(FACTS), ENTITIES, RELATIONS)
    entity = np.array([e for e in range(ENTITIES) if answers_of(facts, 2, [e]).any()])
    weight = np.random.default_rng(0).normal(size=len(BODIES))
    table, answer = counts_of(facts, BODIES, entity), answers_of(facts, 2, entity).astype(bool)
    expected = np.zeros(len(BODIES))
    for counts, right in zip(table, answer, strict=True):
        reached = counts.sum(1) > 0
        of_reached = counts[reached].mean(0) if reached.any() else 0
        expected += weight * (counts[right].sum(0) / right.sum() - of_reached)
    assert worth(ground(graph, 2, BODIES, entity, 10**6), weight) == pytest.approx(expected)
