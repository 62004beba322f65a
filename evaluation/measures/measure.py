"""What a measure is: one entry of the registry, written beside the kernel that computes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from evaluation.measures.prepared import Labelled
from evaluation.measures.rank_table import Flags, Floats, Ints

Kind = Literal["micro", "macro"]
Cutoff = Literal["none", "optional", "required"]
NOTHING_TO_CHOOSE = "every answer is the only candidate of its question, so every system does as well as chance"


@dataclass(frozen=True)
class Chance:
    """What a random order would reach: value = scale * base + offset, one scale and offset for all systems.

    They belong to one set of answers; another set (a relation, a side) has its own. `of` gives both from the
    numbers of candidates of the answers, nan where there is nothing to choose.
    """

    candidates: Ints  # [n] per answer, the question's other answers removed
    of: Callable[[Ints], tuple[float, float]]

    @cached_property
    def affine(self) -> tuple[float, float]:
        return self.of(self.candidates)

    @property
    def reason(self) -> str:
        """Why no system has a value; "" where they may."""
        return NOTHING_TO_CHOOSE if np.isnan(self.affine[0]) else ""

    def keep(self, kept: Flags) -> Chance:
        return replace(self, candidates=self.candidates[kept])

    def move(self, values: Floats, within: Chance) -> Floats:
        """Values (any shape) or means of the answers of `within`, adjusted for chance among these alone."""
        (scale, offset), (new_scale, new_offset) = self.affine, within.affine
        moved: Floats = new_scale / scale * (values - offset) + new_offset
        return moved


@dataclass(frozen=True)
class Family:
    """A measure but for its cut-off k.

    `compute(labelled, k)` gives one value per unit: [systems, answers] if `kind` is micro (in the order of
    labelled.answer_row), [systems, evaluated questions] if it is macro. Undefined values are nan.
    In `label`, `description`, `formula`, `parameters` and `caution` the text {k} stands for the cut-off
    ("" where there is none).
    """

    name: str
    label: str
    kind: Kind
    cutoff: Cutoff
    low: float | None  # None: no lower bound that holds for all label sets
    high: float | None  # None: no upper bound
    higher_is_better: bool
    description: str
    formula: str
    source: str
    compute: Callable[[Labelled, int | None], Floats]
    answers_only: bool = True  # False: the value also depends on triples that are not answers
    finish: Callable[[Floats], Floats] | None = None  # turns means into the value: exp, for a geometric mean
    parameters: str = "none"  # what k means
    caution: str = ""  # what a reader can get wrong
    missing: str = ""  # why a unit is undefined, with {missing} and {n} for how many of how many are
    # set where a unit's value also depends on the answers of other questions, through the chance level
    chance: Callable[[Labelled], Chance] | None = None


def rank_or_nan(rank: Floats) -> Floats:
    """Ranks with nan in place of inf: an answer that was not returned has no rank."""
    return np.where(np.isinf(rank), np.nan, rank)
