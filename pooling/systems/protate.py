"""pRotatE: RotatE with phases only, so that relations add angles on a torus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pooling.systems.spec import ADAM, Settings, SystemSpec
from pooling.systems.tables import features, tables, uniform

if TYPE_CHECKING:
    from torch import Tensor


def build(info: Any, settings: Settings, seed: int) -> Any:
    """Build phases from the whole circle, and the modulus that all entities share."""
    import torch

    size = settings["embedding_dim"]
    return tables(
        {"entity": uniform(info.num_entities, size), "relation": uniform(info.num_relations, size)},
        # Half of the range of RotatE's first weights, as in the authors' settings
        others={"modulus": torch.tensor([(settings["margin"] + 2) / size / 2])},
    )


def query(model: Any, entity: Tensor, relation: Tensor) -> Tensor:
    """Return θ_h + θ_r and m, [B, d + 1]."""
    import torch

    v = model.vectors
    angle = v["entity"][entity] + v["relation"][relation]
    return torch.cat([angle, model.others["modulus"].expand(len(angle), 1)], 1)


def compare(query: Tensor, features: Tensor) -> Tensor:
    """Return −m Σ |sin(θ_h + θ_r − θ_t)|."""
    import torch

    sine = torch.sin(query[..., :-1] - features)
    return -query[..., -1] * torch.linalg.vector_norm(sine, ord=1, dim=-1)


SPEC = SystemSpec(
    name="protate",
    label="pRotatE",
    family="translational",
    description="Entities are angles, and a relation rotates them. The tail's angles should equal those of the "
    "rotated head.",
    source="Sun et al. (2019), RotatE: knowledge graph embedding by relational rotation in complex space, ICLR",
    formula="−m Σ |sin(θ_h + θ_r − θ_t)|, with one learned m",
    note=(
        "The sine takes the whole angle, as in the authors' program; the paper halves it. The margin γ belongs to the "
        "loss, not to the score. The paper uses 1,000 numbers and 256 negatives; our presets use far fewer."
    ),
    build=build,
    query=query,
    features=features,
    form="pointwise",
    compare=compare,
    compiled="sine",
    small={"loss": "self-adversarial", "margin": 6.0, "num_negatives": 32},
    large={"embedding_dim": 128, "learning_rate": 0.01, "loss": "self-adversarial", "num_negatives": 64, **ADAM},
    zero=("dropout", "n3", "l2"),  # the last number of the query is no coordinate, and angles have no size
)
