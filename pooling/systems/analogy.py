"""ANALOGY: relations are normal matrices that commute, half of them diagonal, half turning pairs of coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pooling.systems.spec import Settings, SystemSpec, init_std
from pooling.systems.tables import factors_of, features, normal, tables

if TYPE_CHECKING:
    from torch import Tensor


def build(info: Any, settings: Settings, seed: int) -> Any:
    """Build tables of d / 2 real numbers, then d / 4 real parts and d / 4 imaginary parts."""
    rows = {"entity": info.num_entities, "relation": info.num_relations}
    return tables({name: normal(n, settings["embedding_dim"], settings["init_std"]) for name, n in rows.items()})


def parts(vector: Tensor) -> tuple[Tensor, ...]:
    """Cut [B, d] into real numbers, real parts and imaginary parts."""
    size = vector.shape[1]
    return vector.split([size // 2, size // 4, size // 4], 1)


def query(model: Any, entity: Tensor, relation: Tensor) -> Tensor:
    """Return h ∘ r of the real half, and of the complex one, real and imaginary parts, [B, d]."""
    import torch

    h, h_real, h_imag = parts(model.vectors["entity"][entity])
    r, r_real, r_imag = parts(model.vectors["relation"][relation])
    return torch.cat([h * r, h_real * r_real - h_imag * r_imag, h_real * r_imag + h_imag * r_real], 1)


def factors(model: Any, entity: Tensor, relation: Tensor, answer: Tensor) -> list[Tensor]:
    """Return real and complex coordinates of head, relation and answer."""
    import torch

    found = []
    for vector in factors_of("relation")(model, entity, relation, answer):
        numbers, real, imaginary = parts(vector)
        found += [numbers, torch.complex(real, imaginary)]
    return found


SPEC = SystemSpec(
    name="analogy",
    label="ANALOGY",
    family="decomposition",
    description="DistMult on one half of the coordinates and ComplEx on the other half, so relations commute.",
    source="Liu, Wu and Yang (2017), Analogical inference for multi-relational embeddings, ICML",
    formula="⟨h₁, r₁, t₁⟩ + Re⟨h₂, r₂, conj t₂⟩, h = (h₁ real, h₂ complex)",
    note="Trained with cross-entropy over all entities, like the other systems of its family. The paper samples "
    "negatives.",
    build=build,
    query=query,
    features=features,
    form="dot",
    factors=factors,
    small={"dropout": 0.2},
    large={"dropout": 0.4},
    extra_settings={"init_std": init_std},
    multiple=4,  # half of the numbers are real, half belong to complex ones
)
