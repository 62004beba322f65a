"""PyKEEN's models by class name: scores equal to their own `score_t`, in ranking and in training."""

import numpy as np
import pytest
import torch

from pooling.kernels.batches import column_scores
from pooling.kernels.scorer import Scorer, build_model
from pooling.kernels.training import train_system
from pooling.systems import get_model, get_system, resolve_settings

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
            trained = column_scores(spec, model, spec.query(model, entity, asked), torch.tensor([2, 0, 2]))
        scores = scorer.scores(np.full(len(entity), side), entity, relation)
        np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(trained, expected[:, [2, 0, 2]], rtol=1e-4, atol=1e-5)


def test_training_lowers_the_loss(tmp_path):
    settings = resolve_settings(
        "pykeen:PairRE", ENTITIES, len(TRIPLES), {"embedding_dim": 8, "learning_rate": 0.2}
    )
    result = train_system(
        "pykeen:PairRE", TRIPLES, TRIPLES[:2], ENTITIES, RELATIONS, settings,
        seed=0, device="cpu", directory=tmp_path,
    )  # fmt: skip
    losses = [epoch["loss"] for epoch in result.history]
    assert losses[-1] < losses[0] / 2 and result.validation_mrr > 0.5


def test_class_name_in_any_case_is_one_system():
    spec = get_system("pykeen:pairre")
    assert (spec.name, spec.slug, spec.label) == ("pykeen:PairRE", "pykeen-PairRE", "PairRE (PyKEEN)")


def test_unknown_class_names_near_ones():
    with pytest.raises(
        ValueError, match=r"PyKEEN has no model 'PairRF' .*did you mean pykeen:PairRE.*there are .*TransH"
    ):
        get_system("pykeen:PairRF")


def test_class_that_needs_more_than_triples_says_so():
    settings = resolve_settings("pykeen:RGCN", ENTITIES, 10, {"embedding_dim": 8})
    with pytest.raises(ValueError, match="PyKEEN cannot build RGCN from triples and embedding_dim=8 alone"):
        build_model(get_model("pykeen:RGCN"), ENTITIES, RELATIONS, settings, seed=0, train=TRIPLES)
