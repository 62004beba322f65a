"""Draw batches of training rows and compute their loss, against all entities or against some that are drawn.

Drawn entities are shared by the rows of a batch, and the answers of the other rows join them: one matrix product
instead of a lookup per negative. Frequent answers would be pushed down too often, so every column is weighted by how
rarely it is expected (ComplEx on FB15k-237, one epoch: MRR .246 against .222).
Source: Bengio & Senécal (2008), Adaptive importance sampling to accelerate training of a
neural probabilistic language model, IEEE Transactions on Neural Networks.

The self-adversarial loss draws evenly and weighs by the scores, so that no other row's answers join. Its draws are
shared too: the loss has the same mean as if each triple had its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import dropout

from pooling.learning.losses import Cells, binary_cross_entropy, cross_entropy, factors_of, penalty, self_adversarial
from pooling.learning.sparse_rows import rows_alone
from pooling.scoring.forms import features_of, form_of, query_of, shared_of
from pooling.systems.spec import CommonSettings, SystemSpec

if TYPE_CHECKING:
    from pykeen.models import ERModel

LOSSES: dict[str, Callable[[Cells, float], Tensor]] = {"cross-entropy": cross_entropy, "bce": binary_cross_entropy}


Score = Callable[[Tensor, Tensor | None], Tensor]


def scores_of(spec: SystemSpec, model: ERModel, shared: tuple[Any, ...] = ()) -> Score:
    """Return what scores query vectors [B, q] against entities; `shared` from `shared_of`, for systems that have it.

    The entities [C] are shared by all rows (None: all), or [B, n] are of each row's own. The scores, [B, C] or [B, n],
    are differentiable. Under autocast only plain products are rounded to bfloat16: a distance is a small difference of
    large products, and 8 bits would leave nothing of it.
    """
    every, all_biases = features_of(spec, model, shared)
    form = form_of(spec, model)

    def scores(query: Tensor, entities: Tensor | None) -> Tensor:
        chosen = slice(None) if entities is None else entities
        features, bias = every[chosen], None if all_biases is None else all_biases[chosen]
        score = form.columns if features.dim() == 2 else form.pairs
        if spec.form == "dot":
            return _wide(score(query, features, bias))
        with torch.autocast(query.device.type, enabled=False):
            return score(_wide(query), _wide(features), bias)

    return scores


def _wide(values: Tensor) -> Tensor:
    return values.float() if values.dtype == torch.bfloat16 else values


class Batches(ABC):
    """Hold rows with their right answers; draw them anew for every epoch, and compute the loss of some of them."""

    entity: Tensor  # [N]
    relation: Tensor  # [N], inverse-aware
    answer: Tensor  # of all rows, one after the other

    def __init__(self, num_entities: int, settings: CommonSettings, device: str) -> None:
        self.num_entities, self.settings, self.device = num_entities, settings, device
        self.next_draw: Tensor | None = None
        # How often each entity is an answer, per row [E]
        self.frequency = torch.bincount(self.answer, minlength=num_entities) / len(self.entity)

    @abstractmethod
    def right(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the right answers of some rows: their place in `rows` [A], and which entity [A]."""

    @abstractmethod
    def columns(self, row: Tensor, answer: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return entities [C], drawn ones and all answers; the right ones' places [A]; logarithms of weights.

        The weight of a cell [size, C] says how many entities it stands for, as in `Cells`.
        """

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return -(-len(self.entity) // self.settings["batch_size"])

    def draw(self) -> Iterator[Tensor]:
        """Yield row numbers, shuffled. A last row alone is left out: batch normalisation needs two."""
        order = torch.randperm(len(self.entity)).to(self.device)
        yield from (rows for rows in order.split(self.settings["batch_size"]) if len(rows) > 1)

    def loss(self, spec: SystemSpec, model: ERModel, rows: Tensor) -> Tensor:
        """Return the mean loss of the rows, as the settings define it."""
        entity, relation = self.entity[rows], self.relation[rows]
        row, answer = self.right(rows)
        if self.settings["optimizer"] != "sparse-adagrad":
            return self._loss(spec, model, entity, relation, row, answer, lambda entities: entities)
        self.next_draw = self.draw_entities()
        used = torch.unique(torch.cat([entity, answer, self.next_draw]))
        with rows_alone(model, used, self.num_entities):
            return self._loss(spec, model, entity, relation, row, answer, partial(torch.searchsorted, used))

    def _loss(
        self,
        spec: SystemSpec,
        model: ERModel,
        entity: Tensor,
        relation: Tensor,
        row: Tensor,
        answer: Tensor,
        at: Callable[[Tensor], Tensor],
    ) -> Tensor:
        """Return the mean loss; `at` says where entities are in the tables of the model."""
        settings, shared = self.settings, shared_of(spec, model)
        query = dropout(query_of(spec, model, at(entity), relation, shared), settings["dropout"])
        score_at = scores_of(spec, model, shared)

        def score(query: Tensor, entities: Tensor | None) -> Tensor:
            return score_at(query, None if entities is None else at(entities))

        if settings["loss"] == "self-adversarial":
            loss = self._adversarial(score, query, row, answer)
        else:
            cells = self._cells(score, query, row, answer)
            loss = LOSSES[settings["loss"]](cells, settings["smoothing"])
        if settings["n3"] or settings["l2"]:
            factors = factors_of(spec, model, at(entity[row]), relation[row], at(answer))
            loss = loss + penalty(factors, settings["n3"], settings["l2"])
        return loss

    def draw_entities(self) -> Tensor:
        """Draw entities [num_negatives], evenly, or return those that were drawn ahead."""
        if self.next_draw is not None:
            drawn, self.next_draw = self.next_draw, None
            return drawn
        return torch.randint(self.num_entities, (self.settings["num_negatives"],), device=self.device)

    def _scaled(self, scores: Tensor) -> Tensor:
        scale = self.settings["scale"]
        return scores if scale == 1 else scores * scale

    def _cells(self, score: Score, query: Tensor, row: Tensor, answer: Tensor) -> Cells:
        """Score all entities, or the drawn ones and all answers of the batch."""
        if not self.settings["num_negatives"]:
            return Cells(self._scaled(score(query, None)), row, answer, None, self.num_entities)
        columns, place, log_weight = self.columns(row, answer, len(query))
        return Cells(self._scaled(score(query, columns)), row, place, log_weight, self.num_entities)

    def _adversarial(self, score: Score, query: Tensor, row: Tensor, answer: Tensor) -> Tensor:
        """Return the self-adversarial loss: right answers by themselves, drawn entities without the row's own."""
        drawn = torch.unique(self.draw_entities())
        asked = query if len(row) == len(query) else query[row]  # [A, q]
        right = self._scaled(score(asked, answer[:, None]).squeeze(1))  # [A]
        wrong = self._scaled(score(query, drawn))  # [B, n]
        place = torch.searchsorted(drawn, answer).clamp_max(len(drawn) - 1)
        known = torch.zeros(wrong.shape, dtype=torch.bool, device=self.device)
        hit = drawn[place] == answer
        known[row[hit], place[hit]] = True
        margin, temperature = self.settings["margin"], self.settings["temperature"]
        return self_adversarial(right, row, wrong, known, margin, temperature)


class TripleBatches(Batches):
    """Take triples in both directions as rows, each with one right answer (1-vs-all)."""

    def __init__(self, triples: np.ndarray, num_entities: int, settings: CommonSettings, device: str) -> None:
        head, relation, tail = torch.as_tensor(np.asarray(triples, np.int64), device=device).T
        self.entity, self.relation = torch.cat([head, tail]), torch.cat([2 * relation, 2 * relation + 1])
        self.answer = torch.cat([tail, head])
        super().__init__(num_entities, settings, device)

    def right(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return one answer for each row."""
        return torch.arange(len(rows), device=self.device), self.answer[rows]

    def columns(self, row: Tensor, answer: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor]:
        """Make each answer and each draw a column, perhaps of an entity that has others.

        It stands for 1 / (how often the entity is expected in a batch) entities. To take each entity once is no better:
        ComplEx on FB15k-237, one epoch, three seeds: MRR .244 against .247.
        """
        columns = torch.cat([answer, self.draw_entities()])
        number = len(self.entity)
        others = (size - 1) / (number - 1) * number  # every other row is here with the chance (size - 1) / (number - 1)
        expected = self.settings["num_negatives"] / self.num_entities + others * self.frequency[columns]
        log_weight = (-expected.log()).repeat(size, 1)
        # The row's own answer, drawn again or another row's, is not wrong
        log_weight.masked_fill_(columns == answer[:, None], -torch.inf)
        log_weight[row, row] = 0
        return columns, row, log_weight


class QuestionBatches(Batches):
    """Take questions as rows, each with all its training answers (k-vs-all).

    FB15k-237 has 3.6 triples per question: a costly encoder such as ConvE's then runs 3.6 times less often.
    """

    def __init__(self, triples: np.ndarray, num_entities: int, settings: CommonSettings, device: str) -> None:
        head, relation, tail = np.asarray(triples, np.int64).T
        given = np.concatenate([2 * relation * num_entities + head, (2 * relation + 1) * num_entities + tail])
        pairs = np.unique(given * num_entities + np.concatenate([tail, head]))
        keys, start, count = np.unique(pairs // num_entities, return_index=True, return_counts=True)
        self.relation, self.entity, self.answer, self.start, self.count = (
            torch.as_tensor(x, device=device)
            for x in (*np.divmod(keys, num_entities), pairs % num_entities, start, count)
        )
        super().__init__(num_entities, settings, device)

    def right(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return all answers of each question, one after the other."""
        start, count = self.start[rows], self.count[rows]
        row = torch.repeat_interleave(count)  # 0 count[0] times, 1 count[1] times, …
        first = torch.cumsum(count, 0) - count  # where the answers of each row begin in row
        return row, self.answer[torch.arange(len(row), device=self.device) + (start - first)[row]]

    def columns(self, row: Tensor, answer: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor]:
        """Make each entity one column, which stands for 1 / (its chance to be in a batch) entities."""
        union, place = torch.unique(torch.cat([answer, self.draw_entities()]), return_inverse=True)
        place = place[: len(answer)]
        expected = self.settings["num_negatives"] / self.num_entities + size * self.frequency[union]
        log_weight = -torch.log(-torch.expm1(-expected)).repeat(size, 1)
        log_weight[row, place] = 0
        return union, place, log_weight


BATCHES: dict[str, type[TripleBatches] | type[QuestionBatches]] = {
    "triples": TripleBatches,
    "questions": QuestionBatches,
}
