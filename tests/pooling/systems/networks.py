"""Small models of systems that are networks, and what is asked of all of them."""

import numpy as np
import pytest
import torch

from pooling.learning.batches import scores_of
from pooling.learning.loop import Training, TrainingCancelled, train_system
from pooling.questions.kernel import HEAD, TAIL
from pooling.scoring.checkpoints import LATEST, read_checkpoint
from pooling.scoring.forms import query_of, shared_of
from pooling.scoring.ranking import rank_of_triples
from pooling.scoring.scorer import Scorer, build_model, load_scorer
from pooling.systems import get_model, resolve_settings

ENTITIES, RELATIONS = 9, 2
TRAIN = np.random.default_rng(0).integers([ENTITIES, RELATIONS, ENTITIES - 1], size=(25, 3))


def network(name, *, train=TRAIN, **overrides):
    """A small model of system `name` in eval mode: random weights, and normalisation that does something."""
    settings = resolve_settings(name, ENTITIES, len(train), {"embedding_dim": 8, **overrides})
    model = build_model(get_model(name), ENTITIES, RELATIONS, settings, 0, train)
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for weights in model.parameters():
            weights.copy_(torch.randn(weights.shape, generator=generator) * 0.5)
        for module in model.modules():
            if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
                module.running_mean.uniform_(-0.1, 0.1, generator=generator)
                module.running_var.uniform_(0.5, 2.0, generator=generator)
    return model.eval()


def all_questions():
    """Entity and relation of all questions, one side after the other."""
    entity = np.repeat(np.arange(ENTITIES), RELATIONS)
    return entity, np.tile(np.arange(RELATIONS), ENTITIES)


@torch.no_grad()
def assert_scores(name, model, score):
    """Ranking's and training's scores of both sides are `score(entity, asked) -> [E]`, `asked` inverse-aware."""
    spec = get_model(name)
    entity, relation = all_questions()
    scorer = Scorer(spec, model)
    for side in (TAIL, HEAD):
        asked = 2 * relation + side
        expected = np.array([score(int(e), int(r)) for e, r in zip(entity, asked, strict=True)])
        assert expected.std(axis=1).min() > 0
        tolerance = {"rtol": 1e-4, "atol": 1e-5 * np.abs(expected).max()}
        np.testing.assert_allclose(scorer.scores(np.full(len(entity), side), entity, relation), expected, **tolerance)
        shared = shared_of(spec, model)
        query = query_of(spec, model, torch.tensor(entity), torch.tensor(asked), shared)
        np.testing.assert_allclose(scores_of(spec, model, shared)(query, None), expected, **tolerance)


def assert_equals_pykeen(name, model):
    """All scores of both sides are those that PyKEEN's own code gives the same weights."""
    assert_scores(name, model, lambda e, r: model.score_t(torch.tensor([[e, r]]))[0].numpy())


def assert_resumes(name, folder, **overrides):
    """A training that was stopped in its third epoch and resumed ends with the weights of a whole one.

    What is read back from its folder ranks as it did when it was validated: nothing it needs is missing there.
    """
    settings = resolve_settings(
        name, ENTITIES, len(TRAIN), {"embedding_dim": 8, "epochs": 3, "batch_size": 10, **overrides}
    )
    ended = []

    def train(directory, **how):
        return train_system(
            Training(
                name,
                TRAIN,
                TRAIN[:3],
                ENTITIES,
                RELATIONS,
                settings,
                seed=2,
                device="cpu",
                directory=folder / directory,
                threads=1,
                **how,
            )
        )

    train("whole")
    with pytest.raises(TrainingCancelled, match="epoch 3"):
        train(
            "parts",
            on_progress=lambda report: report.fraction == 1 and ended.append(report.epoch),
            should_stop=lambda: len(ended) == 2,
        )
    torch.rand(7)  # the global generator has moved on
    result = train("parts")
    whole, parts = (read_checkpoint(folder / directory / LATEST)["model"] for directory in ("whole", "parts"))
    assert whole.keys() == parts.keys()
    assert all(torch.equal(whole[key], parts[key]) for key in whole)
    start = build_model(get_model(name), ENTITIES, RELATIONS, settings, 2, TRAIN)
    assert not any(torch.equal(whole[key], value) for key, value in start.named_parameters())
    scorer = load_scorer(name, folder / "parts", ENTITIES, RELATIONS, settings, "cpu", TRAIN)
    again = rank_of_triples(scorer, TRAIN[:3], TRAIN, TRAIN[:3], num_relations=RELATIONS)
    assert again.mrr == result.validation_mrr
