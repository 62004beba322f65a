"""CompGCN's scores are those of PyKEEN's own layers and decoders."""

import pytest
import torch

from pooling.scoring.forms import features_of, query_of, shared_of
from pooling.systems import get_model
from pooling.systems.compgcn import COMPOSITIONS
from tests.pooling.systems.networks import ENTITIES, TRAIN, assert_equals_pykeen, assert_resumes, network


@pytest.mark.parametrize("decoder", ["distmult", "conve"])
@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_scores_equal_pykeen(decoder, composition):
    model = network("compgcn", decoder=decoder, composition=composition, layers=2)
    assert_equals_pykeen("compgcn", model)


def test_training_equals_pykeen():
    """In training too: dropout by the same draws, normalisation and its running figures, and every gradient."""
    theirs, ours = (network("compgcn", layers=2, layer_dropout=0.3).train() for _ in range(2))
    entity, relation, spec = torch.arange(8), torch.arange(8) % 4, get_model("compgcn")
    torch.manual_seed(1)
    expected = theirs.score_t(torch.stack([entity, relation], 1))
    torch.manual_seed(1)
    shared = shared_of(spec, ours)
    features, bias = features_of(spec, ours, shared)
    scores = query_of(spec, ours, entity, relation, shared) @ features.T
    assert bias is None
    torch.testing.assert_close(scores, expected, rtol=1e-4, atol=1e-4)
    for found in (expected, scores):
        found.square().sum().backward()
    for (key, weights), (_, own) in zip(theirs.named_parameters(), ours.named_parameters(), strict=True):
        atol = 1e-4 * float(weights.grad.abs().max()) + 1e-3
        torch.testing.assert_close(own.grad, weights.grad, rtol=1e-3, atol=atol, msg=key)
    for (key, figures), (_, own) in zip(theirs.named_buffers(), ours.named_buffers(), strict=True):
        torch.testing.assert_close(own, figures, msg=key)


def test_scores_entity_without_edges():
    """An entity that is in no triple is encoded from itself alone; the graph without triples is no special case."""
    for train in (TRAIN[(TRAIN[:, [0, 2]] != ENTITIES - 1).all(1)], TRAIN[:0]):
        assert_equals_pykeen("compgcn", network("compgcn", train=train))


@torch.no_grad()
def test_scores_mixed_precision():
    """Rounded, but no error: the transforms of a circular correlation refuse bfloat16."""
    model, spec = network("compgcn", composition="circularcorrelation", layers=2), get_model("compgcn")
    full, _ = features_of(spec, model, shared_of(spec, model))
    with torch.autocast("cpu", torch.bfloat16):
        mixed, _ = features_of(spec, model, shared_of(spec, model))
    assert not torch.equal(mixed, full)
    torch.testing.assert_close(mixed, full, rtol=0.05, atol=0.05)


def test_factors_before_the_graph():
    model = network("compgcn")
    ids = (torch.tensor([4]), torch.tensor([3]), torch.tensor([5]))
    weights = model.state_dict()
    prefix = "entity_representations.0.combined."
    entities = weights[prefix + "entity_representations._embeddings.weight"]
    relations = weights[prefix + "relation_representations._embeddings.weight"]
    for found, expected in zip(
        get_model("compgcn").factors(model, *ids), (entities[4], relations[3], entities[5]), strict=True
    ):
        torch.testing.assert_close(found[0], expected)


@pytest.mark.parametrize("decoder", ["distmult", "conve"])
def test_resumed_equals_uninterrupted(tmp_path, decoder):
    assert_resumes("compgcn", tmp_path, decoder=decoder)
