"""HAKE: moduli tell the levels of a hierarchy apart, phases the entities of one level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pooling.systems.spec import ADAM, Settings, SystemSpec
from pooling.systems.tables import tables, uniform

if TYPE_CHECKING:
    from torch import Tensor


def build(info: Any, settings: Settings, seed: int) -> Any:
    """Build phases from the whole circle and small moduli of either sign; relations start as the identity of moduli."""
    import torch

    size = settings["embedding_dim"]
    reach = (settings["margin"] + 2) / size  # of the authors' first weights
    return tables(
        {
            "entity_phase": uniform(info.num_entities, size),
            "entity_modulus": uniform(info.num_entities, size, reach),
            "relation_phase": uniform(info.num_relations, size),
            "relation_modulus": torch.ones(info.num_relations, size),
            "relation_bias": torch.zeros(info.num_relations, size),
        },
        others={"weights": torch.tensor([1.0, reach / 2])},  # of moduli and of phases (λ)
    )


def query(model: Any, entity: Tensor, relation: Tensor) -> Tensor:
    """Return (h_p + r_p) / 2, λ₁ h_m ∘ (r_m + r'_m), λ₁ (1 − r'_m) and λ₂: [B, 3d + 1]."""
    import torch

    v = model.vectors
    of_modulus, of_phase = model.others["weights"]
    half = (v["entity_phase"][entity] + v["relation_phase"][relation]) / 2
    modulus = v["relation_modulus"][relation].abs()
    bias = torch.maximum(v["relation_bias"][relation].clamp(max=1), -modulus)
    moved = v["entity_modulus"][entity] * (modulus + bias)
    return torch.cat([half, of_modulus * moved, of_modulus * (1 - bias), of_phase.expand(len(half), 1)], 1)


def features(model: Any) -> tuple[Tensor, None]:
    """Return t_p / 2 and t_m, [E, 2d], no bias."""
    import torch

    return torch.cat([model.vectors["entity_phase"] / 2, model.vectors["entity_modulus"]], 1), None


def compare(query: Tensor, features: Tensor) -> Tensor:
    """Return −λ₁ ‖h_m ∘ (r_m + r'_m) − (1 − r'_m) ∘ t_m‖₂ − λ₂ Σ |sin((h_p + r_p − t_p) / 2)|."""
    import torch

    half, moved, weight = query[..., :-1].chunk(3, -1)
    tail_half, tail_modulus = features.chunk(2, -1)
    phase = torch.linalg.vector_norm(torch.sin(half - tail_half), ord=1, dim=-1)
    modulus = torch.linalg.vector_norm(torch.addcmul(moved, weight, tail_modulus, value=-1), dim=-1)
    return -modulus - query[..., -1] * phase


SPEC = SystemSpec(
    name="hake",
    label="HAKE",
    family="translational",
    description="Scales the head's modulus, which is its level in a hierarchy, and rotates its phase.",
    source="Zhang et al. (2020), Learning hierarchy-aware knowledge graph embeddings for link prediction, AAAI",
    formula="−λ₁ ‖h_m ∘ (r_m + r'_m) − (1 − r'_m) ∘ t_m‖₂ − λ₂ ‖sin((h_p + r_p − t_p) / 2)‖₁, "
    "with r_m > 0 and −r_m ≤ r'_m ≤ 1",
    note=(
        "Both weights λ are learned, and the mixed bias r' is included, as in the authors' best results. The margin γ "
        "belongs to the loss, not to the score. The paper uses 1,000 numbers and 256 negatives; our presets use far "
        "fewer."
    ),
    build=build,
    query=query,
    features=features,
    form="pointwise",
    compare=compare,
    compiled="hake",
    small={"loss": "self-adversarial", "margin": 6.0, "num_negatives": 32},
    large={"embedding_dim": 128, "learning_rate": 0.01, "loss": "self-adversarial", "num_negatives": 64, **ADAM},
    zero=("dropout", "n3", "l2"),  # the last number of the query is no coordinate, and angles have no size
)
