"""ANALOGY: relations are normal matrices that commute, half of them diagonal, half turning pairs of coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pooling.systems.checks import multiple_of
from pooling.systems.spec import SystemSpec, Value, init_std
from pooling.systems.tables import features, tables

if TYPE_CHECKING:
    from torch import Tensor


def build(info: Any, settings: Mapping[str, Value], seed: int) -> Any:
    """Build tables of d / 2 real numbers, then d / 4 real parts and d / 4 imaginary parts."""
    import torch

    size, std = int(settings["embedding_dim"]), float(settings["init_std"])
    return tables(
        {"entity": std * torch.randn(info.num_entities, size), "relation": std * torch.randn(info.num_relations, size)}
    )


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

    entities = model.vectors["entity"]
    found = []
    for vector in (entities[entity], model.vectors["relation"][relation], entities[answer]):
        numbers, real, imaginary = parts(vector)
        found += [numbers, torch.complex(real, imaginary)]
    return found


def check(settings: Mapping[str, Value]) -> None:
    """Raise ValueError if embedding_dim has no quarters: half of the numbers are real, half belong to complex ones."""
    multiple_of(4, "ANALOGY", settings)


SPEC = SystemSpec(
    name="analogy",
    label="ANALOGY",
    family="decomposition",
    description="DistMult on one half of the coordinates and ComplEx on the other, so that relations commute.",
    source="Liu, Wu and Yang (2017), Analogical inference for multi-relational embeddings, ICML",
    formula="⟨h₁, r₁, t₁⟩ + Re⟨h₂, r₂, conj t₂⟩, h = (h₁ real, h₂ complex)",
    note="Trained with cross-entropy over all entities, as the others of its family; the paper samples negatives.",
    build=build,
    query=query,
    features=features,
    form="dot",
    factors=factors,
    small={"dropout": 0.2, "init_std": 0.1},
    large={"dropout": 0.4, "init_std": 0.01},
    extra_settings={"init_std": init_std},
    check=check,
)
