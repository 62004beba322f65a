"""What every order of judging sees, and what it gives back. Source: spec of pooling, "Orders"."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

UNLABELLED, NO, YES = -1, 0, 1


@dataclass(frozen=True)
class OrderPool:
    """n pooled triples that people may judge, and which of the runs hold them.

    ranks int32 [runs, n]: smallest rank at which a run holds the triple, on either side; 0: it does not hold it
    depth int32 [n]: smallest rank at which any run found it, at least 1
    group int64 [n]: the question that each is shown under
    """

    ranks: np.ndarray
    depth: np.ndarray
    group: np.ndarray

    def __post_init__(self) -> None:
        n = len(self.depth)
        if self.ranks.ndim != 2 or self.ranks.shape[1] != n or len(self.group) != n:
            raise ValueError(
                f"ranks must be (runs, {n}) and group ({n},), got {self.ranks.shape}, {self.group.shape}"
            )
        if n and self.depth.min() < 1:
            raise ValueError("depth must be at least 1")

    @property
    def size(self) -> int:
        return len(self.depth)


@dataclass(frozen=True)
class Progress:
    """How far judging is. All an order may know: it gives the same answer for the same progress, seed and settings.

    released bool [n]: given to people; drawn bool [n]: chosen by the order itself, not only with its question
    label int8 [n]: UNLABELLED, NO or YES; arm int64 [n]: the run that the order followed when it chose it, -1: none
    """

    released: np.ndarray
    drawn: np.ndarray
    label: np.ndarray
    arm: np.ndarray

    @classmethod
    def start(cls, n: int) -> Progress:
        return cls(
            np.zeros(n, bool), np.zeros(n, bool), np.full(n, UNLABELLED, np.int8), np.full(n, -1, np.int64)
        )


class Pick(NamedTuple):
    """k chosen triples, the first one first: index int64 [k], chance of being drawn float64 [k] (NaN where the order is
    no sample), run followed int64 [k] (-1: none). A sample names those again that came to people with their question:
    from then on they are drawn too."""

    triple: np.ndarray
    probability: np.ndarray
    arm: np.ndarray


Settings = Mapping[str, float | list[float] | list[int]]


@dataclass(frozen=True)
class Order:
    """A registry row. `pick(pool, progress, size, seed, settings)` chooses `size` triples, fewer where fewer are left."""

    name: str
    label: str
    description: str
    caution: str  # what a manager must know before choosing it; "" if nothing
    source: str
    is_sample: bool  # estimates by inverse probability are valid under it
    pick: Callable[[OrderPool, Progress, int, int, Settings], Pick]
    settings: Settings = field(default_factory=dict)  # their defaults
