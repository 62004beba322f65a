"""Read a checkpoint of LibKGE, or a package of one, with entity_ids.del and relation_ids.del beside it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.files.lines import ON_SERVER, LinesError, lines_of
from pooling.training.outside.base import ModelError, OutsideModel, file_of, in_order, interleaved, two_tables
from pooling.training.outside.inert import Inert, read_inert

if TYPE_CHECKING:
    from torch import Tensor

RECIPROCAL = "reciprocal_relations_model"
FILES = ("checkpoint_best.pt", "model_best.pt", "model_*.pt", "checkpoint_*.pt")


def read(folder: Path) -> OutsideModel:
    """Return the model of the best checkpoint in a folder; ModelError says what is missing or cannot be read."""
    path = file_of(folder, *FILES)
    saved = read_inert(path)
    options = saved["config"].state.get("options") if _is_checkpoint(saved) else None
    if not isinstance(options, dict):
        raise ModelError(f"{path.name} is no checkpoint of LibKGE: it has no model with its configuration.")
    model, is_reciprocal = str(options.get("model")), options.get("model") == RECIPROCAL
    if is_reciprocal:
        model = str(_option(options, RECIPROCAL, "base_model", "type"))
    state = saved["model"][0]
    entity, relation = (_table(state, name, path) for name in ("entity", "relation"))
    if is_reciprocal:  # r asks for the tail, R + r for the head
        half = len(relation) // 2
        relation = relation.reshape(2, half, -1).transpose(0, 1).reshape(2 * half, -1)
    based = _option(options, RECIPROCAL, "base_model", "l_norm") if is_reciprocal else None
    norm = _option(options, model, "l_norm") if based is None else based
    kind, tables = _ours(model, norm, entity, relation)
    words = f"LibKGE's {model}{', reciprocal' if is_reciprocal else ''}, epoch {saved.get('epoch', '?')}"
    meta = (saved.get("dataset") or {}).get("meta") or {}
    own = [meta.get(f"{name}_ids") or _keys(folder / f"{name}_ids.del") for name in ("entity", "relation")]
    entities, relations = ([*map(str, keys)] for keys in own)
    width = entity.shape[1] // (2 if kind in ("complex", "rotate", "rotate-moduli") else 1)
    return OutsideModel(kind, {"embedding_dim": width}, tables, entities, relations, words)


def _is_checkpoint(saved: Any) -> bool:
    is_one = isinstance(saved, dict) and isinstance(saved.get("config"), Inert)
    return is_one and isinstance(saved.get("model"), list | tuple) and isinstance(saved["model"][0], dict)


def _option(options: Any, *path: str) -> Any:
    for name in path:
        options = options.get(name) if isinstance(options, dict) else None
    return options


def _table(state: dict[str, Any], name: str, path: Path) -> "Tensor":
    import torch

    for key in (f"_{name}_embedder._embeddings.weight", f"_{name}_embedder.embeddings.weight"):
        for begin in ("", "_base_model."):
            if isinstance(found := state.get(begin + key), torch.Tensor) and found.ndim == 2:
                return found.detach().float()
    raise ModelError(f"{path.name} has no table of its {name} vectors: only lookup_embedder is read.")


def _ours(model: str, norm: Any, entity: "Tensor", relation: "Tensor") -> "tuple[str, dict[str, Tensor]]":
    """Return our kind of a model and its weights in our layout; ModelError if there is none."""
    import torch

    if model in ("distmult", "rescal"):
        return model, two_tables(entity, relation)
    if model == "transe" and norm in (1, 2):
        return ("transe-l1" if norm == 1 else "transe"), two_tables(entity, relation)
    if model == "complex":
        return model, two_tables(interleaved(entity), interleaved(relation))
    if model == "rotate" and norm in (1, 2):  # relations are angles there
        turned = interleaved(torch.cat([relation.cos(), relation.sin()], dim=1))
        return ("rotate-moduli" if norm == 1 else "rotate"), two_tables(interleaved(entity), turned)
    what = f"{model} with l_norm {norm:g}" if isinstance(norm, int | float) else model
    raise ModelError(
        f"LibKGE's {what} cannot be imported: TransE and RotatE (l_norm 1 or 2), DistMult, ComplEx and RESCAL can, "
        "with or without reciprocal relations. Let LibKGE rank, and import its predictions with import_run."
    )


def _keys(path: Path) -> list[str]:
    """Return the names of a file `id<TAB>name`, in order of their ids."""
    try:
        rows = [text.split("\t") for _, text in lines_of(path, ON_SERVER)]
        pairs = [(int(row[0]), row[1]) for row in rows]
    except (LinesError, ValueError, IndexError) as error:
        raise ModelError(
            f"{path.name} cannot be read ({error}): copy it from the folder of LibKGE's dataset."
        ) from error
    return in_order(pairs, path.name)
