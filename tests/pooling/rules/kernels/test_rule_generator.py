"""The generator's probabilities are those of its network, and it proposes what it was taught."""

import numpy as np
import pytest
import torch

from pooling.rules.kernels.rule_generator import RuleGenerator

RELATIONS = 3


def generator(seed=0):
    return RuleGenerator(RELATIONS, 8, 8, seed)


def test_probability_is_that_of_each_token_after_those_before_it():
    model = generator()
    body = (4, 1)
    total, state, last = 0.0, None, 2 * 1
    for token in (*body, model.end):
        read, state = model.network(model.token(torch.tensor([[last]])), state)
        total += torch.log_softmax(model.next(read[0, 0]), 0)[token].item()
        last = token
    assert model.log_probability(model.tokens_of([1], [body])).item() == pytest.approx(total, abs=1e-5)


def test_it_proposes_what_it_was_taught():
    model = generator()
    taught = {0: [(2,), (4, 1)], 1: [(3, 3, 0)], 2: [(0, 5)]}
    relation = [r for r, bodies in taught.items() for _ in bodies]
    tokens = model.tokens_of(relation, [body for bodies in taught.values() for body in bodies])
    before = model.log_probability(tokens).mean().item()
    after = model.learn(tokens, 200, 0.02, np.random.default_rng(0))
    assert after > -0.5 > before, "half of relation 0's probability is one of two bodies"
    for r, bodies in taught.items():
        assert set(model.propose([r], len(bodies), 3, seed=1)[0]) == set(bodies)


def test_proposals_are_distinct_short_and_say_something():
    model = generator(3)
    for longest in (1, 2, 3):
        for r, bodies in enumerate(model.propose(range(RELATIONS), 40, longest, seed=5)):
            assert 0 < len(bodies) <= 40 and len(set(bodies)) == len(bodies)
            assert {len(body) for body in bodies} <= set(range(1, longest + 1))
            assert (2 * r,) not in bodies and all(token < model.end for body in bodies for token in body)


def test_a_seed_gives_the_same_weights_and_proposals_and_leaves_torchs_own():
    torch.manual_seed(7)
    first = generator(1).propose(range(RELATIONS), 10, 3, seed=2)
    drawn = torch.rand(1)
    torch.manual_seed(7)
    assert torch.equal(torch.rand(1), drawn)
    assert first == generator(1).propose(range(RELATIONS), 10, 3, seed=2)
    assert first != generator(1).propose(range(RELATIONS), 10, 3, seed=3)
    assert first != generator(2).propose(range(RELATIONS), 10, 3, seed=2)
