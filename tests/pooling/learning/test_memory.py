"""Memory is estimated before anything is built, and what does not fit is refused with the figures."""

import dataclasses

import numpy as np
import pytest
import torch

from pooling.jobs import training_needs
from pooling.learning import memory
from pooling.learning.batches import BATCHES
from pooling.learning.memory import check_memory, estimate_bytes
from pooling.models import Graph, System
from pooling.scoring import free_memory
from pooling.scoring.scorer import build_model
from pooling.systems import SYSTEMS, get_model, resolve_settings
from pooling.systems.spec import SystemSpec, common_settings

ENTITIES, RELATIONS = 100, 4
MODELS = [name for name, spec in SYSTEMS.items() if isinstance(spec, SystemSpec)]
FB15K237 = (14_541, 237)


def ring(entities=ENTITIES, relations=RELATIONS):
    i = np.arange(entities)
    return np.stack([i, i % relations, np.roll(i, 1)], 1)


@pytest.mark.parametrize("name", MODELS)
def test_weights_equal_those_of_built_model(name):
    spec, train = get_model(name), ring()
    settings = spec.preset(ENTITIES, len(train))
    model = build_model(spec, ENTITIES, RELATIONS, settings, 0, train)
    counted = memory._weights(spec, ENTITIES, RELATIONS, settings, train)
    assert sum(rows * width for rows, width in counted) * 4 == sum(
        p.numel() * p.element_size() for p in model.parameters()
    )


def test_size_counts_in_floats():
    assert memory._size(torch.zeros(3, 4, 5)) == (3, 20)
    assert memory._size(torch.zeros(3, 4, dtype=torch.float64)) == (3, 8)
    assert memory._size(torch.zeros(())) == (1, 1)


@pytest.mark.parametrize(
    ("name", "measured"),  # peak of 6 batches and a validation with the preset, beyond what the libraries hold: MB
    [("transe", 212), ("rotate", 236), ("complex", 158), ("distmult", 161), ("rescal", 144), ("conve", 97)],
)
def test_estimate_within_factor_two_of_measured(name, measured):
    spec, train = get_model(name), np.zeros((272_115, 3), np.int32)
    estimate = estimate_bytes(spec, *FB15K237, spec.preset(FB15K237[0], len(train)), train) / 1e6
    assert measured / 2 < estimate < measured * 2


def test_estimate_counts_what_a_network_keeps():
    plain, train = get_model("distmult"), ring()
    settings = plain.preset(ENTITIES, len(train))
    network = dataclasses.replace(
        plain, activations=lambda settings, triples: 1e6 * settings["embedding_dim"] * triples
    )
    of_both = [estimate_bytes(spec, ENTITIES, RELATIONS, settings, train) for spec in (plain, network)]
    assert of_both[1] - of_both[0] == pytest.approx(4e6 * 64 * 100, rel=1e-3)


@pytest.mark.parametrize(
    ("overrides", "columns"),
    [
        ({}, 1_000_200),
        ({"loss": "bce"}, 1_000_200),
        ({"objective": "questions"}, 100),
        ({"loss": "self-adversarial"}, 100),
        ({"num_negatives": 0}, 100),
    ],
)
def test_estimate_counts_an_entity_as_often_as_it_is_a_column(overrides, columns):
    """A batch has 200 rows at most: there are 100 triples."""
    spec, train = get_model("distmult"), ring()
    settings = {**spec.preset(ENTITIES, 100), "batch_size": 5000, "num_negatives": 1_000_000, **overrides}
    weights = 4 * 64 * (ENTITIES + 2 * RELATIONS)
    batch = 4 * (5 * 200 * columns + 3 * 200 * 2 * 64 + 2 * columns * 64)
    graph = 80 * 100
    expected = 5 * weights + graph + batch
    assert estimate_bytes(spec, ENTITIES, RELATIONS, settings, train) == expected


def test_estimate_counts_matrices_of_tucker():
    spec, train = get_model("tucker"), np.zeros((272_115, 3), np.int32)
    settings = {**spec.preset(FB15K237[0], len(train)), "batch_size": 2048}
    plain = dataclasses.replace(spec, activations=None)
    counted, less = (estimate_bytes(x, *FB15K237, settings, train) for x in (spec, plain))
    assert counted - less == 4 * 4 * 2048 * 128**2


# MB of a process for a batch of HittER with the large preset, beyond weights, slopes and optimiser, where every entity
# has its 50 neighbours
@pytest.mark.parametrize(("rows", "measured"), [(32, 1144), (64, 2106)])
def test_estimate_of_hitter_is_what_was_measured(rows, measured):
    spec = get_model("hitter")
    settings = {**spec.preset(FB15K237[0], 272_115), "batch_size": rows}
    assert spec.activations(settings, 272_115) * 4e-6 == pytest.approx(measured, rel=0.08)
    wide = {**settings, "embedding_dim": 640}
    assert spec.activations(wide, 272_115) > 1.8 * spec.activations(settings, 272_115)
    assert spec.activations(settings, 8) == spec.activations({**settings, "batch_size": 16}, 272_115)


@pytest.mark.parametrize(
    "changed", [{}, {"embedding_dim": 48, "heads": 2}, {"pair_layers": 3, "neighbours": 8}, {"context_layers": 3}]
)
def test_estimate_of_hitter_covers_what_a_step_keeps_where_nobody_lacks_neighbours(changed):
    """What is kept for the way back is three quarters of what a process takes."""
    spec, few = (get_model("hitter"), {"pair_layers": 1, "context_layers": 1, "batch_size": 16, "neighbours": 20})
    settings = {**spec.preset(FB15K237[0], 272_115), **few, "embedding_dim": 32, **changed}
    entity = np.repeat(np.arange(ENTITIES), 20)
    near = (entity + np.tile(np.arange(1, 21), ENTITIES)) % ENTITIES
    train = np.stack([entity, near % RELATIONS, near], 1)
    kept = kept_bytes(spec, settings, train)
    assert 1.2 * kept < 4 * spec.activations(settings, len(train)) < 1.6 * kept


def kept_bytes(spec, settings, train):
    """Bytes of what the first step keeps for its way back, without weights."""
    model = build_model(spec, ENTITIES, RELATIONS, settings, 0, train).train()
    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
    common, kept = common_settings(settings), {}

    def keep(tensor):
        if (place := tensor.untyped_storage()).data_ptr() not in weights:
            kept[place.data_ptr()] = place.nbytes()
        return tensor

    with torch.random.fork_rng():
        torch.manual_seed(0)
        batches = BATCHES[common["objective"]](train, ENTITIES, common, "cpu")
        batch = next(iter(batches.draw()))
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            loss = batches.loss(spec, model, batch)  # as long as it lives, no place is used twice
    assert loss.requires_grad
    return sum(kept.values())


def test_check_memory_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(free_memory, "free_bytes", lambda device: 20_000_000_000)
    spec = get_model("transe")
    settings = {**spec.preset(1_000_000, 20_000_000), "embedding_dim": 4096}
    message = (
        r"TransE with embedding_dim 4096 on 1,000,000 entities needs about 8\d GB, 20 GB are free: "
        r"lower embedding_dim or batch_size"
    )
    with pytest.raises(ValueError, match=message):
        check_memory(spec, 1_000_000, 800, settings, ring(), "cpu")


def test_check_memory_fits(monkeypatch):
    spec = get_model("transe")
    settings, train = spec.preset(ENTITIES, ENTITIES), ring()
    needed = estimate_bytes(spec, ENTITIES, RELATIONS, settings, train)
    for free in (needed, None):
        monkeypatch.setattr(free_memory, "free_bytes", lambda device, free=free: free)
        assert check_memory(spec, ENTITIES, RELATIONS, settings, train, "cpu") == needed


def test_check_memory_counts_a_copy_that_adagrad_makes_on_a_gpu(monkeypatch):
    monkeypatch.setattr(free_memory, "free_bytes", lambda device: None)
    spec, train = get_model("distmult"), ring()
    settings = {**spec.preset(ENTITIES, len(train)), "embedding_dim": 64}
    for optimizer, copies in (("adagrad", 1), ("adam", 0), ("sparse-adagrad", 0)):
        chosen = {**settings, "optimizer": optimizer}
        cpu, gpu = (check_memory(spec, ENTITIES, RELATIONS, chosen, train, device) for device in ("cpu", "cuda"))
        assert gpu - cpu == copies * 4 * 64 * (ENTITIES + 2 * RELATIONS)


@pytest.mark.parametrize("name", MODELS)
def test_what_a_job_is_said_to_need_is_never_more_than_the_estimate(name):
    """Otherwise a job that fits would wait for ever."""
    graph = Graph(num_entities=20_000, num_relations=11, num_train=len(ring(20_000, 11)))

    settings = dict(resolve_settings(name, 20_000, 20_000, {}))
    system = System(graph=graph, kind=name, settings={**settings, "device": "auto"})
    least = training_needs(None, system, None)
    spec = get_model(name)
    assert 0 < least <= estimate_bytes(spec, 20_000, 11, settings, ring(20_000, 11))
    system.settings["device"] = "cpu"
    assert training_needs(None, system, None) == 0
