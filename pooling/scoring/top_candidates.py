"""Find the best entities of each question, chunk by chunk of the entities.

A threshold that at least k scores of a row reach leaves few of them: the k-th best so far, or the k-th largest maximum
of 2k to 4k groups of columns, which takes one read and a small top-k (torch.topk over whole rows takes three times as
long). What is left becomes one whole number each, score before place in the tie order: no two are equal, so
that neither the order among equal scores nor the chunks can change the result.
"""

from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from pooling.scoring.streaming import on_device

# Columns that are looked at in one go: what is picked from them is bounded, even where all scores are equal.
PIECE, PIECE_GPU = 1 << 14, 1 << 17
LAST = (1 << 32) - 1
NONE = -0x7F800001 << 32  # the key of no candidate: its score is −inf


class TopCandidates:
    """Keep the k best entities of each of `rows` questions so far; `place` int64[E]: where each is in the tie order."""

    def __init__(self, rows: int, k: int, place: Tensor) -> None:
        self.k, self.place = k, place
        self.best = torch.full((rows, k), NONE, device=place.device)  # keys, descending

    def add(self, scores: Tensor, first: int) -> None:
        """Take in scores [B, W] of entities first … first + W; −inf marks entities that are no candidates."""
        piece = PIECE if scores.device.type == "cpu" else PIECE_GPU
        for start in range(0, scores.shape[1], piece):
            self._add_piece(scores[:, start : start + piece], first + start)

    def _add_piece(self, scores: Tensor, first: int) -> None:
        lowest = torch.finfo(torch.float32).min
        threshold = torch.maximum(_score(self.best[:, -1]), _reached(scores, self.k)).clamp_min(lowest)
        row, column = _at_least(scores, threshold[:, None])
        if not len(row):
            return
        key = _key(_pick(scores, row, column), self.place.index_select(0, first + column))
        count = torch.bincount(row, minlength=len(scores))
        start = count.cumsum(0) - count
        keys = torch.full((len(scores), int(count.max())), NONE, device=key.device)  # [B, most that a row has]
        keys[row, torch.arange(len(row), device=key.device) - start.index_select(0, row)] = key
        self.best = torch.topk(torch.cat([self.best, keys], 1), self.k, dim=1).values

    def result(self, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return entities int[B, k] (−1: none) and scores float32[B, k] (−inf there). `order` inverts `place`."""
        best = self.best.cpu()
        place = np.where(best == NONE, 0, LAST - (best & LAST))
        return np.where(best == NONE, -1, order[place]), _score(best).numpy()

    def raw_positions(self, row: np.ndarray, entity: np.ndarray, scores: Tensor) -> np.ndarray:
        """Return the position of each candidate once the entities that were kept out are back in, int32[B, k]; 0: none.

        `row` ascending and `entity`, int[n], are those kept out, each once; `scores` [n].
        """
        key = _key(scores, self.place[on_device(entity, self.place.device)])
        if key.device.type != "cpu":  # a loop over the questions would take longer than the scores
            above = _better(key, on_device(row, key.device), self.best)
            places = torch.arange(1, self.k + 1, device=key.device) + above
            return places.masked_fill(self.best == NONE, 0).int().cpu().numpy()
        out = key.numpy()
        best = self.best.cpu().numpy()
        position = np.tile(np.arange(1, self.k + 1, dtype=np.int32), (len(best), 1))
        start = np.searchsorted(row, np.arange(len(best) + 1)).tolist()
        for i, (begin, end) in enumerate(pairwise(start)):
            if begin < end:
                position[i] += (end - begin) - np.searchsorted(np.sort(out[begin:end]), best[i])
        return np.where(best == NONE, 0, position)


def _better(key: Tensor, row: Tensor, best: Tensor) -> Tensor:
    """Return how many keys [n] of its row [n] are larger than each of best [B, k], int64 [B, k]; no two are equal."""
    rows, width = best.shape
    whose = torch.cat([row, torch.arange(rows, device=row.device).repeat_interleave(width)])
    order = torch.cat([key, best.flatten()]).argsort(descending=True)
    order = order[whose[order].argsort(stable=True)]  # row by row, the largest first
    is_key = order < len(key)
    seen = is_key.cumsum(0)  # keys so far, those of the rows before among them
    earlier = torch.bincount(row, minlength=rows).cumsum(0)
    earlier = torch.cat([earlier.new_zeros(1), earlier[:-1]])
    found = torch.empty_like(best).flatten()
    found[order[~is_key] - len(key)] = seen[~is_key]
    return found.view(rows, width) - earlier[:, None]


def _pick(scores: Tensor, row: Tensor, column: Tensor) -> Tensor:
    """Return the scores at row and column: on a CPU, flat memory takes a tenth of the time of scores[row, column]."""
    down, along = scores.stride()
    span = 1 + (scores.shape[0] - 1) * down + (scores.shape[1] - 1) * along
    return scores.as_strided((span,), (1,)).index_select(0, row * down + column * along)


def _key(score: Tensor, place: Tensor) -> Tensor:
    """Return an int64 that ascends with the score and, among equal scores, descends with the place."""
    bits = (score + 0.0).view(torch.int32)  # a float's bits ascend with it; −0 and 0 are the same score
    ascending = torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits)  # … and descend where it is negative
    return (ascending.long() << 32) | (LAST - place)


def _score(key: Tensor) -> Tensor:
    """Return the score float32 of each key."""
    ascending = (key >> 32).int()
    bits = torch.where(ascending < 0, ascending ^ 0x7FFFFFFF, ascending)
    return bits.view(torch.float32)


def _reached(scores: Tensor, k: int) -> Tensor:
    """Return the k-th largest maximum of groups of columns, [B]: at least k of each row reach it; or −inf."""
    while (width := scores.shape[1]) >= 4 * k:
        size = min(16, width // (2 * k))  # of a group: columns far apart, so that a read takes whole lines
        # Last columns that fill no group are left out: the bound holds without them.
        scores = scores[:, : width // size * size].unflatten(1, (size, -1)).amax(1)
    if scores.shape[1] < k:
        return scores.new_full((len(scores),), -torch.inf)
    return torch.topk(scores, k, dim=1, sorted=False).values.amin(1)


def _at_least(scores: Tensor, threshold: Tensor) -> tuple[Tensor, Tensor]:
    """Return row and column of the scores [B, W] that reach the threshold [B, 1], row by row."""
    if scores.device.type != "cpu":
        return _at_least_by_groups(scores, threshold)
    # numpy compares and searches booleans five times faster than torch
    found = np.flatnonzero(scores.numpy() >= threshold.numpy())
    row, column = (torch.from_numpy(x) for x in np.divmod(found, scores.shape[1]))
    return row, column


def _at_least_by_groups(scores: Tensor, threshold: Tensor) -> tuple[Tensor, Tensor]:
    """Return the same as `_at_least`; look first at maxima of groups of columns, which takes one read on a GPU."""
    size = 16
    many = scores.shape[1] // size  # groups; their columns are far apart
    row, group = torch.nonzero(scores[:, : many * size].unflatten(1, (size, -1)).amax(1) >= threshold, as_tuple=True)
    column = group[:, None] + many * torch.arange(size, device=scores.device)
    rest_row, rest = torch.nonzero(scores[:, many * size :] >= threshold, as_tuple=True)
    row = torch.cat([row.repeat_interleave(size), rest_row])
    column = torch.cat([column.flatten(), rest + many * size])
    reached = scores[row, column] >= threshold[row, 0]
    row, column = row[reached], column[reached]
    order = row.argsort(stable=True)
    return row[order], column[order]
