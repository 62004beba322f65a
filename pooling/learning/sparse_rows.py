"""Let a training step see, of tables with a row for each entity, only the rows that its batch uses.

Their gradients are sparse, and PyTorch's Adagrad then touches these rows alone: on a graph of millions of entities a
step takes milliseconds, not the time to read and write all tables several times. The weights are those of Adagrad with
dense gradients, since a row without a gradient stays as it is.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor


@contextmanager
def rows_alone(model: Any, ids: Tensor, num_entities: int) -> Iterator[None]:
    """Put the rows `ids` [U], ascending, in the place of each table of entities; `backward` gives the table a gradient.

    Within, entity `ids[i]` has the number i.
    """
    modules = list(model.modules())
    tables = [
        (module, key, weights)
        for module in modules
        for key, weights in module._parameters.items()
        if weights is not None and weights.dim() and len(weights) == num_entities
    ]
    sized = [module for module in modules if getattr(module, "max_id", None) == num_entities]  # PyKEEN's
    try:
        for module, key, weights in tables:
            rows = weights.detach().index_select(0, ids).requires_grad_()
            rows.register_post_accumulate_grad_hook(partial(_give, weights, ids))
            module._parameters[key] = rows
        for module in sized:
            module.max_id = len(ids)
        yield
    finally:
        for module, key, weights in tables:
            module._parameters[key] = weights
        for module in sized:
            module.max_id = num_entities


def _give(weights: Tensor, ids: Tensor, rows: Tensor) -> None:
    """Make the gradient of some rows the gradient of their table."""
    assert rows.grad is not None
    weights.grad = torch.sparse_coo_tensor(
        ids[None], rows.grad, weights.shape, is_coalesced=True, check_invariants=False
    )
