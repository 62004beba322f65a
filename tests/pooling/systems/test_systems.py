"""Every system scores as PyKEEN scores the same weights, where it is PyKEEN's; settings refuse nonsense by name."""

import numpy as np
import pytest
import torch

from pooling.learning.batches import scores_of
from pooling.questions.kernel import HEAD, TAIL
from pooling.scoring.forms import features_of, form_of, query_of, shared_of
from pooling.scoring.scorer import Scorer, build_model
from pooling.systems import SYSTEMS, get_model, get_system, resolve_settings
from pooling.systems.spec import FAMILIES, SystemSpec

ENTITIES, RELATIONS = 40, 6
MODELS = [name for name, entry in SYSTEMS.items() if isinstance(entry, SystemSpec)]
# Models of PyKEEN, which scores them itself; the others have slow formulas in tests of their own.
PYKEEN = ["transe", "transe-l1", "rotate", "distmult", "rescal", "complex", "tucker", "conve"]


def built_model(name, *, seed=0):
    settings = resolve_settings(name, ENTITIES, 100, {"embedding_dim": 16})
    train = np.random.default_rng(0).integers([ENTITIES, RELATIONS, ENTITIES], size=(100, 3))
    return build_model(get_model(name), ENTITIES, RELATIONS, settings, seed, train)


def model_in_use(name):
    """With batch normalisation and biases that do something."""
    model = built_model(name)
    for module in model.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            torch.nn.init.uniform_(module.running_mean, -0.1, 0.1)
            torch.nn.init.uniform_(module.running_var, 0.5, 2.0)
    if name == "conve":
        torch.nn.init.normal_(model.entity_representations[1]._embeddings.weight)
    return model.eval()


@pytest.mark.parametrize("name", PYKEEN)
@torch.no_grad()
def test_scores_equal_pykeen(name):
    torch.manual_seed(1)
    model = model_in_use(name)
    scorer = Scorer(get_model(name), model)
    entity, relation = torch.randint(ENTITIES, (30,)), torch.randint(RELATIONS, (30,))
    tails = model.predict_t(torch.stack([entity, relation], 1))
    heads = model.predict_h(torch.stack([relation, entity], 1))
    torch.testing.assert_close(scorer.scores(torch.full((30,), TAIL), entity, relation), tails, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(scorer.scores(torch.full((30,), HEAD), entity, relation), heads, rtol=1e-4, atol=1e-4)
    assert not torch.allclose(tails, heads)  # the side matters


@pytest.mark.parametrize("name", MODELS)
@torch.no_grad()
def test_training_scores_equal_ranking_scores(name):
    """Against all entities, some of them, and entities of each row's own: what is trained is what is ranked."""
    torch.manual_seed(1)
    model, spec = model_in_use(name), get_model(name)
    entity, relation = torch.arange(8), torch.arange(8) % (2 * RELATIONS)
    expected = Scorer(spec, model).scores(relation % 2, entity, relation // 2)
    columns = torch.tensor([3, 0, 39, 3])
    shared = shared_of(spec, model)
    query = query_of(spec, model, entity, relation, shared)
    close = {"rtol": 1e-4, "atol": 1e-4 * float(expected.abs().max())}
    for some, found in (
        (slice(None), scores_of(spec, model, shared)(query, None)),
        (columns, scores_of(spec, model, shared)(query, columns)),
    ):
        torch.testing.assert_close(found, expected[:, some], **close)
    features, bias = features_of(spec, model, shared)
    own = torch.randint(ENTITIES, (8, 5))
    pairs = form_of(spec).pairs(query, features[own], None if bias is None else bias[own])
    torch.testing.assert_close(pairs, expected.gather(1, own), **close)
    assert expected.std(1).min() > 0  # the answer matters


@pytest.mark.parametrize("name", MODELS)
def test_build_same_seed_same_weights(name):
    first, again, other = (dict(built_model(name, seed=seed).named_parameters()) for seed in (3, 3, 4))
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert not all(torch.equal(first[key], other[key]) for key in first)


def test_build_leaves_global_seed():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    built_model("distmult")
    assert torch.equal(torch.rand(1), expected)


@pytest.mark.parametrize("name", SYSTEMS)
def test_entry_tells_what_a_system_is(name):
    entry = get_system(name)
    assert (entry.name, entry.family in FAMILIES) == (name, True)
    assert all((entry.label, entry.source, entry.formula)) and entry.description.endswith(".")


def test_get_system_unknown_names_known():
    with pytest.raises(ValueError, match=r"'transx'.*transe, .*rotate, .*distmult, rescal, complex, .*conve"):
        get_system("transx")


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("size", [(135, 5_000), (14_541, 272_115)])
def test_presets_are_allowed_settings(name, size):
    entry = get_system(name)
    preset = entry.preset(*size)
    assert set(preset) == set(entry.settings)
    assert resolve_settings(name, *size, {key: str(value) for key, value in preset.items()}) == preset


def test_presets_share_negatives_on_large_graphs_only():
    assert get_system("complex").preset(135, 5_216)["num_negatives"] == 0
    assert get_system("complex").preset(14_541, 272_115)["num_negatives"] == 1000


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("epochs", "many", "epochs=many: must be a whole number from 1 to 10,000"),
        ("epochs", "0", "epochs=0: must be a whole number from 1"),
        ("dropout", "nan", "dropout=nan: must be a number from 0 to 0.95"),
        ("optimizer", "sgd", "optimizer=sgd: must be one of adam, adagrad"),
        ("epoch", "3", r"transe has no setting 'epoch'.*did you mean epochs\?"),
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
