"""Memory is estimated before anything is built, and what does not fit is refused with the figures."""

import dataclasses

import numpy as np
import pytest
import torch

from pooling.kernels import memory
from pooling.kernels.memory import check_memory, estimate_bytes, in_words
from pooling.kernels.scorer import build_model
from pooling.systems import SYSTEMS, SystemSpec, get_model

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
    (
        "name",
        "measured",
    ),  # peak of 6 batches and a validation with the preset, beyond what the libraries hold: MB
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


@pytest.mark.parametrize(
    ("rows", "measured"), [(32, 707), (64, 1390)]
)  # MB of a batch of HittER, large preset
def test_estimate_of_hitter_is_what_was_measured(rows, measured):
    spec = get_model("hitter")
    settings = {**spec.preset(FB15K237[0], 272_115), "batch_size": rows}
    assert spec.activations(settings, 272_115) * 4e-6 == pytest.approx(measured, rel=0.05)
    wide = {**settings, "embedding_dim": 640}
    assert spec.activations(wide, 272_115) > 1.8 * spec.activations(settings, 272_115)
    assert spec.activations(settings, 8) == spec.activations({**settings, "batch_size": 16}, 272_115)


def test_free_bytes_of_a_gpu_are_read_after_freed_blocks_are_given_back(monkeypatch):
    calls = []
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: calls.append("empty"))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: calls.append(device) or (7, 9))
    assert memory.free_bytes("cuda:0") == 7
    assert calls == ["empty", "cuda:0"]


def test_check_memory_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda device: 20_000_000_000)
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
        monkeypatch.setattr(memory, "free_bytes", lambda device, free=free: free)
        assert check_memory(spec, ENTITIES, RELATIONS, settings, train, "cpu") == needed


def test_free_bytes_within_this_machine():
    free = memory.free_bytes("cpu")
    assert free is not None and 10_000_000 < free < 1 << 50


def test_free_bytes_in_a_container_counts_cached_files_as_free(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "GROUP", tmp_path)
    (tmp_path / "memory.max").write_text("9000000\n")
    (tmp_path / "memory.current").write_text("8500000\n")
    (tmp_path / "memory.stat").write_text(
        "anon 1500000\nfile 7000000\ninactive_anon 5\ninactive_file 6000000\nactive_file 800000\n"
    )
    assert memory.free_bytes("cpu") == 500_000 + 6_800_000
    (tmp_path / "memory.max").write_text("max\n")
    free = memory.free_bytes("cpu")
    assert free is not None and free > 9_000_000  # that of the machine


@pytest.mark.parametrize(
    ("number", "words"),
    [(-5, "0 MB"), (1_400_000, "1 MB"), (1_530_000_000, "1.5 GB"), (49_400_000_000, "49 GB")],
)
def test_in_words(number, words):
    assert in_words(number) == words
