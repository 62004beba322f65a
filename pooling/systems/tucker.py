"""TuckER: one core tensor, which all relations share, ties head, relation and tail together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pooling.systems.spec import ADAM, Setting, Settings, SystemSpec, from_pykeen, pair
from pooling.systems.transe import features

if TYPE_CHECKING:
    from torch import Tensor

# of PyKEEN's class, and the settings that they are
ARGUMENTS = {"dropout_0": "head_dropout", "dropout_1": "relation_dropout", "dropout_2": "output_dropout"}


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


def activations(settings: Settings, triples: int) -> float:
    """Estimate the floats of a step: a matrix [d, d] of each row, what dropout leaves of it, and slopes.

    3 matrices were measured on a CPU.
    """
    return 4.0 * min(settings["batch_size"], 2 * triples) * settings["embedding_dim"] ** 2


SPEC = SystemSpec(
    name="tucker",
    label="TuckER",
    family="decomposition",
    description="Multiplies head, relation and tail by one core tensor that all relations share.",
    source="Balažević et al. (2019), TuckER: tensor factorization for knowledge graph completion, EMNLP",
    formula="W ×₁ h ×₂ r ×₃ t, W the core tensor; batch normalisation and dropout around the first product",
    note="Trained with cross-entropy, which learns faster from PyKEEN's large initial core than the paper's binary "
    "cross-entropy. Large graphs use 128 and 64 numbers instead of 200 and 200, because the core takes most of the "
    "time.",
    # trained on logits, so no sigmoid is applied
    build=from_pykeen("TuckER", ARGUMENTS | {"relation_dim": "relation_dim"}),
    query=query,
    features=features,
    form="dot",
    activations=activations,
    small={"embedding_dim": 32, "learning_rate": 0.02},
    large={"embedding_dim": 128, "learning_rate": 0.003, **ADAM, "objective": "questions", "batch_size": 256},
    extra_settings={
        "relation_dim": Setting(int, "numbers per relation", 2, 4096, 32, 64),
        "head_dropout": Setting(float, "share of the head's vector that is dropped while training", 0, 0.95, 0.2, 0.3),
        "relation_dropout": Setting(
            float, "share of the relation's matrix that is dropped while training", 0, 0.95, 0.2, 0.4
        ),
        "output_dropout": Setting(float, "share of the query vector that is dropped while training", 0, 0.95, 0.3, 0.5),
    },
)
