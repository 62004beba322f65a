"""Turn query vectors and entity features into scores, in training, ranking and top-k alike.

A system names its scoring form (`SystemSpec.form`):

- dot: query · feature
- euclidean: −‖query − feature‖₂
- link: a function of the products query · feature and of ‖feature‖² (`SystemSpec.compare`)
- pointwise: any function of a query and a feature, coordinate by coordinate (`SystemSpec.compare`)
- model: pointwise by a function of the model too, which may have weights (`pooling/systems/pykeen_model.py`)

The bias of the entity is added to each. All but the last two cost one matrix product; those are computed in blocks
of entities, so that its memory does not grow with their number.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.checkpoint import checkpoint

from pooling.scoring.compiled import features_for, write_scores

if TYPE_CHECKING:
    from pooling.systems.spec import SystemSpec

# Floats of a pointwise block [B, c, d]: 4 MB stay in the cache of a CPU core, a GPU wants more at once.
BLOCK_FLOATS_CPU, BLOCK_FLOATS_GPU = 1 << 20, 1 << 26
SMALLEST = 1e-8  # under a root while training: its slope is infinite at zero

Tensor = torch.Tensor
Opt = Tensor | None
Compare = Callable[..., Tensor]


def shared_of(spec: SystemSpec, model: Any) -> tuple[Any, ...]:
    """Return what queries and features have in common, to be computed once a step and once a scorer: empty or one."""
    return () if spec.shared is None else (spec.shared(model),)


def query_of(spec: SystemSpec, model: Any, entity: Tensor, relation: Tensor, shared: tuple[Any, ...]) -> Tensor:
    """Return query vectors [B, q] of entities [B] and inverse-aware relations [B]; `shared` from `shared_of`."""
    return spec.query(model, entity, relation, *shared)


def features_of(spec: SystemSpec, model: Any, shared: tuple[Any, ...]) -> tuple[Tensor, Opt]:
    """Return features [E, f] and biases [E] (or None) of all entities; `shared` from `shared_of`."""
    return spec.features(model, *shared)


def _biased(scores: Tensor, bias: Opt) -> Tensor:
    return scores if bias is None else scores + bias


class Form(ABC):
    """Score B queries [B, q]; differentiable unless `out` is given, a buffer that is written and returned."""

    def prepare(self, features: Tensor) -> Opt:
        """Return what every batch needs of features [C, f]; None: nothing."""
        return None

    @abstractmethod
    def columns(self, query: Tensor, features: Tensor, bias: Opt, prepared: Opt = None, out: Opt = None) -> Tensor:
        """Score against the same C entities for all queries, features [C, f], bias [C]: [B, C]."""

    @abstractmethod
    def pairs(self, query: Tensor, features: Tensor, bias: Opt) -> Tensor:
        """Score against n entities of each query's own, features [B, n, f], bias [B, n]: [B, n]."""


def _products(query: Tensor, features: Tensor) -> Tensor:
    """Multiply query [B, f] · features [B, n, f] -> [B, n]."""
    return torch.einsum("bf,bnf->bn", query, features)


class Dot(Form):
    """Score by query · feature + bias."""

    def columns(self, query: Tensor, features: Tensor, bias: Opt, prepared: Opt = None, out: Opt = None) -> Tensor:
        if out is None:
            return _biased(query @ features.T, bias)
        out = torch.mm(query, features.T, out=out)
        return out if bias is None else out.add_(bias)

    def pairs(self, query: Tensor, features: Tensor, bias: Opt) -> Tensor:
        return _biased(_products(query, features), bias)


class Link(Form):
    """Score by `compare(products, query, squares)` + bias.

    products [B, n] of the first f numbers of each query with the features, query [B, q] whole (q ≥ f: the rest is the
    link's own), squares = ‖feature‖² [C] or [B, n]. `compare` may write into products where it needs no gradient.
    """

    def __init__(self, compare: Compare) -> None:
        self.compare = compare

    def prepare(self, features: Tensor) -> Tensor:
        return (features * features).sum(-1)

    def columns(self, query: Tensor, features: Tensor, bias: Opt, prepared: Opt = None, out: Opt = None) -> Tensor:
        squares = self.prepare(features) if prepared is None else prepared
        products = torch.mm(query[:, : features.shape[1]], features.T, out=out)
        scores = self.compare(products, query, squares)
        if bias is not None:
            scores = scores + bias if out is None else scores.add_(bias)
        return scores if out is None or scores is out else out.copy_(scores)

    def pairs(self, query: Tensor, features: Tensor, bias: Opt) -> Tensor:
        products = _products(query[:, : features.shape[-1]], features)
        return _biased(self.compare(products, query, self.prepare(features)), bias)


def _euclidean(products: Tensor, query: Tensor, squares: Tensor) -> Tensor:
    """Return −‖q − f‖, from ‖q‖² + ‖f‖² − 2 q·f, which rounding may push below zero."""
    own = (query * query).sum(1, keepdim=True)
    smallest = SMALLEST if torch.is_grad_enabled() and products.requires_grad else 0
    return -(squares - 2 * products + own).clamp_min(smallest).sqrt()


class Euclidean(Link):
    """Score by −‖query − feature‖ + bias.

    Without a gradient the squares are in the matrix product, which saves two passes.
    """

    def __init__(self) -> None:
        super().__init__(_euclidean)

    def columns(self, query: Tensor, features: Tensor, bias: Opt, prepared: Opt = None, out: Opt = None) -> Tensor:
        if out is None:
            return super().columns(query, features, bias, prepared)
        squares = self.prepare(features) if prepared is None else prepared
        torch.add(squares, (query * query).sum(1, keepdim=True), out=out)
        out.addmm_(query, features.T, alpha=-2).clamp_(min=0).sqrt_().neg_()
        return out if bias is None else out.add_(bias)


class Pointwise(Form):
    """Score by `compare(query [B, 1, q], features [1 or B, n, f]) -> [B, n]` + bias, in blocks of entities.

    `compiled`: the loop of `compiled.py` that does the same on a CPU, or "".
    """

    def __init__(self, compare: Compare, compiled: str = "") -> None:
        self.compare, self.compiled = compare, compiled

    def prepare(self, features: Tensor) -> Opt:
        return features_for(self.compiled, features) if self.compiled else None

    def columns(self, query: Tensor, features: Tensor, bias: Opt, prepared: Opt = None, out: Opt = None) -> Tensor:
        if out is not None and prepared is not None:
            write_scores(self.compiled, query, prepared, out)
            return out if bias is None else out.add_(bias)
        limit = BLOCK_FLOATS_CPU if features.device.type == "cpu" else BLOCK_FLOATS_GPU
        step = max(1, limit // max(query.shape[0] * features.shape[1], 1))
        parts = []
        for start in range(0, len(features), step):
            block = features[None, start : start + step]
            if out is not None:
                out[:, start : start + step] = self.compare(query[:, None], block)
            elif torch.is_grad_enabled():  # backward computes a block again instead of keeping all of them
                parts.append(checkpoint(self.compare, query[:, None], block, use_reentrant=False))
            else:
                parts.append(self.compare(query[:, None], block))
        scores = torch.cat(parts, 1) if out is None else out
        if bias is None:
            return scores
        return scores + bias if out is None else scores.add_(bias)

    def pairs(self, query: Tensor, features: Tensor, bias: Opt) -> Tensor:
        return _biased(self.compare(query[:, None], features), bias)


def form_of(spec: SystemSpec, model: Any = None) -> Form:
    """Return the form that a system names; the form model also needs the `model`."""
    if spec.form == "dot":
        return Dot()
    if spec.form == "euclidean":
        return Euclidean()
    assert spec.compare is not None  # checked when the spec was made
    if spec.form == "model":
        return Pointwise(partial(spec.compare, model))
    return Link(spec.compare) if spec.form == "link" else Pointwise(spec.compare, spec.compiled)
