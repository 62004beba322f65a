"""PyKEEN's models by class name: scores equal to their own `score_t`, in ranking and in training."""

from inspect import signature

import numpy as np
import pytest
import torch
from pykeen import models
from pykeen.models import ERModel, model_resolver

from pooling.learning.batches import scores_of
from pooling.learning.loop import Training, train_system
from pooling.scoring.scorer import Scorer, build_model
from pooling.systems import find_entry, get_by_slug, get_model, get_system, resolve_settings
from pooling.systems.pykeen_model import MODELS

ENTITIES, RELATIONS = 9, 2
TRIPLES = np.array([[0, 0, 1], [1, 1, 2], [3, 0, 4], [5, 1, 6], [7, 0, 8], [8, 1, 0]], np.int32)
# real, complex, matrices, several tables, a number per entity, no relation table, weights in the interaction, a graph
CLASSES = ["PairRE", "HolE", "ComplEx", "NTN", "BoxE", "MuRE", "UM", "TuckER", "CompGCN"]


def model_of(name):
    settings = resolve_settings(name, ENTITIES, 10, {"embedding_dim": 8})
    return build_model(get_model(name), ENTITIES, RELATIONS, settings, seed=0, train=TRIPLES)


@pytest.mark.parametrize("label", CLASSES)
def test_scores_equal_score_t(label):
    name = f"pykeen:{label}"
    spec, model = get_model(name), model_of(name)
    scorer = Scorer(spec, model)
    entity, relation = torch.arange(ENTITIES).repeat(2), torch.arange(2).repeat_interleave(ENTITIES)
    for side in (0, 1):
        asked = 2 * relation + side
        with torch.no_grad():
            expected = model.score_t(torch.stack([entity, asked], 1))
            trained = scores_of(spec, model)(spec.query(model, entity, asked), torch.tensor([2, 0, 2]))
        scores = scorer.scores(np.full(len(entity), side), entity, relation)
        np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(trained, expected[:, [2, 0, 2]], rtol=1e-4, atol=1e-5)


def test_training_lowers_the_loss(tmp_path):
    settings = resolve_settings("pykeen:PairRE", ENTITIES, len(TRIPLES), {"embedding_dim": 8, "learning_rate": 0.2})
    result = train_system(
        Training(
            "pykeen:PairRE",
            TRIPLES,
            TRIPLES[:2],
            ENTITIES,
            RELATIONS,
            settings,
            seed=0,
            device="cpu",
            directory=tmp_path,
        )
    )
    losses = [epoch["loss"] for epoch in result.history]
    assert losses[-1] < losses[0] / 2 and result.validation_mrr > 0.5


def test_class_name_in_any_case_is_one_system():
    spec = get_system("pykeen:pairre")
    assert (spec.name, spec.slug, spec.label) == ("pykeen:PairRE", "pykeen-PairRE", "PairRE (PyKEEN)")


def test_unknown_class_names_near_ones():
    with pytest.raises(
        ValueError, match=r"PyKEEN has no model 'PairRF' .*did you mean pykeen:PairRE\? there are .*TransH"
    ):
        get_system("pykeen:PairRF")
    assert find_entry("pykeen:PairRF") is None


def test_classes_are_all_that_triples_alone_build():
    """RGCN wants triples without inverses, the others literals or a second graph."""
    more = {"ComplExLiteral", "DistMultLiteral", "DistMultLiteralGated", "InductiveNodePiece", "RGCN"}
    known = {
        cls.__name__
        for cls in model_resolver.lookup_dict.values()
        if issubclass(cls, ERModel) and "embedding_dim" in signature(cls).parameters
    }
    assert sorted([*MODELS, *more]) == sorted(known)


@pytest.mark.parametrize("label", MODELS)
def test_class_is_built_and_ranks(label):
    spec = get_model(f"pykeen:{label}")
    scorer = Scorer(spec, model_of(spec.name))
    question = np.zeros(1, int)
    assert scorer.scores(question, question, question).shape == (1, ENTITIES)


def test_class_that_cannot_be_built_says_so(monkeypatch):
    def refuse(**given):
        raise KeyError(sorted(given))

    monkeypatch.setattr(models, "PairRE", refuse)
    said = r"PyKEEN cannot build PairRE .* embedding_dim=8 alone: .'embedding_dim', 'random_seed', 'triples_factory'."
    with pytest.raises(ValueError, match=said):
        model_of("pykeen:PairRE")


def test_slug_leads_back_to_the_system():
    for name in ("transe", "transe-l1", "pykeen:PairRE"):
        assert get_by_slug(get_system(name).slug).name == name
    with pytest.raises(ValueError, match="PyKEEN has no model 'PairRF'"):
        get_by_slug("pykeen-PairRF")
