"""Read what `PipelineResult.save_to_directory` of PyKEEN wrote: trained_model.pkl and training_triples/."""

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pooling.systems.pykeen_model import MODELS, PREFIX
from pooling.training.outside.base import ENTITY, TABLE, ModelError, OutsideModel, file_of, in_order
from pooling.training.outside.inert import Inert, read_inert

if TYPE_CHECKING:
    from torch import Tensor

# classes whose scores one of our systems gives by a quicker form; TransE depends on its norm
OURS = {"DistMult": "distmult", "ComplEx": "complex", "RotatE": "rotate", "RESCAL": "rescal", "ConvE": "conve"}
TRANSE = {1: "transe-l1", 2: "transe"}


def read(folder: Path) -> OutsideModel:
    """Return the model of a folder; ModelError says what is missing or cannot be read."""
    path = file_of(folder, "trained_model.pkl")
    entities, relations = (
        _keys(folder / "training_triples" / f"{name}_to_id.tsv.gz") for name in ("entity", "relation")
    )
    model = read_inert(path)
    if not isinstance(model, Inert) or not model.made_by.startswith("pykeen.models."):
        raise ModelError(f"{path.name} holds no model of PyKEEN: it is what PipelineResult.save_to_directory writes.")
    label, state = model.made_by.rpartition(".")[2], dict(_tensors(model))
    kind = _kind(label, model)
    width = state[ENTITY + TABLE].shape[1] if ENTITY + TABLE in state else 0
    settings: dict[str, Any] = {"embedding_dim": width // (2 if kind in ("complex", "rotate") else 1)}
    if kind == "conve" and (maps := state.get("interaction.hr2d.2.weight")) is not None:
        settings["channels"] = len(maps)
    own = {name: value for name, value in state.items() if ".regularizer." not in name}
    return OutsideModel(kind, settings, own, entities, relations, f"PyKEEN's {label}")


def _keys(path: Path) -> list[str]:
    """Return the names of a table `id, label`, in order of their ids."""
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            pairs = [(int(row["id"]), row["label"]) for row in csv.DictReader(file, delimiter="\t")]
    except (OSError, EOFError, UnicodeDecodeError, KeyError, TypeError, ValueError, csv.Error) as error:
        raise ModelError(
            f"{path.parent.name}/{path.name} cannot be read ({error}): it says which row of the model is which; save "
            "the result of the pipeline with save_training=True, from triples with labels."
        ) from error
    return in_order(pairs, f"{path.parent.name}/{path.name}")


def _tensors(module: Inert, before: str = "") -> "Iterator[tuple[str, Tensor]]":
    """Yield the weights of a module by the names that its state_dict would have."""
    import torch

    state = module.state
    if state.get("normalizer") is not None:
        raise ModelError(f"{before.rstrip('.')} normalises its vectors whenever it is asked, which is not supported.")
    hidden = state.get("_non_persistent_buffers_set") or ()
    for name, value in {**(state.get("_parameters") or {}), **(state.get("_buffers") or {})}.items():
        if isinstance(value, torch.Tensor) and name not in hidden:
            yield before + name, value.detach()
    for name, child in (state.get("_modules") or {}).items():
        if isinstance(child, Inert):
            yield from _tensors(child, f"{before}{name}.")


def _kind(label: str, model: Inert) -> str:
    if label == "TransE":
        interaction = (model.state.get("_modules") or {}).get("interaction")
        norm = interaction.state.get("p") if isinstance(interaction, Inert) else None
        if norm not in TRANSE:
            raise ModelError(f"This TransE has the norm {norm}: 1 and 2 are ranked here.")
        return TRANSE[norm]
    if label in OURS:
        return OURS[label]
    if label in MODELS:
        return PREFIX + label
    raise ModelError(
        f"Models of PyKEEN's class {label} cannot be imported. Write its predictions and import them with import_run."
    )
