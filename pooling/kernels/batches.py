"""Batches of training rows and their loss: cross-entropy against all entities, or against shared negatives.

Shared negatives are drawn once per batch for all of its rows, and the answers of the other rows join them:
one matrix product instead of a lookup per negative. Frequent answers would be pushed down too often, so every
column is weighted by how rarely it is expected (ComplEx on FB15k-237, one epoch: MRR .246 against .222).
Source: Bengio & Senécal (2008), Adaptive importance sampling to accelerate training of a
neural probabilistic language model, IEEE Transactions on Neural Networks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch
from torch.nn.functional import dropout, log_softmax

from pooling.systems import CommonSettings, SystemSpec

if TYPE_CHECKING:
    from pykeen.models import ERModel


class Batches(Protocol):
    """Training rows, drawn anew for every epoch, and the loss of some of them."""

    def __len__(self) -> int:
        """Batches of an epoch."""

    def draw(self) -> Iterator[torch.Tensor]:
        """Yield row numbers, shuffled."""

    def loss(self, spec: SystemSpec, model: ERModel, rows: torch.Tensor) -> torch.Tensor:
        """Mean loss of the rows; differentiable."""


def column_scores(
    spec: SystemSpec, model: ERModel, query: torch.Tensor, columns: torch.Tensor | None
) -> torch.Tensor:
    """Scores [B, C] of query vectors [B, d] against the entities `columns` [C], or all; differentiable."""
    features, bias = spec.features(model)
    if columns is not None:
        features, bias = features[columns], None if bias is None else bias[columns]
    if not spec.distance:
        scores = query @ features.T
        return scores if bias is None else scores + bias
    squares = torch.addmm((features * features).sum(1), query, features.T, alpha=-2)
    # The slope of the root is infinite at zero
    return -(squares + (query * query).sum(1, keepdim=True)).clamp_min(1e-8).sqrt()


class TripleBatches:
    """Rows are triples, each with one right answer (1-vs-all, or shared negatives)."""

    def __init__(self, triples: np.ndarray, num_entities: int, settings: CommonSettings, device: str) -> None:
        head, relation, tail = torch.as_tensor(np.asarray(triples, np.int64), device=device).T
        self.entity, self.relation = torch.cat([head, tail]), torch.cat([2 * relation, 2 * relation + 1])
        self.answer = torch.cat([tail, head])
        self.num_entities, self.settings, self.device = num_entities, settings, device
        # How often each entity is an answer, per row [E]
        self.frequency = torch.bincount(self.answer, minlength=num_entities) / len(self.answer)

    def __len__(self) -> int:
        return -(-len(self.answer) // self.settings["batch_size"])

    def draw(self) -> Iterator[torch.Tensor]:
        """Yield row numbers, shuffled. A last row alone is left out: batch normalisation needs two."""
        order = torch.randperm(len(self.answer)).to(self.device)
        yield from (rows for rows in order.split(self.settings["batch_size"]) if len(rows) > 1)

    def loss(self, spec: SystemSpec, model: ERModel, rows: torch.Tensor) -> torch.Tensor:
        """Mean cross-entropy of the rows' answers."""
        answer, drawn = self.answer[rows], self.settings["num_negatives"]
        query = dropout(spec.query(model, self.entity[rows], self.relation[rows]), self.settings["dropout"])
        own = torch.arange(len(rows), device=self.device)
        scale = self.settings["scale"]
        if not drawn:
            return -log_softmax(column_scores(spec, model, query, None) * scale, 1)[own, answer].mean()
        columns = torch.cat([answer, torch.randint(self.num_entities, (drawn,), device=self.device)])
        scores = column_scores(spec, model, query, columns) * scale
        right = scores[own, own]
        # A column stands for 1 / (how often it is expected in a batch) entities.
        expected = drawn / self.num_entities + len(rows) * self.frequency[columns]
        # The row's own answer, perhaps drawn again or another row's: not wrong
        same = columns == answer[:, None]
        wrong = (scores - expected.log()).masked_fill(same, -torch.inf)
        return (torch.logaddexp(torch.logsumexp(wrong, 1), right) - right).mean()


class QuestionBatches:
    """Rows are questions, each with all its training answers (k-vs-all, or shared negatives).

    FB15k-237 has 3.6 triples per question: a costly encoder such as ConvE's then runs 3.6 times less often.
    """

    def __init__(self, triples: np.ndarray, num_entities: int, settings: CommonSettings, device: str) -> None:
        head, relation, tail = np.asarray(triples, np.int64).T
        given = np.concatenate([2 * relation * num_entities + head, (2 * relation + 1) * num_entities + tail])
        pairs = np.unique(given * num_entities + np.concatenate([tail, head]))
        keys, self.start, self.count = np.unique(pairs // num_entities, return_index=True, return_counts=True)
        self.answers = pairs % num_entities
        self.relation, self.entity = (
            torch.as_tensor(x, device=device) for x in np.divmod(keys, num_entities)
        )
        self.num_entities, self.settings, self.device = num_entities, settings, device
        frequency = np.bincount(self.answers, minlength=num_entities) / len(keys)
        self.frequency = torch.as_tensor(frequency, dtype=torch.float32, device=device)  # answers per row [E]

    def __len__(self) -> int:
        return -(-len(self.count) // self.settings["batch_size"])

    def draw(self) -> Iterator[torch.Tensor]:
        """Yield question numbers, shuffled. A last one alone is left out: batch normalisation needs two."""
        order = torch.randperm(len(self.count))
        yield from (rows for rows in order.split(self.settings["batch_size"]) if len(rows) > 1)

    def loss(self, spec: SystemSpec, model: ERModel, rows: torch.Tensor) -> torch.Tensor:
        """Mean cross-entropy of the answers, each against all entities (or columns) of its question."""
        chosen = rows.numpy()
        start, count = self.start[chosen], self.count[chosen]
        of = np.repeat(np.arange(len(chosen)), count)
        answers = self.answers[np.arange(len(of)) + np.repeat(start - (np.cumsum(count) - count), count)]
        drawn = self.settings["num_negatives"]
        columns, places = None, answers
        if drawn:  # the union of all answers of the batch and of the drawn entities
            negatives = torch.randint(self.num_entities, (drawn,)).numpy()
            union, inverse = np.unique(np.concatenate([answers, negatives]), return_inverse=True)
            columns, places = torch.as_tensor(union, device=self.device), inverse[: len(answers)]
        row, place = (torch.as_tensor(x, device=self.device) for x in (of, places))
        rows = rows.to(self.device)
        query = dropout(spec.query(model, self.entity[rows], self.relation[rows]), self.settings["dropout"])
        scores = column_scores(spec, model, query, columns) * self.settings["scale"]
        right = scores[row, place]
        if columns is not None:  # a column stands for 1 / (its chance to be in a batch) entities
            expected = drawn / self.num_entities + len(chosen) * self.frequency[columns]
            scores = scores - torch.log(-torch.expm1(-expected))
            scores = scores.index_put((row, place), right)  # the right ones are there for certain
        return (torch.logsumexp(scores, 1)[row] - right).mean()


BATCHES: dict[str, type[TripleBatches] | type[QuestionBatches]] = {
    "triples": TripleBatches,
    "questions": QuestionBatches,
}
