"""Sample facts: the same for an entity each time, spread over relations, never what somebody is asked."""

import numpy as np
import pytest

from pooling.graphs.kernels.sample_facts import SampleFacts

# relations: 0 likes, 1 liked by (inverse of 0), 2 lives in, 3 knows
TRAIN = np.array(
    [[0, 0, 1], [1, 1, 0], [0, 2, 5], [0, 3, 2], [0, 3, 3], [0, 3, 4], [4, 2, 0], [0, 0, 2], [6, 0, 6]], np.int32
)


@pytest.fixture
def facts() -> SampleFacts:
    return SampleFacts(TRAIN, 8)


def test_facts_of_rare_relations_come_first_and_each_relation_once(facts: SampleFacts) -> None:
    assert facts.of(0, relation=9, other=7, most=4) == [(0, 2, 5), (0, 0, 1), (0, 3, 2), (1, 1, 0)]
    assert facts.of(0, relation=9, other=7, most=3) == SampleFacts(TRAIN, 8).of(0, relation=9, other=7)


def test_relation_in_question_and_facts_about_both_entities_are_left_out(facts: SampleFacts) -> None:
    assert facts.of(0, relation=3, other=1, most=9) == [(0, 2, 5), (4, 2, 0), (0, 0, 2)]


def test_neither_the_triple_nor_its_inverse_nor_its_duplicate_is_shown_in_any_random_graph() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        triples = rng.integers(0, 5, (30, 3)).astype(np.int32)
        facts = SampleFacts(triples, 5)
        head, relation, tail = map(int, triples[0])
        for entity, other in ((head, tail), (tail, head)):
            found = facts.of(entity, relation, other, 30)
            mine = {tuple(map(int, fact)) for fact in triples if entity in (fact[0], fact[2]) and fact[0] != fact[2]}
            wanted = {f for f in mine if f[1] != relation and (other == entity or other not in (f[0], f[2]))}
            assert set(found) == wanted


def test_entity_without_facts_or_with_a_loop_only_has_none(facts: SampleFacts) -> None:
    assert facts.of(7, relation=9, other=0) == []
    assert facts.of(6, relation=9, other=0) == []
    assert SampleFacts(np.empty((0, 3), np.int32), 3).of(1, relation=0, other=0) == []


def test_both_ends_of_a_loop_in_question_keep_their_facts(facts: SampleFacts) -> None:
    assert facts.of(0, relation=9, other=0, most=1) == [(0, 2, 5)]
