"""Read plain tables of vectors, as DGL-KE, PyTorch-BigGraph or anybody's own program can leave them.

A folder with entities.npy (or .safetensors) [E, …] and relations.npy [R or 2R, …], and entities.tsv and relations.tsv,
which say whose rows they are: a name a line, `row<TAB>name`, or what a system's page of this site lets people download.
"""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from core.files.lines import ON_SERVER, LinesError, lines_of
from pooling.training.outside.base import ModelError, OutsideModel, file_of, interleaved, two_tables

if TYPE_CHECKING:
    from torch import Tensor

# scoring functions by name: our kind, and floats per number of an entity
SCORES = {
    "distmult": 1, "complex": 2, "rescal": 1, "transe": 1, "transe-l1": 1, "rotate": 2, "rotate-moduli": 2,
}  # fmt: skip


class Names(NamedTuple):
    """Whose rows a table has; `asks` tail or head for each row of relations with their inverses, else empty."""

    names: list[str]
    asks: list[str]


def read(folder: Path, score: str, halves: bool = False) -> OutsideModel:
    """Return the model of a folder; `halves`: complex vectors have their real parts first, not in pairs."""
    if score not in SCORES:
        raise ModelError(f"Score {score[:80]!r}: give --score, one of {', '.join(SCORES)}.")
    entity, relation = (_table(folder, name) for name in ("entities", "relations"))
    floats = SCORES[score]
    if entity.shape[1] % floats:
        raise ModelError(f"The table of entities has {entity.shape[1]} columns: {score} has two for each number.")
    if score.startswith("rotate") and relation.shape[1] * 2 == entity.shape[1]:  # angles
        import torch

        relation = interleaved(torch.cat([relation.cos(), relation.sin()], dim=1))
    elif floats == 2 and halves:
        relation = interleaved(relation)
    if floats == 2 and halves:
        entity = interleaved(entity)
    entities, relations = (_names(folder / f"{name}.tsv") for name in ("entities", "relations"))
    for what, names, table in (("entities", entities, entity), ("relations", relations, relation)):
        if len(names.names) != len(table):
            raise ModelError(f"{what}.tsv names {len(names.names):,} rows, the table of {what} has {len(table):,}.")
    keys = relations.names
    if relations.asks:
        keys, relation = _both_sides(relations, relation)
    settings = {"embedding_dim": entity.shape[1] // floats}
    return OutsideModel(score, settings, two_tables(entity, relation), entities.names, keys, f"vectors of {score}")


def _table(folder: Path, name: str) -> "Tensor":
    """Return a table of floats [n, …], flat; ModelError says what is wrong with its file."""
    import numpy as np
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    path = file_of(folder, f"{name}.npy", f"{name}.safetensors")
    try:
        if path.suffix == ".npy":
            table = torch.from_numpy(np.load(path, allow_pickle=False))
        else:
            tensors = load_file(path)
            if len(tensors) != 1:
                raise ModelError(f"{path.name} holds {len(tensors)} tensors ({', '.join(tensors)[:200]}): leave one.")
            (table,) = tensors.values()
        if table.is_complex():
            table = torch.view_as_real(table)
        return table.float().reshape(len(table), -1)
    except (OSError, ValueError, TypeError, SafetensorError, RuntimeError) as error:
        raise ModelError(f"{path.name} holds no table of numbers: {error}.") from error


def _names(path: Path) -> Names:
    """Return the names of a file of one name a line, or of row, name and perhaps `tail` or `head`."""
    try:
        rows = [text.split("\t") for _, text in lines_of(path, ON_SERVER)]
    except LinesError as error:
        raise ModelError(f"{error} It says which row of the table is which.") from error
    if rows and rows[0][0] == "row":  # the head of a file of this site
        rows = rows[1:]
    numbered = bool(rows) and all(len(row) > 1 and row[0] == str(i) for i, row in enumerate(rows))
    names = [row[1] if numbered else row[0] for row in rows]
    asks = [row[2] if numbered and len(row) > 2 else "" for row in rows]
    return Names(names, asks if rows and all(one in ("tail", "head") for one in asks) else [])


def _both_sides(rows: Names, table: "Tensor") -> "tuple[list[str], Tensor]":
    """Return the names of relations, and their rows as pairs: tail asked for, head asked for."""
    at = {pair: i for i, pair in enumerate(zip(rows.names, rows.asks, strict=True))}
    names = list(dict.fromkeys(rows.names))
    order = [at.get((name, asked), -1) for name in names for asked in ("tail", "head")]
    if -1 in order or len(order) != len(table):
        raise ModelError("relations.tsv: name each relation twice, once with tail and once with head.")
    return names, table[order]
