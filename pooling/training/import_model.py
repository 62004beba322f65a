"""Make a system of a model that another program trained: our code then ranks it like our own."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from django.contrib.auth.models import User

from core.callbacks import UNWATCHED, Watch
from core.database import held, named_once
from core.files.artifacts import artifact_path, sha256_of
from core.files.storage import delete, publish
from core.people.audit_log import record
from pooling.enums import PoolingAct, SystemState
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Graph, System
from pooling.training.attempts import new_folder, not_written
from pooling.training.outside.base import ENTITY, RELATION, TABLE, ModelError, OutsideModel
from pooling.training.train import check_name, resolve

if TYPE_CHECKING:
    from torch import Tensor

SAMPLE = 2000  # validation triples that are ranked: an import that went wrong has an MRR near 0


def import_model(
    graph: Graph, model: OutsideModel, *, name: str, user: User | None = None, watch: Watch = UNWATCHED
) -> System:
    """Make a trained system of a model, with its validation MRR; ModelError says what does not fit. Then nothing stays.

    Entities and relations are found by their keys; the model must have exactly those of the graph.
    """
    from pooling.scoring.checkpoints import BEST, write_checkpoint

    check_name(graph, name)
    arrays = open_graph(graph)
    settings = resolve(graph, model.kind, model.settings)
    state = _fitted(model, arrays, settings)
    with named_once(lambda: check_name(graph, name)):
        held(graph)
        fields = {"kind": model.kind, "settings": {**settings, "device": "auto"}, "state": SystemState.WAITING}
        system = System.every.create(graph=graph, name=name, artifact="", **fields)
    relative = new_folder(system)
    folder = artifact_path(relative)
    try:
        write_checkpoint(folder / BEST, {"model": state, "epoch": 0, "identity": f"imported: {model.words}"})
        mrr = _validation_mrr(folder, model.kind, arrays, settings, watch)
        done: dict[str, Any] = {"state": SystemState.TRAINED, "artifact": relative, "sha256": sha256_of(folder / BEST)}
        done |= {"note": f"imported: {model.words}"[:300], "validation_mrr": mrr}
        publish(relative)
        System.every.filter(pk=system.pk).update(**done)
    except BaseException as error:
        delete(relative)
        System.every.filter(pk=system.pk).delete()
        if isinstance(error, OSError):
            raise not_written(system, error) from error
        raise
    record(user, PoolingAct.MODEL_IMPORTED, about=str(system), kind=model.kind, words=model.words)
    system.refresh_from_db()
    return system


def _validation_mrr(
    folder: Path, kind: str, graph: GraphArrays, settings: dict[str, Any], watch: Watch
) -> float | None:
    from pooling.scoring.ranking import validation_mrr
    from pooling.scoring.ranks import NotFinite
    from pooling.scoring.scorer import load_scorer

    try:
        scorer = load_scorer(kind, folder, *graph.shape, settings, train=graph.train)
        return validation_mrr(scorer, graph.train, graph.valid, graph.shape[1], size=SAMPLE, seed=0, watch=watch)
    except NotFinite as error:
        raise ModelError(f"The model gives scores that are no numbers: {error}. Nothing was imported.") from error


def _fitted(model: OutsideModel, graph: GraphArrays, settings: dict[str, Any]) -> "dict[str, Tensor]":
    """Return the weights in the order of the graph, with reciprocal relations; ModelError names what does not fit."""
    import torch

    from pooling.scoring.scorer import build_model
    from pooling.systems import get_model

    entity = _rows(model.entities, graph.entities, "entities")
    relation = _rows(model.relations, graph.relations, "relations")
    pairs = (2 * relation[:, None] + np.arange(2)).ravel()
    own, spec = {}, get_model(model.kind)
    given = model.state
    count = len(given[RELATION + TABLE]) if RELATION + TABLE in given else len(pairs)
    if count == len(relation):
        given = {**given, RELATION + TABLE: _with_inverses(model, given[RELATION + TABLE])}
    for key, tensor in given.items():
        own[key] = tensor
        order = entity if key.startswith(ENTITY) else pairs if key.startswith(RELATION) else None
        if order is not None and tensor.ndim:
            if len(tensor) != len(order):
                raise ModelError(
                    f"{key} has {len(tensor):,} rows, the model has {len(order):,} "
                    f"{'entities' if order is entity else 'relations with their inverses'}."
                )
            own[key] = tensor[torch.from_numpy(order)]
    try:
        wanted = build_model(spec, *graph.shape, settings, seed=0, train=graph.train).state_dict()
    except ValueError as error:
        raise ModelError(f"{error}.") from error
    own |= {key: value for key, value in wanted.items() if ".regularizer." in key}  # which no score needs
    _check_shapes(own, wanted, spec.label)
    for key, tensor in own.items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise ModelError(f"{key} holds values that are no numbers (NaN or infinite). Nothing was imported.")
    return {key: own[key].to(value.dtype).contiguous() for key, value in wanted.items()}


def _rows(names: Sequence[str], wanted: Sequence[str], what: str) -> np.ndarray:
    """Return which row of the model each entity or relation of the graph has, int64[n]."""
    at, known = {name: row for row, name in enumerate(names)}, set(wanted)
    for problem, some in (
        (f"{what} that the graph has not", [name for name in at if name not in known]),
        (f"no rows for {what} of the graph", [name for name in wanted if name not in at]),
    ):
        if some:
            shown = ", ".join(some[:3]) + (", …" if len(some) > 3 else "")
            raise ModelError(
                f"The model has {problem}: {len(some):,} ({shown}). It must have been trained on this graph, with "
                "the same keys. Nothing was imported."
            )
    if len(at) != len(names):
        raise ModelError(f"The model names {len(names) - len(at):,} {what} twice. Nothing was imported.")
    return np.array([at[name] for name in wanted], np.int64)


def _with_inverses(model: OutsideModel, table: "Tensor") -> "Tensor":
    """Return rows of R relations [R, …] as 2R inverse-aware ones: the second of a pair turns the first around.

    For these scoring functions, the score of (h, r, t) is that of (t, r⁻¹, h), so both questions keep their ranks.
    """
    import torch

    kind = model.kind
    if kind in ("transe", "transe-l1"):
        inverse = -table
    elif kind == "distmult":
        inverse = table
    elif kind in ("complex", "rotate", "rotate-moduli"):  # the conjugate
        inverse = table * torch.tensor([1.0, -1.0]).repeat(table.shape[1] // 2)
    elif kind == "rescal" and round(table.shape[1] ** 0.5) ** 2 == table.shape[1]:
        side = round(table.shape[1] ** 0.5)
        inverse = table.reshape(-1, side, side).transpose(1, 2).reshape(len(table), -1)
    else:
        raise ModelError(
            f"{model.words} was trained without inverse relations. Our pass asks for heads by inverse relations, which "
            f"do not follow from the others in {kind}: train it with them, or import its predictions with import_run."
        )
    return torch.stack([table, inverse], dim=1).reshape(2 * len(table), -1)


def _check_shapes(own: "dict[str, Tensor]", wanted: "dict[str, Tensor]", label: str) -> None:
    wrong = [key for key in wanted if key not in own or own[key].shape != wanted[key].shape]
    more = [key for key in own if key not in wanted]
    if wrong or more:
        key = (wrong or more)[0]
        has, needs = (tuple(of[key].shape) if key in of else "none" for of in (own, wanted))
        raise ModelError(
            f"The weights do not fit {label}: {key} has the shape {has}, and {needs} is needed "
            f"({len(wrong) + len(more)} such). Models with other options than the usual ones cannot be imported: let "
            "the other program rank, and import its predictions with import_run."
        )
