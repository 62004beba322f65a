"""Counting from a copy of the rows, as on a GPU with few entities, equals counting block by block."""

import numpy as np
import torch

from pooling.scoring.counts import RankCounts, _count_copied


def test_counts_of_copied_rows_equal_those_of_blocks():
    rng = np.random.default_rng(0)
    scores = torch.from_numpy(rng.integers(0, 9, (5, 40)).astype(np.float32))
    row = np.repeat(np.arange(5), [4, 2, 2, 1, 0])
    entity = rng.integers(0, 40, len(row))
    own = scores[torch.from_numpy(row), torch.from_numpy(entity)]
    counts = RankCounts(own, row, entity, torch.arange(40))
    for a, b in zip(_count_copied(scores, own, torch.from_numpy(row)), counts._count_blocks(scores), strict=True):
        assert torch.equal(a, b)
