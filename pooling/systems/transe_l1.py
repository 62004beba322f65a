"""TransE with the 1-norm: distances are added up coordinate by coordinate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pooling.systems.spec import ADAM, SystemSpec, from_pykeen
from pooling.systems.transe import features, query

if TYPE_CHECKING:
    from torch import Tensor


def compare(query: Tensor, features: Tensor) -> Tensor:
    """Return −‖q − t‖₁."""
    import torch

    if len(features) == 1:  # the same entities for all: twice as fast as the difference of each pair
        return -torch.cdist(query[:, 0], features[0], p=1)
    return -torch.linalg.vector_norm(query - features, ord=1, dim=-1)


SPEC = SystemSpec(
    name="transe-l1",
    label="TransE L1",
    family="translational",
    description="TransE with the sum of distances in each coordinate, so a few coordinates may be far off.",
    source="Bordes et al. (2013), Translating embeddings for modeling multi-relational data, NeurIPS",
    formula="−‖h + r − t‖₁",
    note="Entities are not moved back to the unit sphere after each step. The loss is cross-entropy, not a margin.",
    build=from_pykeen("TransE", scoring_fct_norm=1, entity_constrainer=None),
    query=query,
    features=features,
    form="pointwise",
    compare=compare,
    compiled="l1",
    large={"embedding_dim": 128, "learning_rate": 0.003, "batch_size": 256, "num_negatives": 200, **ADAM},
)
