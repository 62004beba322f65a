"""Compute regularisers: a weight on the size of the vectors that a batch used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

from pooling.systems.spec import pair

if TYPE_CHECKING:
    from pooling.systems import SystemSpec


def factors_of(spec: SystemSpec, model: Any, entity: Tensor, relation: Tensor, answer: Tensor) -> list[Tensor]:
    """Return the vectors of questions and answers, [B, …] each; ValueError if a system names none.

    They are real or complex.
    """
    if spec.factors is not None:
        return spec.factors(model, entity, relation, answer)
    if not hasattr(model, "entity_representations"):
        raise ValueError(f"{spec.label} has no vectors that n3 and l2 could keep small: set both to 0")
    head, link = pair(model, entity, relation)
    return [head, link, model.entity_representations[0](answer)]


def penalty(factors: list[Tensor], n3: float, l2: float) -> Tensor | float:
    """Return n3 · Σ modulus³ + l2 · Σ modulus² of all coordinates, mean over the rows.

    Source: Lacroix et al. (2018), Canonical tensor decomposition for knowledge base completion, ICML (N3).
    """
    total: Tensor | float = 0.0
    for factor in factors:
        modulus = factor.abs()  # of a complex coordinate: the length of both parts
        if n3:
            total = total + n3 * (modulus**3).sum() / len(factor)
        if l2:
            total = total + l2 * (modulus**2).sum() / len(factor)
    return total
