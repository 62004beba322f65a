"""Make models of our own from named tables of vectors and small networks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module


def tables(
    vectors: Mapping[str, Tensor],
    nets: Mapping[str, Module] | None = None,
    constants: Mapping[str, Tensor] | None = None,
    others: Mapping[str, Tensor] | None = None,
) -> Any:
    """Make a model of learned tensors, networks and fixed tensors, by name.

    `model.vectors[name]` are parameters with a row for each entity or each inverse-aware relation, which people take
    away as embeddings; `model.others[name]` parameters of any other kind, `model.nets[name]` modules,
    `model.constants[name]` buffers that are kept out of the checkpoint, since they follow from graph and settings.
    Dots are no part of a name.
    """
    import torch

    class Tables(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.vectors = torch.nn.ParameterDict(dict(vectors))
            self.others = torch.nn.ParameterDict(dict(others or {}))
            self.nets = torch.nn.ModuleDict(dict(nets or {}))
            self.fixed = list(constants or {})
            for name, value in (constants or {}).items():
                self.register_buffer(f"constant_{name}", value, persistent=False)

        @property
        def constants(self) -> dict[str, Tensor]:
            return {name: getattr(self, f"constant_{name}") for name in self.fixed}

        def post_parameter_update(self) -> None:
            """Do nothing: PyKEEN's models apply their constraints here, and ours have none."""

    return Tables()


def normal(rows: int, width: int, std: float) -> Tensor:
    """Draw the first weights of a table, normal with mean 0."""
    import torch

    return std * torch.randn(rows, width)


def uniform(rows: int, width: int, reach: float = math.pi) -> Tensor:
    """Draw the first weights of a table between ±reach: angles, unless another is given."""
    import torch

    return torch.empty(rows, width).uniform_(-reach, reach)


def features(model: Any) -> tuple[Tensor, None]:
    """Return the table of entities [E, d], no bias, as the features of a system."""
    return model.vectors["entity"], None


def factors_of(*relations: str) -> Callable[[Any, Tensor, Tensor, Tensor], list[Tensor]]:
    """Return `factors` that are rows of tables: the head's, those of these tables of relations, and the answer's."""

    def factors(model: Any, entity: Tensor, relation: Tensor, answer: Tensor) -> list[Tensor]:
        v = model.vectors
        return [v["entity"][entity], *(v[name][relation] for name in relations), v["entity"][answer]]

    return factors
