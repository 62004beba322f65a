"""TuckER: one core tensor, which all relations share, ties head, relation and tail together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pooling.systems.spec import Setting, SystemSpec, Value, from_pykeen, pair
from pooling.systems.transe import features

if TYPE_CHECKING:
    from torch import Tensor


def build(info: Any, settings: Mapping[str, Value], seed: int) -> Any:
    """Build PyKEEN's TuckER with batch normalisation; it is trained on logits, so no sigmoid is applied."""
    own = {f"dropout_{i}": settings[f"{part}_dropout"] for i, part in enumerate(("head", "relation", "output"))}
    return from_pykeen("TuckER", info, settings, seed, relation_dim=settings["relation_dim"], **own)


def query(model: Any, entity: Tensor, relation: Tensor) -> Tensor:
    """Return core ×₁ h ×₂ r with normalisation and dropout between, [B, d]."""
    net = model.interaction
    h, r = pair(model, entity, relation)
    h = net.head_dropout(net.head_batch_norm(h))
    core = net.core_tensor  # [d, p, d]
    # r [B, p] @ [p, d · d] -> a matrix of each row, [B, d, d]
    matrix = (r @ core.transpose(0, 1).flatten(1)).unflatten(1, (core.shape[0], core.shape[2]))
    x = (h.unsqueeze(1) @ net.relation_dropout(matrix)).squeeze(1)
    return net.head_relation_dropout(net.head_relation_batch_norm(x))


def activations(settings: Mapping[str, Value], triples: int) -> float:
    """Estimate the floats of a step: a matrix [d, d] of each row, what dropout leaves of it, and slopes.

    3 matrices were measured on a CPU.
    """
    return 4.0 * min(int(settings["batch_size"]), 2 * triples) * int(settings["embedding_dim"]) ** 2


def _share(what: str) -> Setting:
    return Setting(float, f"share of the {what} that is dropped while training", 0, 0.95)


SPEC = SystemSpec(
    name="tucker",
    label="TuckER",
    family="decomposition",
    description="Multiplies head, relation and tail into one core tensor that all relations share.",
    source="Balažević et al. (2019), TuckER: tensor factorization for knowledge graph completion, EMNLP",
    formula="W ×₁ h ×₂ r ×₃ t, W the core tensor; batch normalisation and dropout around the first product",
    note="Trained with cross-entropy, which learns faster from PyKEEN's large first core than the paper's binary one; "
    "large graphs have 128 and 64 numbers, not 200 and 200, since the core is the cost.",
    build=build,
    query=query,
    features=features,
    form="dot",
    activations=activations,
    small={
        "embedding_dim": 32,
        "relation_dim": 32,
        "learning_rate": 0.02,
        "head_dropout": 0.2,
        "relation_dropout": 0.2,
        "output_dropout": 0.3,
    },
    large={
        "embedding_dim": 128,
        "relation_dim": 64,
        "learning_rate": 0.003,
        "optimizer": "adam",
        "objective": "questions",
        "batch_size": 256,
        "decay": 0.1,
        "epochs": 20,
        "head_dropout": 0.3,
        "relation_dropout": 0.4,
        "output_dropout": 0.5,
    },
    extra_settings={
        "relation_dim": Setting(int, "numbers per relation", 2, 4096),
        "head_dropout": _share("head's vector"),
        "relation_dropout": _share("relation's matrix"),
        "output_dropout": _share("query vector"),
    },
)
