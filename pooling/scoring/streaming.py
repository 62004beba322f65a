"""Bring the features of entities to a device tile by tile, for graphs that its memory does not hold."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

SLOTS = 2  # tiles on the device: one is scored while the next is on its way


def on_device(values: np.ndarray | Tensor, device: torch.device) -> Tensor:
    """Return `values` on the device. A copy to a GPU starts from pinned memory, so that nothing waits for it."""
    tensor = torch.as_tensor(values)
    if device.type == "cpu" or tensor.device.type != "cpu":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def pin_weights(model: Any) -> None:
    """Move the weights of a model into pinned memory, from which a GPU copies while it computes."""
    for weights in (*model.parameters(), *model.buffers()):
        weights.data = weights.data.pin_memory()


def held_bytes(model: Any) -> int:
    """Return the bytes of a model's weights."""
    return sum(x.numel() * x.element_size() for x in (*model.parameters(), *model.buffers()))


class Stream:
    """Yield the tiles of features [n, f] of the host, each copied to the device while the one before is scored."""

    def __init__(self, features: Tensor, device: torch.device, tile: int) -> None:
        self.tile = tile
        rows = min(tile, len(features))
        self.slots = [torch.empty((rows, *features.shape[1:]), device=device) for _ in range(SLOTS)]
        self.copies = None if device.type == "cpu" else torch.cuda.Stream(device)
        self.used: list[Any] = [None] * SLOTS  # events: the slot has been read
        self.turn = 0

    def tiles(self, features: Tensor) -> Iterator[tuple[int, Tensor]]:
        """Yield the first row of each tile and the tile on the device; it is overwritten two tiles later."""
        for first in range(0, len(features), self.tile):
            part = features[first : first + self.tile]
            slot = self.turn
            here = self.slots[slot][: len(part)]
            if self.copies is None:
                yield first, here.copy_(part)
                continue
            scoring = torch.cuda.current_stream(self.copies.device)
            with torch.cuda.stream(self.copies):
                self.copies.wait_event(self.used[slot]) if self.used[slot] else self.copies.wait_stream(scoring)
                here.copy_(part, non_blocking=True)
            scoring.wait_stream(self.copies)
            yield first, here
            self.used[slot] = scoring.record_event()
            self.turn = (slot + 1) % SLOTS
