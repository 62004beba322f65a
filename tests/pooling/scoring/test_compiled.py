"""Compiled loops of pointwise systems: the scores of `compare`, bit for bit the same in any company."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pooling.scoring import compiled
from pooling.scoring.scorer import Scorer, build_model
from pooling.systems import SYSTEMS, get_model

ENTITIES, RELATIONS, DIM = 1_500, 7, 24
COMPILED = sorted(spec.name for spec in SYSTEMS.values() if getattr(spec, "compiled", ""))
QUESTIONS = np.arange(300) % 2, np.arange(300) * 5 % ENTITIES, np.arange(300) % RELATIONS  # side, entity, relation


def scorer(name: str, monkeypatch: pytest.MonkeyPatch, least: int = 0) -> Scorer:
    """Return a scorer whose weights are drawn, relations' too; `least` floats of features are compiled for."""
    monkeypatch.setattr(compiled, "LEAST_FLOATS", least)
    spec = get_model(name)
    model = build_model(spec, ENTITIES, RELATIONS, {**spec.values(large=True), "embedding_dim": DIM}, seed=3)
    torch.manual_seed(3)
    with torch.no_grad():
        for weights in model.parameters():
            weights.add_(torch.randn_like(weights) / 4)
    return Scorer(spec, model)


def test_the_systems_whose_distances_are_added_up_have_a_loop():
    assert COMPILED == ["hake", "protate", "query2box", "transe-l1"]
    assert all(get_model(name).form == "pointwise" and get_model(name).compiled in compiled.LOOPS for name in COMPILED)


@pytest.mark.parametrize("name", COMPILED)
def test_a_loop_scores_as_compare_does(name: str, monkeypatch):
    plain = scorer(name, monkeypatch, least=1 << 40)
    assert plain.prepared is None
    expected = plain.scores(*QUESTIONS)
    fast = scorer(name, monkeypatch)
    assert fast.prepared is not None
    found = fast.scores(*QUESTIONS)
    assert found.std() > 0.1
    torch.testing.assert_close(found, expected, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("name", COMPILED)
def test_bits_of_a_score_depend_on_nothing_else(name: str, monkeypatch):
    fast = scorer(name, monkeypatch)
    found = fast.scores(*QUESTIONS)
    alone = [fast.scores(*(column[i : i + 1] for column in QUESTIONS)) for i in (0, 77, 299)]
    assert torch.equal(torch.cat(alone), found[[0, 77, 299]])
    some = np.array([1_400, 3, 1_024, 8])
    assert torch.equal(fast.in_order(some)(*QUESTIONS), found[:, some])
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    assert torch.equal(fast.scores(*QUESTIONS), found)


def test_without_numba_compare_scores(monkeypatch):
    monkeypatch.setattr(compiled, "find_spec", lambda name: None)
    assert scorer("transe-l1", monkeypatch).prepared is None
