"""Train any other model of PyKEEN by its class name (`pykeen:PairRE`), scored by its own interaction, slowly.

Query and feature are the model's representations of head and relation, and of the tail, laid out flat; the interaction
compares them block by block, as `score_t` does with all at once. Relations are reciprocal, as for all systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pooling.systems.spec import Settings, SystemSpec, from_pykeen

if TYPE_CHECKING:
    from torch import Tensor

PREFIX = "pykeen:"
# those of PyKEEN's classes that can be built from triples and a dimension alone
MODELS = (
    "AutoSF", "BoxE", "CompGCN", "ComplEx", "ConvE", "ConvKB", "CP", "CrossE", "DistMA", "DistMult", "ERMLP", "ERMLPE",
    "HolE", "KG2E", "MuRE", "NodePiece", "NTN", "PairRE", "ProjE", "QuatE", "RESCAL", "RotatE", "SE", "SimplE",
    "TorusE", "TransD", "TransE", "TransF", "TransH", "TransR", "TuckER", "UM",
)  # fmt: skip


def pykeen_model(name: str) -> SystemSpec:
    """Return the system `pykeen:CLASS`, in whatever case; ValueError names near classes if none fits."""
    label = _class_called(name.removeprefix(PREFIX))

    def build(info: Any, settings: Settings, seed: int) -> Any:
        try:
            return from_pykeen(label)(info, settings, seed)
        except Exception as error:  # each model has demands of its own
            raise ValueError(
                f"PyKEEN cannot build {label} from triples and embedding_dim={settings['embedding_dim']} alone: {error}"
            ) from error

    return SystemSpec(
        name=f"{PREFIX}{label}",
        label=f"{label} (PyKEEN)",
        family="other",
        description=f"PyKEEN's {label} with PyKEEN's own settings, scored by its own function: slower than the others.",
        source=f"PyKEEN 1.11, pykeen.models.{label}",
        formula="the interaction function of the model",
        build=build,
        query=query,
        features=features,
        form="model",
        compare=compare,
        needs_train=True,
        large={"learning_rate": 0.003, "optimizer": "adam", "embedding_dim": 64},
    )


def query(model: Any, entity: Tensor, relation: Tensor) -> Tensor:
    """Return the representations of head and relation, flat, [B, q]."""
    heads = [model.entity_representations[i] for i in model.interaction.head_indices]
    parts = [table(entity) for table in heads] + [table(relation) for table in model.relation_representations]
    return _flat(parts)


def features(model: Any) -> tuple[Tensor, None]:
    """Return the representations of the tails, flat, [E, f], and no bias."""
    tails = [model.entity_representations[i] for i in model.interaction.tail_indices]
    return _flat([table(None) for table in tails]), None


def compare(model: Any, query: Tensor, features: Tensor) -> Tensor:
    """Score queries [B, 1, q] and features [1 or B, n, f] by the interaction: [B, n]."""
    entities, net = model.entity_representations, model.interaction
    heads = [entities[i] for i in net.head_indices]
    both = _parts(query, [*heads, *model.relation_representations])
    tails = _parts(features, [entities[i] for i in net.tail_indices])
    h, r, t = (x[0] if len(x) == 1 else x for x in (both[: len(heads)], both[len(heads) :], tails))
    scores: Tensor = net(h=h, r=r, t=t)
    return scores.expand(query.shape[0], features.shape[1])


def _flat(parts: Sequence[Tensor]) -> Tensor:
    """Lay out tensors [B, *shape], real or complex, as one [B, q]."""
    import torch

    return torch.cat([(torch.view_as_real(x) if x.is_complex() else x).reshape(len(x), -1) for x in parts], 1)


def _parts(flat: Tensor, tables: Sequence[Any]) -> list[Tensor]:
    """Take apart what `_flat` laid out, [*, *, q], into tensors [*, *, *shape] of the tables."""
    import torch

    parts, start = [], 0
    for table in tables:
        is_complex = getattr(table, "is_complex", False)
        shape = (*table.shape, 2) if is_complex else table.shape
        end = start + torch.Size(shape).numel()
        part = flat[..., start:end].unflatten(-1, shape) if shape else flat[..., start]
        parts.append(torch.view_as_complex(part.contiguous()) if is_complex else part)
        start = end
    return parts


def _class_called(text: str) -> str:
    known = {label.lower(): label for label in MODELS}
    if text.lower() not in known:
        near = get_close_matches(text.lower(), known, n=3)
        hint = f"did you mean {' or '.join(PREFIX + known[x] for x in near)}? " if near else ""
        raise ValueError(
            f"PyKEEN has no model {text!r} that can be built from triples alone: {hint}there are {', '.join(MODELS)}"
        )
    return known[text.lower()]
