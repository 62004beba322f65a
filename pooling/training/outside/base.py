"""What a reader of models gives: weights by the names of our own model, and whose rows they are."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from core.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor

ENTITY, RELATION = "entity_representations.", "relation_representations."  # begin the names of PyKEEN's tables
TABLE = "0._embeddings.weight"


class ModelError(UserError):
    """The files of a model cannot be imported."""


class OutsideModel(NamedTuple):
    """A model as another program left it.

    `state` has the names of PyKEEN's model of this `kind` (registry of systems). Rows of tensors under ENTITY belong
    to `entities`, those under RELATION to `relations` (R), or to 2R inverse-aware ones: 2r asks for the tail of r,
    2r + 1 for its head. `settings` are those that say how the model is built; `words` where it came from.
    """

    kind: str
    settings: Mapping[str, Any]
    state: "dict[str, Tensor]"
    entities: Sequence[str]
    relations: Sequence[str]
    words: str


def file_of(folder: Path, *names: str) -> Path:
    """Return the first of these files that the folder has, patterns allowed; ModelError says what is missing."""
    for name in names:
        if found := sorted(folder.glob(name)):
            return found[-1]
    raise ModelError(f"{folder} has no {' or '.join(names)}: give the folder that holds it.")


def in_order(pairs: Sequence[tuple[int, str]], file: str) -> list[str]:
    """Return names in order of their ids; ModelError unless the ids are 0 to n - 1, each once."""
    rows = dict(pairs)
    if sorted(rows) != list(range(len(pairs))):
        raise ModelError(f"{file}: ids are not 0 to {len(pairs) - 1:,}, each once.")
    return [rows[i] for i in range(len(rows))]


def two_tables(entity: "Tensor", relation: "Tensor") -> "dict[str, Tensor]":
    """Return the state of a model with one table of entities [E, …] and one of relations [R or 2R, …]."""
    return {ENTITY + TABLE: entity, RELATION + TABLE: relation}


def interleaved(halves: "Tensor") -> "Tensor":
    """Return complex vectors [n, 2d], real parts first and then imaginary ones, as pairs of both, [n, 2d]."""
    import torch

    return torch.stack(halves.chunk(2, dim=1), dim=2).flatten(1)
