"""AttE: the head is rotated and reflected, attention weighs the two, and a translation follows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pooling.systems.spec import ADAM, Settings, SystemSpec
from pooling.systems.tables import factors_of, normal, tables, uniform

if TYPE_CHECKING:
    from torch import Tensor

FIRST_STD = 1e-3  # of entities and translations, as in the paper


def build(info: Any, settings: Settings, seed: int) -> Any:
    """Build tables of entities, biases, and of what belongs to a relation: angles, translation, attention."""
    import torch

    size, entities, relations = settings["embedding_dim"], info.num_entities, info.num_relations
    return tables(
        {
            "entity": normal(entities, size, FIRST_STD),
            "head_bias": torch.zeros(entities),
            "tail_bias": torch.zeros(entities),
            "rotation": uniform(relations, size // 2),
            "reflection": uniform(relations, size // 2),
            "translation": normal(relations, size, FIRST_STD),
            "attention": normal(relations, size, FIRST_STD),
        }
    )


def rotate(vector: Tensor, angle: Tensor) -> Tensor:
    """Turn each pair of coordinates of [B, d] by its angle [B, d / 2]."""
    import torch

    x, y = vector.unflatten(1, (-1, 2)).unbind(2)  # [B, d] -> 2 × [B, d / 2]
    cosine, sine = angle.cos(), angle.sin()
    return torch.stack([cosine * x - sine * y, sine * x + cosine * y], 2).flatten(1)


def reflect(vector: Tensor, angle: Tensor) -> Tensor:
    """Mirror each pair of coordinates at the line of half its angle."""
    import torch

    x, y = vector.unflatten(1, (-1, 2)).unbind(2)
    cosine, sine = angle.cos(), angle.sin()
    return torch.stack([cosine * x + sine * y, sine * x - cosine * y], 2).flatten(1)


def moved(model: Any, entity: Tensor, relation: Tensor) -> Tensor:
    """Return q, attention over rotation and reflection of h, plus r; [B, d]."""
    import torch

    v = model.vectors
    h = v["entity"][entity]
    both = torch.stack([rotate(h, v["rotation"][relation]), reflect(h, v["reflection"][relation])], 1)
    logits = (both * v["attention"][relation].unsqueeze(1)).sum(2) / math.sqrt(h.shape[1])  # [B, 2]
    return (logits.softmax(1).unsqueeze(2) * both).sum(1) + v["translation"][relation]


def query(model: Any, entity: Tensor, relation: Tensor) -> Tensor:
    """Return 2q and b_h − ‖q‖², [B, d + 1]: with the features the product is −‖q − t‖² + b_h + b_t."""
    import torch

    q = moved(model, entity, relation)
    rest = model.vectors["head_bias"][entity] - (q * q).sum(1)
    return torch.cat([2 * q, rest.unsqueeze(1)], 1)


def features(model: Any) -> tuple[Tensor, Tensor]:
    """Return t and a one, [E, d + 1]; bias b_t − ‖t‖²."""
    import torch

    t = model.vectors["entity"]
    return torch.cat([t, t.new_ones(len(t), 1)], 1), model.vectors["tail_bias"] - (t * t).sum(1)


SPEC = SystemSpec(
    name="atte",
    label="AttE",
    family="translational",
    description="Rotates and reflects the head, weighs the two by attention, and translates the result to the tail.",
    source="Chami et al. (2020), Low-dimensional hyperbolic knowledge graph embeddings, ACL",
    formula="−‖q − t‖² + b_h + b_t, q = α_rot Rot(θ_r) h + α_ref Ref(φ_r) h + r, "
    "α = softmax of a_r · Rot(θ_r) h / √d and a_r · Ref(φ_r) h / √d",
    note="Rotations and reflections are stored as angles. Weights and scores are in single precision, not double. "
    "Trained with cross-entropy against shared negatives. The paper uses vectors of 32 to 500 numbers; our preset "
    "uses 256.",
    build=build,
    query=query,
    features=features,
    form="dot",
    factors=factors_of("translation"),
    large={"learning_rate": 0.003, **ADAM},
    multiple=2,
    zero=("dropout",),  # the last number of the query is no coordinate
)
