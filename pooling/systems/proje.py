"""ProjE: head and relation are weighed coordinate by coordinate, squashed, and projected onto the entities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pooling.systems.spec import SystemSpec, from_pykeen, pair

if TYPE_CHECKING:
    from torch import Tensor


def query(model: Any, entity: Tensor, relation: Tensor) -> Tensor:
    """Return tanh(d_h∘h + d_r∘r + b), [B, d]."""
    net = model.interaction
    h, r = pair(model, entity, relation)
    return net.inner_activation(net.d_e * h + net.d_r * r + net.b_c)


def features(model: Any) -> tuple[Tensor, Tensor]:
    """Return entity vectors [E, d] and the one bias of all of them [E]."""
    vectors = model.entity_representations[0](None)
    return vectors, model.interaction.b_p.expand(len(vectors))


SPEC = SystemSpec(
    name="proje",
    label="ProjE",
    family="neural",
    description="Blends head and relation into one vector with learned weights, and compares it with every tail.",
    source="Shi and Weninger (2017), ProjE: embedding projection for knowledge graph completion, AAAI",
    formula="tanh(d_h∘h + d_r∘r + b)·t + b_p; d_h, d_r, b and b_p are shared by all questions",
    note="Cross-entropy over all entities, or over those of the batch, replaces the paper's sampled candidates. It "
    "uses dropout on the blend and no L1 penalty.",
    build=from_pykeen("ProjE"),  # trained on logits, so no sigmoid is applied
    query=query,
    features=features,
    form="dot",
    probabilistic=True,
    small={"learning_rate": 0.01, "dropout": 0.2},
    large={"learning_rate": 0.002, "optimizer": "adam", "dropout": 0.3, "decay": 0.1},
)
