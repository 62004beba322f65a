"""The loss of rule vectors is that of a table of all entities, and training lowers it."""

import numpy as np
import pytest
import torch
from scipy import sparse

from pooling.rules.kernels.rule_embedding import RuleEmbedding, fit_vectors
from pooling.rules.kernels.rule_predictor import ground
from pooling.rules.kernels.signed_graph import SignedGraph, reverse
from tests.pooling.rules.kernels.oracle import ENTITIES, RELATIONS
from tests.pooling.rules.kernels.test_grounded_triples import FACTS
from tests.pooling.rules.kernels.test_rule_predictor import BODIES, answers_of, counts_of


def parts():
    graph = SignedGraph(np.array(FACTS), ENTITIES, RELATIONS)
    for signed in range(2 * RELATIONS):
        entity = np.array([e for e in range(ENTITIES) if answers_of(set(FACTS), signed, [e]).any()])
        bodies = [reverse(body) for body in BODIES] if signed % 2 else BODIES
        yield signed, bodies, ground(graph, signed, bodies, entity, 10**6)


@pytest.mark.parametrize("part", list(parts()), ids=lambda part: f"relation {part[0]}")
def test_loss_is_that_of_a_table_of_all_entities(part):
    signed, bodies, grounded = part
    model = RuleEmbedding(RELATIONS, 6, seed=1)
    table = torch.from_numpy(counts_of(set(FACTS), bodies, grounded.entity)).float()
    answer = torch.from_numpy(answers_of(set(FACTS), signed, grounded.entity))
    seen = torch.from_numpy(answers_of(set(FACTS), signed, range(ENTITIES)).sum(0))
    plain = model.rates[signed] * torch.log1p(seen - answer)  # without the triple that answers
    total = table @ model.vectors(signed, bodies)
    of_rules = model.score(torch.relu(model.norm(model.mixed(total))))[..., 0]
    scores = plain + torch.where(table.sum(-1) > 0, of_rules, 0.0)
    target = answer / answer.sum(1, keepdim=True)
    expected = -(target * torch.log_softmax(scores, 1)).sum() / len(grounded.entity)
    assert model.loss(signed, bodies, grounded).item() == pytest.approx(expected.item(), rel=1e-4)


def test_slopes_go_through_the_sparse_product():
    model = RuleEmbedding(RELATIONS, 4, seed=0)
    counts = sparse.csr_array(np.array([[1.0, 0, 2], [0, 3, 0]]))
    vectors = torch.randn(3, 4, requires_grad=True)
    model.scores(counts, vectors).sum().backward()
    found, vectors.grad = vectors.grad, None
    total = torch.from_numpy(counts.toarray()).float() @ vectors
    model.score(torch.relu(model.norm(model.mixed(total)))).sum().backward()
    assert torch.allclose(found, vectors.grad, atol=1e-6) and found.abs().max() > 0


def test_training_lowers_the_loss_and_is_repeatable():
    every = list(parts())

    def trained():
        model = RuleEmbedding(RELATIONS, 6, seed=1)
        before = sum(model.loss(*part).item() for part in every)
        fit_vectors(model, every, 30, 0.01, np.random.default_rng(0))
        return before, sum(model.loss(*part).item() for part in every)

    before, after = trained()
    assert after < 0.8 * before
    assert trained() == (before, after)
