"""Derived triples are those of plain loops, and weights climb a literal pseudo-likelihood."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from pooling.rules.kernels.grounded_triples import GroundedTriples, TooManyGroundings, fit_weights, grounded_triples
from pooling.rules.kernels.mining import mine_rules
from pooling.rules.kernels.plogicnet import is_pattern
from pooling.rules.kernels.signed_graph import SignedGraph
from tests.pooling.rules.kernels import oracle
from tests.pooling.rules.kernels.oracle import ALL, ENTITIES, RELATIONS


def silent(stage, done, total):
    pass


def derived(triples, limit=10**6):
    graph = SignedGraph(np.array(triples), ENTITIES, RELATIONS)
    rules = mine_rules(graph, {**ALL, "max_length": 2}, 0, silent, is_pattern)
    return rules, grounded_triples(graph, rules, limit, silent)


@settings(max_examples=20)
@given(oracle.triples)
def test_every_derived_triple_with_its_rules(triples):
    facts = {fact for fact in triples if fact[0] != fact[2]}
    rules, grounded = derived(triples)
    expected: dict[tuple[int, int, int], set[int]] = {}
    for i, r in enumerate(rules.relation.tolist()):
        for x, y in oracle.pairs(facts, rules.body_of(i)):
            expected.setdefault((x, r, y), set()).add(i)
    assert {(r, body) for r, body in zip(rules.relation, map(rules.body_of, range(len(rules))), strict=True)} == {
        key for key in oracle.all_rules(facts) if is_pattern(key[1])
    }
    found = [tuple(triple) for triple in grounded.triples.tolist()]
    assert found == sorted(expected, key=lambda triple: (triple[1], triple[0], triple[2]))
    assert grounded.observed.tolist() == [triple in facts for triple in found]
    for triple, row in zip(found, grounded.share.toarray(), strict=True):
        assert row.tolist() == pytest.approx(
            [(i in expected[triple]) / len(expected[triple]) for i in range(len(rules))]
        )


@pytest.mark.parametrize(
    ("body", "wanted"),
    [((3,), True), ((2,), True), ((0, 2), True), ((0, 3), False), ((1, 2), False), ((0, 0, 0), False)],
)
def test_four_patterns(body, wanted):
    assert is_pattern(body) == wanted


FACTS = [(0, 0, 1), (1, 0, 2), (0, 1, 2), (2, 0, 3), (1, 1, 3), (3, 0, 4), (2, 1, 4), (4, 1, 0), (1, 0, 0)]


def pseudo_likelihood(share, weight, target):
    """Σ over the triples of log p(v | its rules), literally; `target` may be a likelihood."""
    total = 0.0
    for row, of in zip(share.toarray(), target, strict=True):
        p = 1 / (1 + np.exp(-sum(part * w for part, w in zip(row, weight, strict=True))))
        total += of * np.log(p) + (1 - of) * np.log(1 - p)
    return total


def test_a_sweep_follows_the_slope_of_the_pseudo_likelihood():
    _, grounded = derived(FACTS)
    target = np.random.default_rng(0).uniform(size=len(grounded.triples))
    one = fit_weights(grounded, target, 1e-4, 1)
    n, small = grounded.share.shape[1], 1e-6
    slope = [
        (
            pseudo_likelihood(grounded.share, small * np.eye(n)[i], target)
            - pseudo_likelihood(grounded.share, -small * np.eye(n)[i], target)
        )
        / (2 * small)
        for i in range(n)
    ]
    assert one == pytest.approx(1e-4 * np.array(slope), rel=1e-4, abs=1e-9)
    values = [
        pseudo_likelihood(grounded.share, fit_weights(grounded, target, 10.0, k), target) for k in range(0, 40, 4)
    ]
    assert values == sorted(values), "a step that is too long is shortened: every sweep climbs"


def test_what_rules_believe_is_the_mean_of_their_weights():
    _, grounded = derived(FACTS)
    weight = np.random.default_rng(1).normal(size=grounded.share.shape[1])
    for row, said in zip(grounded.share.toarray(), grounded.believed(weight), strict=True):
        assert said == pytest.approx(1 / (1 + np.exp(-weight[row > 0].mean())))


def test_too_many_groundings_are_refused_with_advice():
    with pytest.raises(TooManyGroundings, match="derive more than 5 triples: raise rule_threshold, or max_groundings"):
        derived(FACTS, limit=5)


def test_no_rules_derive_nothing():
    rules, _ = derived(FACTS)
    none = replace(rules, **{name: value[:0] for name, value in vars(rules).items() if value is not None})
    graph = SignedGraph(np.array(FACTS), ENTITIES, RELATIONS)
    grounded = grounded_triples(graph, none, 10, silent)
    assert isinstance(grounded, GroundedTriples) and grounded.triples.shape == (0, 3)
    assert fit_weights(grounded, np.zeros(0), 1e-4, 3).shape == (0,)
