"""Define CP: DistMult with two vectors per entity, one as head and one as tail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pooling.systems.spec import SystemSpec, Value, init_std
from pooling.systems.tables import tables

if TYPE_CHECKING:
    from torch import Tensor


def build(info: Any, settings: Mapping[str, Any], seed: int) -> Any:
    """Return a model of three tables; `info.num_relations` counts each relation and its inverse."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    rows = {"heads": info.num_entities, "tails": info.num_entities, "relations": info.num_relations}
    width, spread = settings["embedding_dim"], settings["init_std"]
    return tables({name: spread * torch.randn(n, width, generator=generator) for name, n in rows.items()})


def query(model: Any, entity: Tensor, relation: Tensor) -> Tensor:
    """Return h ∘ r, [B, d]."""
    return model.vectors["heads"][entity] * model.vectors["relations"][relation]


def features(model: Any) -> tuple[Tensor, None]:
    """Return the tail vectors of all entities, [E, d], and no bias."""
    return model.vectors["tails"], None


def check(settings: Mapping[str, Value]) -> None:
    """Raise ValueError if settings do not fit together; this rule is made up for the example."""
    if int(settings["embedding_dim"]) % 2:
        raise ValueError(f"embedding_dim is {settings['embedding_dim']}: CP needs an even number")


SPEC = SystemSpec(
    name="cp",
    label="CP",
    family="decomposition",
    description="Multiplies head, relation and tail coordinate by coordinate. An entity has a vector for each side.",
    formula="⟨h, r, t'⟩ = Σ_i h_i r_i t'_i",
    source="Lacroix et al. (2018), Canonical tensor decomposition for knowledge base completion, ICML",
    build=build,
    query=query,
    features=features,
    form="dot",
    small={"dropout": 0.2, "init_std": 0.1},
    large={"dropout": 0.4, "init_std": 0.01},
    extra_settings={"init_std": init_std},
    check=check,
)
