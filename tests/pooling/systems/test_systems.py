"""Every system scores as PyKEEN scores the same weights, and its settings refuse nonsense by name."""

import numpy as np
import pytest
import torch

from pooling.kernels.batches import column_scores
from pooling.kernels.questions import HEAD, TAIL
from pooling.kernels.scorer import Scorer, build_model
from pooling.systems import SYSTEMS, get_system, resolve_settings

ENTITIES, RELATIONS = 40, 6


def small_model(name, *, seed=0):
    settings = resolve_settings(name, ENTITIES, 100, {"embedding_dim": 12})
    model = build_model(get_system(name), ENTITIES, RELATIONS, settings, seed)
    for module in model.modules():  # batch normalisation that does something
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            torch.nn.init.uniform_(module.running_mean, -0.1, 0.1)
            torch.nn.init.uniform_(module.running_var, 0.5, 2.0)
    if name == "conve":
        torch.nn.init.normal_(model.entity_representations[1]._embeddings.weight)
    return model.eval()


@pytest.mark.parametrize("name", SYSTEMS)
@torch.no_grad()
def test_scores_equal_pykeen(name):
    torch.manual_seed(1)
    model = small_model(name)
    scorer = Scorer(get_system(name), model)
    entity, relation = torch.randint(ENTITIES, (30,)), torch.randint(RELATIONS, (30,))
    tails = model.predict_t(torch.stack([entity, relation], 1))
    heads = model.predict_h(torch.stack([relation, entity], 1))
    torch.testing.assert_close(
        scorer.scores(torch.full((30,), TAIL), entity, relation), tails, rtol=1e-4, atol=1e-4
    )
    torch.testing.assert_close(
        scorer.scores(torch.full((30,), HEAD), entity, relation), heads, rtol=1e-4, atol=1e-4
    )
    assert not torch.allclose(tails, heads)  # the side matters


@pytest.mark.parametrize("name", SYSTEMS)
@torch.no_grad()
def test_training_scores_equal_pykeen(name):
    model, spec = small_model(name), get_system(name)
    entity, relation = torch.arange(8), torch.arange(8) % (2 * RELATIONS)
    columns = torch.tensor([3, 0, 39, 3])
    expected = model.score_t(torch.stack([entity, relation], 1))
    query = spec.query(model, entity, relation)
    torch.testing.assert_close(
        column_scores(spec, model, query, columns), expected[:, columns], rtol=1e-4, atol=1e-4
    )
    torch.testing.assert_close(column_scores(spec, model, query, None), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", SYSTEMS)
def test_build_same_seed_same_weights(name):
    first, again, other = (small_model(name, seed=seed).entity_representations[0](None) for seed in (3, 3, 4))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_build_leaves_global_seed():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    small_model("distmult")
    assert torch.equal(torch.rand(1), expected)


def test_get_system_unknown_names_known():
    with pytest.raises(ValueError, match=r"'transx'.*transe, rotate, complex, distmult, rescal, conve"):
        get_system("transx")


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("size", [(135, 5_000), (14_541, 272_115)])
def test_presets_are_allowed_settings(name, size):
    spec = get_system(name)
    preset = spec.preset(*size)
    assert set(preset) == set(spec.settings)
    assert resolve_settings(name, *size, {key: str(value) for key, value in preset.items()}) == preset


def test_presets_share_negatives_on_large_graphs_only():
    assert get_system("complex").preset(135, 5_216)["num_negatives"] == 0
    assert get_system("complex").preset(14_541, 272_115)["num_negatives"] == 1000


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("epochs", "many", "epochs=many: must be a whole number from 1 to 10000"),
        ("epochs", "0", "epochs=0: must be a whole number from 1"),
        ("dropout", "nan", "dropout=nan: must be a number from 0 to 0.95"),
        ("optimizer", "sgd", "optimizer=sgd: must be one of adam, adagrad"),
        ("epoch", "3", "transe has no setting 'epoch': it has .*epochs"),
    ],
)
def test_resolve_settings_refuses(key, text, message):
    with pytest.raises(ValueError, match=message):
        resolve_settings("transe", 10, 10, {key: text})


def test_resolve_settings_parses_strings():
    settings = resolve_settings("transe", 10, 10, {"epochs": "3", "learning_rate": "1e-3"})
    assert (settings["epochs"], settings["learning_rate"]) == (3, 0.001)
    assert isinstance(settings["epochs"], int)
    np.testing.assert_equal(settings["embedding_dim"], 64)
