"""Query2Box: a question is a box, and its answers are the entities in it or close to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pooling.systems.spec import ADAM, Settings, SystemSpec
from pooling.systems.tables import factors_of, features, tables, uniform

if TYPE_CHECKING:
    from torch import Tensor

INSIDE = 0.02  # α: how much distance within the box counts, against 1 outside of it


def build(info: Any, settings: Settings, seed: int) -> Any:
    """Build tables: entities are points; a relation moves a box (centers) and widens it (offsets)."""
    import torch

    dim = settings["embedding_dim"]
    reach = (settings["margin"] + 2) / dim  # of the authors' first weights: distances start near the margin
    points, centers = uniform(info.num_entities, dim, reach), uniform(info.num_relations, dim, reach)
    offsets = torch.empty(info.num_relations, dim).uniform_(0, reach)
    return tables({"entity": points, "center": centers, "offset": offsets})


def query(model: Any, entity: Tensor, relation: Tensor) -> Tensor:
    """Return the center of the box and its offset times 1 − α, [B, 2d]; the entity's own box has no extent."""
    import torch

    table = model.vectors
    offset = (1 - INSIDE) * table["offset"][relation].abs()
    return torch.cat([table["entity"][entity] + table["center"][relation], offset], 1)


def compare(query: Tensor, points: Tensor) -> Tensor:
    """Return −Σ relu(δ − o) + α min(δ, o) with δ = |t − c|, written as −Σ max(αδ, δ − (1 − α)o): [B, n]."""
    import torch

    center, offset = query.chunk(2, -1)
    distance = (points - center).abs()
    return -torch.maximum(INSIDE * distance, distance - offset).sum(-1)


SPEC = SystemSpec(
    name="query2box",
    label="Query2Box",
    family="query",
    description="Moves the head's point to a box that is as wide as the relation has answers. Tails inside the box "
    "rank first.",
    source="Ren et al. (2020), Query2box: reasoning over knowledge graphs in vector space using box embeddings, ICLR",
    formula=f"−‖relu(|t − c| − o)‖₁ − {INSIDE}‖min(|t − c|, o)‖₁ with center c = h + r_c and offset o = |r_o|",
    note="One hop only: no intersections, unions or longer paths, so neither training questions of these kinds nor "
    "networks that intersect boxes. The paper's γ belongs to the self-adversarial loss (margin).",
    build=build,
    query=query,
    features=features,
    form="pointwise",
    compare=compare,
    compiled="box",
    factors=factors_of("center", "offset"),
    small={"embedding_dim": 32, "epochs": 10},
    large={
        "learning_rate": 0.001,
        **ADAM,
        "epochs": 40,
        "loss": "self-adversarial",
        "num_negatives": 128,
        "margin": 24.0,
    },
    zero=("dropout",),  # a box without some of its sides is another question
)
