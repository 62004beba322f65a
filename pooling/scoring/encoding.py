"""Compute query vectors and entity features of a model, and once what both of them need.

A graph network encodes all entities before it can answer anything: `SystemSpec.shared` does this once a training step
and once a scorer, and both functions of the system get what it returned as their last argument.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

if TYPE_CHECKING:
    from pooling.systems import SystemSpec


def shared_of(spec: SystemSpec, model: Any) -> Any:
    """Return what queries and features have in common; None if the system computes nothing beforehand."""
    return None if spec.shared is None else spec.shared(model)


def query_of(spec: SystemSpec, model: Any, entity: Tensor, relation: Tensor, shared: Any) -> Tensor:
    """Return query vectors [B, q] of entities [B] and inverse-aware relations [B]; `shared` from `shared_of`."""
    if spec.shared is None:
        return spec.query(model, entity, relation)
    return spec.query(model, entity, relation, shared)


def features_of(spec: SystemSpec, model: Any, shared: Any) -> tuple[Tensor, Tensor | None]:
    """Return features [E, f] and biases [E] (or None) of all entities; `shared` from `shared_of`."""
    return spec.features(model) if spec.shared is None else spec.features(model, shared)
