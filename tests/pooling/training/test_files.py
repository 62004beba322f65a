"""Weights and embeddings to take away are those of the checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO

import numpy as np
import pytest
import torch

from core.files.artifacts import ArtifactError, artifact_path
from pooling.graphs.opening import open_graph
from pooling.models import Graph, System
from pooling.scoring.checkpoints import read_checkpoint
from pooling.scoring.scorer import build_model
from pooling.systems import SYSTEMS, get_model, resolve_settings
from pooling.systems.spec import SystemSpec
from pooling.training.files import FILES, SystemFileError, embeddings, has_files, open_file, without_aliases
from tests.factories import make_system

ENTITIES = "entity_representations.0._embeddings.weight"
RELATIONS = "relation_representations.0._embeddings.weight"


@pytest.fixture
def system(town: Graph) -> System:
    return make_system(town, "complex")


@pytest.fixture
def weights(system: System) -> Iterator[dict[str, torch.Tensor]]:
    yield read_checkpoint(artifact_path(system.artifact) / "best.pt")["model"]


def content(system: System, name: str) -> bytes:
    with open_file(system, name) as file:
        return file.read()


def test_weights_are_those_of_the_best_epoch_by_name(system: System, weights):
    from safetensors.torch import load

    given = content(system, "weights.safetensors")
    loaded = load(given)
    assert sorted(loaded) == sorted(weights)
    assert all(torch.equal(loaded[name], weights[name]) for name in weights)
    about = json.loads(given[8 : 8 + int.from_bytes(given[:8], "little")])["__metadata__"]
    assert (about["graph"], about["system"], about["checkpoint_sha256"]) == ("town", "complex", system.sha256)


def test_embeddings_have_a_row_for_each_name(system: System, weights):
    graph = open_graph(system.graph)
    entities = np.load(BytesIO(content(system, "entities.npy")), allow_pickle=False)
    relations = np.load(BytesIO(content(system, "relations.npy")), allow_pickle=False)
    assert np.array_equal(entities, weights[ENTITIES].numpy())
    assert np.array_equal(relations, weights[RELATIONS].numpy())
    names = content(system, "entities.tsv").decode().splitlines()
    assert names[0] == "row\tentity\tlabel"
    assert names[1:] == [f"{i}\t{key}\t{graph.label(i)}" for i, key in enumerate(graph.entities)]
    asked = content(system, "relations.tsv").decode().splitlines()[1:]
    assert len(asked) == len(relations) == 2 * graph.num_relations
    assert asked[2:4] == [f"2\t{graph.relations[1]}\ttail", f"3\t{graph.relations[1]}\thead"]


def test_tables_stand_side_by_side_in_order_of_their_names():
    weights = {
        "vectors.b": torch.arange(6.0).reshape(3, 2),
        "vectors.a": torch.ones(3),
        "vectors.r": torch.ones(4, 2),
        "nets.layer.weight": torch.ones(3, 3),
        "vectors.filters": torch.ones(3, 1, 2, 2),
    }
    found = embeddings(weights, 3)
    assert [(name, table.shape) for name, table in found.items()] == [("vectors.a", (3, 1)), ("vectors.b", (3, 2))]
    assert found["vectors.b"].tolist() == [[0, 1], [2, 3], [4, 5]]


def state_of(name: str, entities: int, relations: int) -> dict[str, torch.Tensor]:
    """Weights of a small model that has learned nothing."""
    train = np.random.default_rng(0).integers([entities, relations, entities], size=(30, 3))
    settings = resolve_settings(name, entities, len(train), {"embedding_dim": 8})
    return build_model(get_model(name), entities, relations, settings, 0, train).state_dict()


@pytest.mark.parametrize("name", [name for name, entry in SYSTEMS.items() if isinstance(entry, SystemSpec)])
def test_weights_of_every_system_can_be_written(name: str):
    from safetensors.torch import load, save

    state = state_of(name, 9, 3)
    loaded = load(save(without_aliases(state)))
    places = [(t.data_ptr(), t.shape) for t in state.values()]
    assert sorted(set(places)) == sorted((state[kept].data_ptr(), state[kept].shape) for kept in loaded)
    assert all(torch.equal(loaded[kept], state[kept]) for kept in loaded)
    entities, relations = (embeddings(without_aliases(state), rows) for rows in (9, 6))
    assert entities and relations


def test_tensors_with_two_names_are_given_once(town: Graph):
    from safetensors.torch import load

    system = make_system(town, "compgcn")
    loaded = load(content(system, "weights.safetensors"))
    weights = read_checkpoint(artifact_path(system.artifact) / "best.pt")["model"]
    table = "entity_representations.0.combined.entity_representations._embeddings.weight"
    assert not [name for name in loaded if name.startswith("relation_representations")]
    assert torch.equal(loaded[table], weights[table])
    entities = np.load(BytesIO(content(system, "entities.npy")), allow_pickle=False)
    relations = np.load(BytesIO(content(system, "relations.npy")), allow_pickle=False)
    assert np.array_equal(entities, weights[table].numpy())
    assert relations.shape == (2 * town.num_relations, 8)


def test_empty_tensors_and_parts_of_one_are_no_aliases():
    from safetensors.torch import load, save

    whole = torch.zeros(4, 2)
    state = {"a": torch.ones(0), "b": torch.ones(0), "whole": whole, "top": whole[:2], "again": whole}
    assert sorted(load(save(without_aliases(state)))) == ["a", "b", "top", "whole"]


@pytest.mark.parametrize(
    ("name", "relations", "tables"),
    [
        ("hake", 1, ["relation_bias", "relation_modulus", "relation_phase"]),  # two λ, two inverse-aware relations
        ("hitter", 2, ["relation"]),  # four kinds of token
    ],
)
def test_vectors_of_something_else_are_no_table(name: str, relations: int, tables: list[str]):
    found = embeddings(state_of(name, 9, relations), 2 * relations)
    assert list(found) == [f"vectors.{table}" for table in tables]


def test_nothing_is_left_on_the_disk(system: System):
    folder = artifact_path(system.artifact)
    before = sorted(folder.iterdir())
    for name in FILES:
        assert content(system, name)
    assert sorted(folder.iterdir()) == before


def test_a_system_that_is_not_trained_has_no_files(town: Graph):
    system = make_system(town, "transe", trained=False)
    assert has_files(system) is False
    with pytest.raises(SystemFileError) as caught:
        open_file(system, "weights.safetensors")
    assert str(caught.value) == "transe is not trained yet: its files come with the end of its training."


def test_tables_that_cannot_be_told_apart_are_refused(system: System):
    assert has_files(system) is True
    system.graph.num_relations, system.graph.num_entities = 5, 10
    with pytest.raises(SystemFileError, match=r"so their tables cannot be told apart\. Download the weights"):
        open_file(system, "entities.npy")


def test_a_checkpoint_that_is_not_the_one_of_the_row_is_not_given_away(system: System):
    (artifact_path(system.artifact) / "best.pt").write_bytes(b"another")
    with pytest.raises(ArtifactError, match="is not the file that was written"):
        open_file(system, "weights.safetensors")


def test_a_full_disk_is_said(system: System, monkeypatch):
    def full(system: System, path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(FILES, "entities.tsv", full)
    with pytest.raises(ArtifactError) as caught:
        open_file(system, "entities.tsv")
    assert str(caught.value) == (
        "entities.tsv of complex could not be written: No space left on device. Free some disk space and repeat."
    )
