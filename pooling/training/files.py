"""Write what a trained system learned to files: weights (safetensors), embeddings (npy), their names (TSV).

They are read from the checkpoint without running any code from it, and written by libraries that store plain numbers.
"""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from core.errors import UserError
from core.files.artifacts import ArtifactError
from core.files.storage import checked, local
from pooling.enums import SystemState
from pooling.graphs.opening import open_graph
from pooling.models import System
from pooling.systems import SYSTEMS
from pooling.systems.spec import Entry, SystemSpec

if TYPE_CHECKING:
    from torch import Tensor

NOT_TRAINED = "{} is not trained yet: its files come with the end of its training."


class SystemFileError(UserError):
    """The system does not have such a file, or not yet."""


def open_file(system: System, name: str) -> IO[bytes]:
    """Write the file called `name` (a key of FILES) and return it open; it is deleted when it is closed."""
    if system.is_imported:
        raise SystemFileError(f"{system.name} was imported as a run: its weights are not here.")
    if system.state != SystemState.TRAINED or not system.sha256:
        raise SystemFileError(NOT_TRAINED.format(system.name))
    if not _learns_vectors(system):
        raise SystemFileError(f"{system.name} learns no vectors: its page shows what it has learned.")
    checkpoint = checked(system.artifact, Entry.weights, system.sha256)
    try:
        with tempfile.TemporaryDirectory(dir=checkpoint.parent) as folder:
            path = Path(folder) / name
            FILES[name](system, path)
            return path.open("rb")
    except OSError as error:
        raise ArtifactError(
            f"{name} of {system.name} could not be written: {error.strerror or error}. Free some disk space and repeat."
        ) from error


def has_files(system: System) -> bool:
    """Tell whether open_file has files of the system."""
    return system.state == SystemState.TRAINED and bool(system.sha256) and _learns_vectors(system)


def _learns_vectors(system: System) -> bool:
    # a kind that this installation does not know has a checkpoint all the same
    return isinstance(SYSTEMS.get(system.kind), SystemSpec | None)


def _weights(system: System) -> dict[str, "Tensor"]:
    from pooling.scoring.checkpoints import read_checkpoint

    state = read_checkpoint(local(system.artifact) / Entry.weights)["model"]
    return without_aliases(state)


def without_aliases(state: Mapping[str, "Tensor"]) -> dict[str, "Tensor"]:
    """Return each tensor once, by the first of its names, in memory of its own.

    CompGCN has its tensors twice, and safetensors refuses tensors that share memory.
    """
    names: dict[tuple[Any, ...], str] = {}
    for name, tensor in state.items():
        address = tensor.data_ptr() if tensor.numel() else name  # empty tensors have none
        names.setdefault((address, tensor.dtype, tensor.shape, tensor.stride()), name)
    return {name: _of_its_own(state[name]) for name in names.values()}


def _of_its_own(tensor: "Tensor") -> "Tensor":
    """Return a contiguous tensor that fills its memory: the tensor itself if it does, else a copy."""
    whole = tensor.untyped_storage().nbytes() == tensor.nbytes
    return (tensor if whole else tensor.clone()).contiguous()


def _write_weights(system: System, path: Path) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    about = {
        "graph": system.graph.name,
        "system": system.name,
        "kind": system.kind,
        "seed": str(system.seed),
        "settings": json.dumps(system.settings, sort_keys=True),
        "checkpoint_sha256": system.sha256,
        "format": "pt",
    }
    try:
        save_file(_weights(system), path, metadata=about)
    except SafetensorError as error:
        raise OSError(str(error)) from error


def _write_tables(system: System, path: Path, rows: int) -> None:
    """Write the tables with this many rows side by side, float[rows, d], in order of their names in the weights."""
    graph = system.graph
    if graph.num_entities == 2 * graph.num_relations:
        raise SystemFileError(
            f"Graph {graph.name} has {graph.num_entities:,} entities and the same number of relations with their "
            "inverses, so their tables cannot be told apart. Download the weights instead: there, each has a name."
        )
    found = embeddings(_weights(system), rows)
    if not found:
        raise SystemFileError(f"{system.name} has no such embeddings: take the weights.")
    with path.open("wb") as file:
        np.save(file, np.concatenate(list(found.values()), axis=1), allow_pickle=False)


def embeddings(weights: Mapping[str, "Tensor"], rows: int) -> dict[str, np.ndarray]:
    """Return the tables of `rows` vectors by name, sorted, float[rows, d]; complex numbers as two floats."""
    return {
        name: tensor.reshape(rows, -1).numpy()
        for name, tensor in sorted(weights.items())
        if name.endswith("_embeddings.weight") or name.startswith("vectors.")
        if tensor.ndim in (1, 2) and len(tensor) == rows
    }


def _write_entity_names(system: System, path: Path) -> None:
    graph = open_graph(system.graph)
    rows = [(str(i), graph.entities[i], graph.label(i)) for i in range(graph.num_entities)]
    _write_tsv(path, ("row", "entity", "label"), rows)


def _write_relation_names(system: System, path: Path) -> None:
    """Write two rows a relation: its tail is asked for in the first, its head in the second."""
    named = enumerate(open_graph(system.graph).relations)
    rows = [(str(2 * r + side), name, asked) for r, name in named for side, asked in enumerate(("tail", "head"))]
    _write_tsv(path, ("row", "relation", "asks for"), rows)


def _write_tsv(path: Path, head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in (head, *rows):
            file.write("\t".join(" ".join(cell.split()) for cell in row) + "\n")


FILES: dict[str, Callable[[System, Path], None]] = {
    "weights.safetensors": _write_weights,
    "entities.npy": lambda system, path: _write_tables(system, path, system.graph.num_entities),
    "entities.tsv": _write_entity_names,
    "relations.npy": lambda system, path: _write_tables(system, path, 2 * system.graph.num_relations),
    "relations.tsv": _write_relation_names,
}
