"""Sparse Adagrad: the weights of Adagrad, and gradients for the rows of the batch alone."""

import numpy as np
import pytest
import torch

from pooling.learning.batches import BATCHES
from pooling.learning.loop import Training, train_system
from pooling.learning.losses import make_optimizer
from pooling.learning.memory import estimate_bytes
from pooling.learning.sparse_rows import rows_alone
from pooling.scoring.checkpoints import BEST, read_checkpoint
from pooling.scoring.scorer import build_model
from pooling.systems import get_model, resolve_settings
from pooling.systems.spec import common_settings

ENTITIES, RELATIONS = 300, 4


def triples(count=400):
    rng = np.random.default_rng(0)
    return np.stack([rng.integers(0, high, count) for high in (ENTITIES, RELATIONS, ENTITIES)], 1)


def settings_of(name, **changed):
    chosen = {"embedding_dim": 8, "batch_size": 64, "num_negatives": 20, "dropout": 0, "epochs": 3, **changed}
    return resolve_settings(name, ENTITIES, 400, chosen)


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("distmult", {"n3": 5}),
        ("complex", {"objective": "questions"}),
        ("transe", {"loss": "self-adversarial"}),
        ("rotate", {}),
        ("rescal", {"l2": 0.5}),
        ("tucker", {"head_dropout": 0, "relation_dropout": 0, "output_dropout": 0}),
        ("hake", {}),
    ],
)
def test_weights_are_those_of_adagrad(name, changed, tmp_path):
    kept = {}
    for optimizer in ("adagrad", "sparse-adagrad"):
        settings = settings_of(name, optimizer=optimizer, learning_rate=0.1, **changed)
        folder = tmp_path / optimizer
        asked = {"seed": 1, "directory": folder, "device": "cpu"}
        train_system(Training(name, triples(), triples()[:0], ENTITIES, RELATIONS, settings, **asked))
        kept[optimizer] = read_checkpoint(folder / BEST)["model"]
    for key, weights in kept["adagrad"].items():
        torch.testing.assert_close(kept["sparse-adagrad"][key], weights, rtol=1e-3, atol=1e-4)


def test_gradients_are_of_the_rows_of_the_batch_alone():
    spec, settings = get_model("conve"), settings_of("conve", embedding_dim=32, optimizer="sparse-adagrad")
    common, model = common_settings(settings), build_model(get_model("conve"), ENTITIES, RELATIONS, settings, seed=1)
    before = {key: weights.clone() for key, weights in model.state_dict().items()}
    torch.manual_seed(1)
    batches = BATCHES[common["objective"]](triples(), ENTITIES, common, "cpu")
    optimizer = make_optimizer(model, common, "cpu")
    batches.loss(spec, model.train(), next(iter(batches.draw()))[:4]).backward()
    tables = [weights for weights in model.parameters() if len(weights) == ENTITIES]
    assert len(tables) == 2  # vectors and biases
    for weights in tables:
        assert weights.grad.is_sparse and 4 < weights.grad._nnz() <= 28
    optimizer.step()
    after = model.state_dict()
    changed = {key: (after[key] != before[key]).reshape(len(after[key]), -1).any(1).sum() for key in before
               if len(before[key].shape) and len(before[key]) == ENTITIES}  # fmt: skip
    assert all(0 < count <= 28 for count in changed.values())


def test_tables_are_back_after_an_error():
    model = build_model(get_model("distmult"), ENTITIES, RELATIONS, settings_of("distmult"), seed=1)
    table = model.entity_representations[0]
    with pytest.raises(KeyError), rows_alone(model, torch.tensor([3, 7]), ENTITIES):
        assert table(None).shape == (2, 8)
        raise KeyError
    assert table(None).shape == (ENTITIES, 8)


def test_estimate_has_no_slopes_of_the_tables():
    spec, train = get_model("distmult"), triples()
    weights = 4 * 8 * (ENTITIES + 2 * RELATIONS)
    dense, sparse = (
        estimate_bytes(spec, ENTITIES, RELATIONS, {**settings_of("distmult"), "optimizer": optimizer}, train)
        for optimizer in ("adagrad", "sparse-adagrad")
    )
    assert dense - sparse in (weights, 2 * weights)  # twice where a batch takes more than a validation


@pytest.mark.parametrize(
    ("name", "changed", "message"),
    [
        ("distmult", {"num_negatives": 0}, "with num_negatives=0: all entities are in every batch; set num_negatives"),
        ("compgcn", {}, "CompGCN reads the vectors of all entities in every batch; set optimizer to adagrad"),
    ],
)
def test_what_touches_all_entities_is_refused(name, changed, message):
    with pytest.raises(ValueError, match=message):
        settings_of(name, optimizer="sparse-adagrad", **changed)


def test_as_many_entities_as_relations_are_refused(tmp_path):
    settings = settings_of("distmult", optimizer="sparse-adagrad")
    few = np.array([[0, 0, 1], [2, 1, 3]])
    with pytest.raises(ValueError, match="there are 4 of both, inverse relations counted; set optimizer to adagrad"):
        train_system(Training("distmult", few, few[:0], 4, 2, settings, seed=1, directory=tmp_path, device="cpu"))
