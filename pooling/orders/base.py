"""Define what every order of judging sees, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

UNLABELLED, NO, YES = -1, 0, 1
GREEDY = "Unfair to runs that did not help to build the pool, and no random sample: infAP and estimates do not hold."
Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class OrderPool:
    """Hold n pooled triples that people may judge, and which of the runs hold them.

    ranks int32 [runs, n]: smallest rank at which a run holds the triple, on either side; 0: it does not hold it
    depth int32 [n]: smallest rank at which any run found it, at least 1
    group int64 [n]: the question that each is shown under
    """

    ranks: np.ndarray
    depth: np.ndarray
    group: np.ndarray
    _kept: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        n = len(self.depth)
        if self.ranks.ndim != 2 or self.ranks.shape[1] != n or len(self.group) != n:
            raise ValueError(f"ranks must be (runs, {n}) and group ({n},), got {self.ranks.shape}, {self.group.shape}")
        if n and self.depth.min() < 1:
            raise ValueError("depth must be at least 1")

    @property
    def size(self) -> int:
        return len(self.depth)

    @property
    def runs(self) -> int:
        return len(self.ranks)

    def remember(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what follows from the pool alone, made once. Orders are asked again and again for the same pool."""
        if key not in self._kept:
            self._kept[key] = make()
        found: Made = self._kept[key]
        return found

    def place(self, seed: int) -> np.ndarray:
        """Return the place of each triple in a seeded random order, int64 [n]; it breaks all ties of triples.

        Each triple has its own random number, so that the order of the old ones stays when triples come behind them.
        """

        def make() -> np.ndarray:
            return np.argsort(np.argsort(np.random.default_rng(seed).random(self.size), kind="stable"))

        return self.remember(("place", seed), make)

    def lists(self, seed: int) -> list[np.ndarray]:
        """Return the triples that each run holds, best rank first, equal ranks in the seeded order; int64 [held]."""

        def make() -> list[np.ndarray]:
            sorted_ = (np.lexsort((self.place(seed), ranks)) for ranks in self.ranks)
            return [order[ranks[order] > 0] for order, ranks in zip(sorted_, self.ranks, strict=True)]

        return self.remember(("lists", seed), make)


@dataclass(frozen=True)
class JudgingState:
    """Hold how far judging is: all that an order may know.

    An order gives the same answer for the same state, seed and settings.
    released bool [n]: given to people; drawn bool [n]: chosen by the order itself, not only with its question
    label int8 [n]: UNLABELLED, NO or YES; arm int64 [n]: the run that the order followed when it chose it, -1: none
    """

    released: np.ndarray
    drawn: np.ndarray
    label: np.ndarray
    arm: np.ndarray

    @classmethod
    def start(cls, n: int) -> JudgingState:
        return cls(np.zeros(n, bool), np.zeros(n, bool), np.full(n, UNLABELLED, np.int8), np.full(n, -1, np.int64))


class Pick(NamedTuple):
    """Hold k chosen triples, the first one first.

    `triple` int64 [k]: their index; `probability` float64 [k]: the chance of being drawn (NaN where the order is no
    sample); `arm` int64 [k]: the run followed (-1: none). A sample names those again that came to people with their
    question: from then on they are drawn too. It may name only such: ask again for triples that are new to people.
    """

    triple: np.ndarray
    probability: np.ndarray
    arm: np.ndarray

    @classmethod
    def of(cls, triple: np.ndarray, arm: np.ndarray | int = -1, probability: np.ndarray | float = np.nan) -> Pick:
        """Make a pick of what is known: by default it is no sample and follows no run."""
        arms = np.broadcast_to(arm, len(triple)).astype(np.int64)
        return cls(triple, np.broadcast_to(probability, len(triple)).astype(np.float64), arms)


def best(score: np.ndarray, place: np.ndarray, choice: np.ndarray, size: int) -> np.ndarray:
    """Return the `size` triples of `choice` (bool [n]) with the largest score float [n], ties by place; int64."""
    found = np.flatnonzero(choice) if size else np.zeros(0, dtype=np.int64)
    if size < len(found):  # those below the last score that counts need no sorting
        least = np.partition(score[found], len(found) - size)[len(found) - size]
        found = found[score[found] >= least]
    return found[np.lexsort((place[found], -score[found]))][:size]


Settings = Mapping[str, float | list[float] | list[int]]


@dataclass(frozen=True)
class Order:
    """Register an order. `pick(pool, state, size, seed, settings)` chooses `size` triples, or all that are left."""

    name: str
    label: str
    description: str
    caution: str  # what a manager must know before choosing it; "" if nothing
    source: str
    is_sample: bool  # estimates by inverse probability are valid under it
    pick: Callable[[OrderPool, JudgingState, int, int, Settings], Pick]
    settings: Settings = field(default_factory=dict)  # their defaults
    about_settings: str = ""  # what each setting does, for people who never saw the order
