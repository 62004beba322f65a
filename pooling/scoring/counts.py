"""Count the scores of a row above each wanted one, and equal to it, chunk by chunk of the entities."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from pooling.scoring.streaming import on_device

# Comparisons held at once: on a CPU floats, few enough to stay in the cache of a core; on a GPU booleans, 256 MiB.
AT_ONCE_CPU, AT_ONCE_GPU = 1 << 19, 1 << 28


class RankCounts:
    """Count, for the w wanted entities of a batch, the scores of its row that lie above or equal: int64[w].

    `row` and `entity` int64[w] are the wanted ones, `own` [w] their scores, `place` [E] the tie order.
    Neighbouring rows that want equally many are compared in one block, uncopied: the batch is best sorted by that.
    """

    def __init__(self, own: Tensor, row: np.ndarray, entity: np.ndarray, place: Tensor) -> None:
        self.own, self.place = own, place
        self.row, self.entity = (on_device(x, own.device) for x in (row, entity))
        self.at_once = AT_ONCE_CPU if own.device.type == "cpu" else AT_ONCE_GPU
        self.blocks = list(_blocks(row))
        self.above, self.at_least, self.before = (
            torch.zeros(len(row), dtype=torch.int64, device=own.device) for _ in range(3)
        )

    def add(self, scores: Tensor, first: int) -> None:
        """Compare with the scores [B, W] of entities first … first + W; −inf marks entities that are no candidates."""
        if scores.device.type != "cpu" and len(self.row) * scores.shape[1] <= AT_ONCE_GPU >> 2:
            above, at_least = _count_copied(scores, self.own, self.row)
        else:
            above, at_least = self._count_blocks(scores)
        self.above += above
        self.at_least += at_least
        inside = (self.entity >= first) & (self.entity < first + scores.shape[1])  # equal to itself
        self._break_ties(scores, first, at_least - above > inside.long())

    def _count_blocks(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """Return how many scores of its row lie above, and at or above, each wanted one; block by block."""
        above, at_least = torch.zeros_like(self.above), torch.zeros_like(self.above)
        kept = torch.float32 if scores.device.type == "cpu" else torch.bool
        hits = torch.empty(max(self.at_once, scores.shape[1]), dtype=kept, device=scores.device)
        for begin, end, each, offset in self.blocks:
            own, over, reaching = (
                x[offset : offset + (end - begin) * each].view(end - begin, each) for x in (self.own, above, at_least)
            )
            _count(scores[begin:end], own, over, reaching, hits)
        return above, at_least

    def _break_ties(self, scores: Tensor, first: int, tied: Tensor) -> None:
        """Count the entities that score the same as a wanted one and come first in the tie order."""
        place = self.place[first : first + scores.shape[1]]
        for part in tied.nonzero().flatten().split(max(1, self.at_once // 4 // scores.shape[1])):
            same = scores.index_select(0, self.row[part]) == self.own[part, None]
            earlier = place < self.place[self.entity[part], None]
            self.before[part] += (same & earlier).sum(1)


def _count_copied(scores: Tensor, own: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
    """Return the same from a copy of the rows: few calls, which a GPU waits for where there are few entities."""
    lines = scores.index_select(0, row)
    return (lines > own[:, None]).sum(1), (lines >= own[:, None]).sum(1)


def _blocks(row: np.ndarray) -> Iterator[tuple[int, int, int, int]]:
    """Yield runs of rows that want equally many: first row, last row + 1, how many each, where their wanted begin."""
    each = np.bincount(row)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(each)) + 1, [len(each)]])
    offset = 0
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        if begin < end and each[begin]:
            yield begin, end, int(each[begin]), offset
            offset += (end - begin) * int(each[begin])


def _count(scores: Tensor, own: Tensor, above: Tensor, at_least: Tensor, hits: Tensor) -> None:
    """Write how many of each row's scores [b, W] lie above, and at or above, its own [b, n] into int64 [b, n].

    `hits` is what to compare into, at least W. On a CPU floats: summing booleans is 5 to 20 times slower there.
    """
    at_once = len(hits) // scores.shape[1]
    rows, some = max(1, at_once // own.shape[1]), min(own.shape[1], at_once)
    for i in range(0, len(own), rows):
        lines = scores[i : i + rows, None, :]
        for j in range(0, own.shape[1], some):
            mine = own[i : i + rows, j : j + some, None]
            hit = hits[: mine.numel() * scores.shape[1]].view(*mine.shape[:2], -1)
            above[i : i + rows, j : j + some] = torch.gt(lines, mine, out=hit).sum(2)
            at_least[i : i + rows, j : j + some] = torch.ge(lines, mine, out=hit).sum(2)
