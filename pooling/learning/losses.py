"""Compute the loss of a batch of scores and what large vectors cost, and make the optimiser that lowers both.

Label smoothing ε, for the first two: a right answer keeps 1 − ε of its label, and every entity gets ε / E.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import softplus

from pooling.systems.spec import CommonSettings, SystemSpec, pair

STATES = {
    "adam": 2,
    "adagrad": 1,
    "adamax": 2,
    "sparse-adagrad": 1,
}  # copies of the weights that each keeps between two steps
LOWEST = torch.finfo(torch.float32).min


class Cells(NamedTuple):
    """Hold the scores of a batch, and which of them are right answers.

    scores [B, C]; row and place [A]: the cells of the right answers, at least one in each row; log_weight [B, C]:
    logarithm of how many entities a cell stands for, 0 at right answers, −inf where it does not count; None: all
    entities are there.
    """

    scores: Tensor
    row: Tensor
    place: Tensor
    log_weight: Tensor | None
    num_entities: int


def cross_entropy(cells: Cells, smoothing: float) -> Tensor:
    """Return the mean over the right answers of −log softmax, each against all cells of its row.

    Source: Ruffinelli et al. (2020), You CAN teach an old dog new tricks, ICLR.
    """
    scores, weight = cells.scores, cells.log_weight
    right = scores[cells.row, cells.place]
    total = torch.logsumexp(scores if weight is None else scores + weight, 1)
    loss = total[cells.row] - (1 - smoothing) * right
    if smoothing:
        loss = loss - smoothing * _mean_score(cells)[cells.row]
    return loss.mean()


def binary_cross_entropy(cells: Cells, smoothing: float) -> Tensor:
    """Return the binary cross-entropy, summed over the entities, mean over the rows.

    The source takes the mean over the entities too. The sum weighs as much against n3 and l2 on every graph, and its
    slopes stay far above what Adam takes for zero. Source: Dettmers et al. (2018), Convolutional 2D knowledge graph
    embeddings, AAAI.
    """
    scores, weight = cells.scores, cells.log_weight
    each = softplus(scores)  # of a wrong one; that of a right one is softplus(s) − s
    total = (each if weight is None else each * weight.exp()).sum()
    total = total - (1 - smoothing) * scores[cells.row, cells.place].sum()
    if smoothing:
        total = total - smoothing * _mean_score(cells).sum()
    return total / len(scores)


def _mean_score(cells: Cells) -> Tensor:
    """Return the mean score over all entities, estimated where some were drawn: [B]."""
    weight = cells.log_weight
    return (cells.scores if weight is None else cells.scores * weight.exp()).sum(1) / cells.num_entities


def self_adversarial(
    right: Tensor, row: Tensor, wrong: Tensor, known: Tensor, margin: float, temperature: float
) -> Tensor:
    """Return the self-adversarial loss, mean over the right answers.

    It is −log σ(γ + s) − Σ p log σ(−s' − γ), with p = softmax(α s') without gradient.
    right [A]: scores s of the right answers of the rows `row` [A]; wrong [B, n]: scores s' of the drawn entities;
    known [B, n]: drawn, but a right answer of the row, and left out. Source: Sun et al. (2019), RotatE, ICLR, eq. 5.
    """
    with torch.no_grad():
        share = torch.softmax((temperature * wrong).masked_fill(known, LOWEST), 1).masked_fill(known, 0)
    against = (share * softplus(wrong + margin)).sum(1)  # [B]
    return (softplus(-margin - right) + against[row]).mean()


def factors_of(spec: SystemSpec, model: Any, entity: Tensor, relation: Tensor, answer: Tensor) -> list[Tensor]:
    """Return the real or complex vectors of questions and answers, [B, …] each; ValueError if a system names none."""
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


def make_optimizer(model: Any, settings: CommonSettings, device: str) -> torch.optim.Optimizer:
    """Return the optimiser that the settings name, over all weights; fused into one pass where torch can."""
    rate, parameters = settings["learning_rate"], model.parameters()
    if settings["optimizer"] == "adagrad":
        return torch.optim.Adagrad(parameters, lr=rate, fused=device == "cpu" or None)
    if settings["optimizer"] == "sparse-adagrad":  # with the gradients of sparse_rows.py
        return torch.optim.Adagrad(parameters, lr=rate)
    if settings["optimizer"] == "adamax":
        return torch.optim.Adamax(parameters, lr=rate)
    return torch.optim.Adam(parameters, lr=rate, fused=True)
