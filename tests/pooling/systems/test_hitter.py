"""HittER's scores are those of two plain transformers over the right neighbours."""

from math import erf, sqrt

import numpy as np
import pytest
import torch

from pooling.systems import get_model, resolve_settings
from pooling.systems.hitter import neighbours
from tests.pooling.systems.networks import ENTITIES, TRAIN, all_questions, assert_resumes, assert_scores, network


def numbers(tensor):
    return tensor.detach().double().numpy()


def layer_norm(x, layer):
    scaled = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + layer.eps)
    return scaled * numbers(layer.weight) + numbers(layer.bias)


def affine(x, layer):
    return x @ numbers(layer.weight).T + numbers(layer.bias)


def encoder(net, tokens):
    """The first token after pre-norm layers over tokens [n, d]: one question, no padding, one head at a time."""
    x = np.array(tokens)
    for layer in net.layers:
        attention, read = layer.self_attn, layer_norm(x, layer.norm1)
        projected = read @ numbers(attention.in_proj_weight).T + numbers(attention.in_proj_bias)
        parts = [np.split(part, attention.num_heads, 1) for part in np.split(projected, 3, 1)]
        heads = []
        for q, k, v in zip(*parts, strict=True):
            weights = np.exp(q @ k.T / sqrt(q.shape[1]))
            heads.append(weights / weights.sum(1, keepdims=True) @ v)
        x = x + affine(np.concatenate(heads, 1), attention.out_proj)
        inner = affine(layer_norm(x, layer.norm2), layer.linear1)
        inner = inner * (1 + np.vectorize(erf)(inner / sqrt(2))) / 2
        x = x + affine(inner, layer.linear2)
    return layer_norm(x, net.norm)[0]


def edges_of(entity):
    """(neighbour, relation from there to `entity`, inverse-aware) of every training triple it is in."""
    to = [(h, 2 * r) for h, r, t in TRAIN.tolist() if t == entity]
    return to + [(t, 2 * r + 1) for h, r, t in TRAIN.tolist() if h == entity]


def test_scores_literal():
    model = network("hitter", neighbours=50, heads=2, pair_layers=2, context_layers=2)
    v = {key: numbers(value) for key, value in (*model.vectors.items(), *model.others.items())}
    of_entity, of_relation, of_source, of_neighbour = v["kinds"]

    def read(entity, relation):
        tokens = [v["pair"][0], v["entity"][entity] + of_entity, v["relation"][relation] + of_relation]
        return encoder(model.nets["pair"], tokens)

    def score(entity, asked):
        around = [edge for edge in edges_of(entity) if edge[1] != asked ^ 1]
        tokens = [v["context"][0], read(entity, asked) + of_source, *(read(*edge) + of_neighbour for edge in around)]
        return v["entity"] @ encoder(model.nets["context"], tokens) + v["bias"]

    assert_scores("hitter", model, score)


def read_neighbours(model, entity, relation):
    """Those that are there, as a list of pairs for each question."""
    near, via, present = neighbours(model, entity, relation)
    return [list(zip(n[p].tolist(), v[p].tolist(), strict=True)) for n, v, p in zip(near, via, present, strict=True)]


def test_neighbours_ranking_takes_the_same_few():
    model = network("hitter", neighbours=2)
    entity = torch.arange(ENTITIES)
    unused = torch.full_like(entity, 99)  # a relation that no edge answers
    first, again = (read_neighbours(model, entity, unused) for _ in range(2))
    assert first == again
    for number, found in enumerate(first):
        assert len(found) == min(2, len(edges_of(number)))
        assert len(set(found) - set(edges_of(number))) == 0


def test_neighbours_training_draws_from_all():
    model = network("hitter", neighbours=2).train()
    entity = torch.full((400,), int(np.bincount(TRAIN[:, 0]).argmax()))
    known = set(edges_of(int(entity[0])))
    assert len(known) > 2
    torch.manual_seed(1)
    drawn = read_neighbours(model, entity, torch.full_like(entity, 99))
    assert {len(found) for found in drawn} == {2}
    assert {edge for found in drawn for edge in found} == known


@pytest.mark.parametrize("training", [True, False])
def test_neighbours_answers_left_out(training):
    """No neighbour answers the question itself: every one that does is an edge of the graph, so there are many."""
    model = network("hitter", neighbours=50).train(training)
    entity, relation = (torch.as_tensor(x) for x in all_questions())
    left_out = 0
    for side in (0, 1):
        found = read_neighbours(model, entity, 2 * relation + side)
        for e, asked, edges in zip(entity.tolist(), (2 * relation + side).tolist(), found, strict=True):
            assert sorted(edges) == sorted(edge for edge in edges_of(e) if edge[1] != asked ^ 1)
            left_out += len(edges_of(e)) - len(edges)
    assert left_out == 2 * len(TRAIN)  # every triple answers two questions


def test_scores_graph_without_edges_finite():
    model, spec = network("hitter", train=TRAIN[:0]), get_model("hitter")
    for mode in (True, False):
        query = spec.query(model.train(mode), torch.arange(4), torch.arange(4))
        assert torch.isfinite(query).all()
        assert query.shape == (4, 8)


def test_query_masked_head_hidden():
    """With its head hidden, a question without neighbours is the same whoever is asked about."""
    model, spec = network("hitter", train=TRAIN[:0], mask=0.5, inner_dropout=0).train(), get_model("hitter")
    torch.manual_seed(1)
    queries = spec.query(model, torch.arange(200) % ENTITIES, torch.zeros(200, dtype=torch.long)).detach()
    distinct, count = queries.round(decimals=4).unique(dim=0, return_counts=True)
    assert len(distinct) == ENTITIES + 1
    assert 70 < count.max() < 130  # a half, of 200


def test_settings_heads_refused():
    with pytest.raises(ValueError, match="embedding_dim is 66: HittER's 4 heads cannot share it evenly"):
        resolve_settings("hitter", 10, 10, {"embedding_dim": 66})


def test_resumed_equals_uninterrupted(tmp_path):
    assert_resumes("hitter", tmp_path, neighbours=2, mask=0.5, inner_dropout=0.1)
