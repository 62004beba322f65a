"""Take in the scores of one batch of questions, chunk by chunk: ranks of the wanted entities, best candidates.

torch does it step by step, on a GPU too (`TorchBatch`). On a CPU, compiled loops do the same row by row in a fraction
of the time (`LoopBatch`). Their results are equal, bit for bit.
"""

from abc import ABC, abstractmethod
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pooling.scoring.compiled import in_threads
from pooling.scoring.counts import RankCounts
from pooling.scoring.streaming import on_device
from pooling.scoring.top_candidates import NONE, TopCandidates

LEAST_SCORES = 1 << 27  # of all questions: below, loading the loops takes longer than they save
# Rows that the loops look at between two products, at most: after a product, torch's threads go on turning for some
# milliseconds, on the same cores. 119 MB of scores for 14,541 entities.
LOOP_ROWS = 1 << 11


class Listed(NamedTuple):
    """List entities by question of a batch: `row` int64[n], ascending, and `entity` int64[n], ascending in each."""

    row: np.ndarray
    entity: np.ndarray


class Found(NamedTuple):
    """Hold the best candidates of each question, [B, k]: where there is none, entity −1, score −inf, position 0."""

    entity: np.ndarray
    score: np.ndarray
    raw: np.ndarray  # position, from 1, among all entities


class Batch(ABC):
    """Hold what is found so far in the scores of a batch.

    `buffer` has the scores of one chunk at a time. `masked` entities are no candidates; `known` ones, of which they are
    some, are kept out of the best `k`. `own` [w]: the scores of the wanted, if the caller has them; else all entities
    come in one chunk. `place` [E] is the tie order.
    """

    def __init__(
        self, buffer: Tensor, wanted: Listed, masked: Listed, known: Listed, own: Tensor | None, place: Tensor, k: int
    ) -> None:
        self.buffer, self.wanted, self.masked, self.known, self.own = buffer, wanted, masked, known, own
        self.place, self.k = place, k

    def add(self, scores: Tensor, first: int) -> np.ndarray:
        """Take in scores [B, W], which are in the buffer, of the entities from `first` on; the scores are changed.

        Returns the rows with a score that is not finite, after which there are no results.
        """
        if self.own is None:
            self.own = read(self.buffer, self.wanted.row, self.wanted.entity - first)
        return self._add(scores, first, self.own)

    @abstractmethod
    def _add(self, scores: Tensor, first: int, own: Tensor) -> np.ndarray:
        """Do what `add` says; the scores of the wanted are known."""

    @abstractmethod
    def counts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return of each wanted entity how many candidates score more, how many as much or more, and how many as much
        that come before it in the tie order: int64[w] each."""

    @abstractmethod
    def best(self, order: np.ndarray) -> Found:
        """Return the best candidates; `order` inverts `place`."""


def read(buffer: Tensor, row: np.ndarray, column: np.ndarray) -> Tensor:
    """Return the scores at row and column."""
    return buffer.view(-1)[_places(buffer, row, column)]


def _places(buffer: Tensor, row: np.ndarray, column: np.ndarray) -> Tensor:
    return on_device(row * buffer.shape[1] + column, buffer.device)


class TorchBatch(Batch):
    """One step after the other, each for all rows."""

    def __init__(
        self, buffer: Tensor, wanted: Listed, masked: Listed, known: Listed, own: Tensor | None, place: Tensor, k: int
    ) -> None:
        super().__init__(buffer, wanted, masked, known, own, place, k)
        self.ranks: RankCounts | None = None
        self.top: TopCandidates | None = None
        self.of_known = torch.empty(len(known.row), device=buffer.device)

    def _add(self, scores: Tensor, first: int, own: Tensor) -> np.ndarray:
        if len(bad := _not_finite(scores)):
            return bad
        if self.ranks is None:
            self.ranks = RankCounts(own, *self.wanted, self.place)
            self.top = TopCandidates(len(scores), self.k, self.place) if self.k else None
        end, flat = first + scores.shape[1], self.buffer.view(-1)
        here, known = self._inside(self.known, first, end)
        self.of_known[on_device(here, flat.device)] = flat[known]
        flat.index_fill_(0, self._inside(self.masked, first, end)[1], -torch.inf)
        self.ranks.add(scores, first)
        if self.top is not None:
            flat.index_fill_(0, known, -torch.inf)
            self.top.add(scores, first)
        return bad

    def _inside(self, listed: Listed, first: int, end: int) -> tuple[np.ndarray, Tensor]:
        """Return which of what is listed are in first..end, and their places in the flat buffer."""
        here = np.flatnonzero((listed.entity >= first) & (listed.entity < end))
        return here, _places(self.buffer, listed.row[here], listed.entity[here] - first)

    def counts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        assert self.ranks is not None
        above, at_least, before = (x.cpu().numpy() for x in (self.ranks.above, self.ranks.at_least, self.ranks.before))
        return above, at_least, before

    def best(self, order: np.ndarray) -> Found:
        assert self.top is not None
        return Found(*self.top.result(order), self.top.raw_positions(*self.known, self.of_known))


class LoopBatch(Batch):
    """One row after the other, on the threads of torch."""

    def __init__(
        self, buffer: Tensor, wanted: Listed, masked: Listed, known: Listed, own: Tensor | None, place: Tensor, k: int
    ) -> None:
        super().__init__(buffer, wanted, masked, known, own, place, k)
        rows = len(buffer)
        self.lists = [(x.entity, np.searchsorted(x.row, np.arange(rows + 1))) for x in (wanted, masked, known)]
        self.found = tuple(np.zeros(len(wanted.row), np.int64) for _ in range(3))
        self.of_known = np.zeros(len(known.row), np.float32)
        self.keys = np.full((rows, k), NONE)

    def _add(self, scores: Tensor, first: int, own: Tensor) -> np.ndarray:
        from pooling.scoring.row_loops import look_at_rows

        rows, width = scores.shape
        bad = np.zeros(rows, bool)
        held, place, given = self.buffer.numpy(), self.place.numpy(), own.numpy()
        lists = [x for listed in self.lists for x in listed]
        results = *self.found, self.of_known, self.keys, bad
        in_threads(
            lambda start, stop: look_at_rows(
                held, held.view(np.int32), width, first, given, *lists, place, *results, start, stop
            ),
            rows,
        )
        return np.flatnonzero(bad)

    def counts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        above, at_least, before = self.found
        return above, at_least, before

    def best(self, order: np.ndarray) -> Found:
        from pooling.scoring.row_loops import write_best

        shape = self.keys.shape
        found = Found(np.full(shape, -1, np.int32), np.full(shape, -np.inf, np.float32), np.zeros(shape, np.int32))
        given = self.keys, order, *self.lists[2], self.of_known, self.place.numpy()
        into = found.entity, found.score.view(np.int32), found.raw
        in_threads(lambda start, stop: write_best(*given, *into, start, stop), len(self.keys))
        return found


def batch_class(device: torch.device, questions: int, num_entities: int) -> type[Batch]:
    """Return which kind of batch is faster for this number of questions on this device."""
    many = questions * num_entities >= LEAST_SCORES
    return LoopBatch if device.type == "cpu" and many and find_spec("numba") else TorchBatch


def _not_finite(scores: Tensor) -> np.ndarray:
    """Return the rows with a score that is NaN or infinite."""
    suspect = ~torch.isfinite(scores.sum(1))  # one read of the rows; a sum that overflows is looked at again
    rows = suspect.nonzero().flatten()
    return rows[~torch.isfinite(scores[rows]).all(1)].cpu().numpy()
