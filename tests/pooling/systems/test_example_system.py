"""The worked example of docs/systems.md does what the page says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch
from django.conf import settings

from pooling.learning.loop import Training, train_system
from pooling.scoring.scorer import load_scorer
from pooling.systems import SYSTEMS, resolve_settings
from pooling.systems.spec import SystemSpec

ENTITIES, RELATIONS = 40, 2


@pytest.fixture
def spec(monkeypatch) -> SystemSpec:
    """The file of the page, registered as the page says."""
    path = Path(settings.BASE_DIR) / "docs" / "example_system.py"
    found = importlib.util.spec_from_file_location("example_system", path)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    monkeypatch.setitem(SYSTEMS, module.SPEC.name, module.SPEC)
    return module.SPEC


def ring() -> np.ndarray:
    """Everybody's neighbours: relation 0 leads to the next entity, relation 1 to the one before it."""
    i = np.arange(ENTITIES)
    there = np.stack([i, 0 * i, (i + 1) % ENTITIES], 1)
    back = np.stack([(i + 1) % ENTITIES, 0 * i + 1, i], 1)
    return np.concatenate([there, back])


def test_it_learns_and_its_scores_are_those_of_the_formula(spec: SystemSpec, tmp_path: Path):
    triples = np.random.default_rng(1).permutation(ring())
    train, valid = triples[:72], triples[72:]
    resolved = resolve_settings("cp", ENTITIES, len(train), {"embedding_dim": 32, "epochs": 40, "batch_size": 16})
    result = train_system(
        Training("cp", train, valid, ENTITIES, RELATIONS, resolved, seed=0, directory=tmp_path, device="cpu", threads=1)
    )
    chance = np.mean(1 / np.arange(1, ENTITIES + 1))  # MRR of a random order: 0.107
    assert result.validation_mrr is not None and result.validation_mrr > 3 * chance

    scorer = load_scorer("cp", tmp_path, ENTITIES, RELATIONS, resolved, "cpu")
    heads, tails, relations = (scorer.model.vectors[name].detach() for name in ("heads", "tails", "relations"))
    side, entity, relation = np.array([0, 1, 0]), np.array([3, 5, 7]), np.array([0, 1, 1])
    scores = torch.as_tensor(scorer.in_order(np.arange(ENTITIES))(side, entity, relation))
    for row, (s, e, r) in zip(scores, zip(side, entity, relation, strict=True), strict=True):
        expected = [float((heads[e] * relations[2 * r + s] * tails[t]).sum()) for t in range(ENTITIES)]
        torch.testing.assert_close(row, torch.tensor(expected), rtol=1e-4, atol=1e-5)


def test_its_check_refuses_what_does_not_fit(spec: SystemSpec):
    with pytest.raises(ValueError, match=r"^embedding_dim is 7: CP needs an even number$"):
        resolve_settings("cp", ENTITIES, 72, {"embedding_dim": 7})
