"""What a measure is: one entry of the registry, written beside the kernel that computes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from evaluation.kernels.prepared import Labelled
from evaluation.kernels.table import Floats

Kind = Literal["micro", "macro"]
Cutoff = Literal["none", "optional", "required"]


@dataclass(frozen=True)
class Family:
    """A measure but for its cut-off k.

    `compute(labelled, k)` gives one value per unit: [systems, answers] if `kind` is micro (in the order of
    labelled.answer_row), [systems, evaluated questions] if it is macro. Undefined values are nan.
    In `label`, `description` and `formula` the text {k} stands for the cut-off ("" where there is none).
    """

    name: str
    label: str
    kind: Kind
    cutoff: Cutoff
    low: float
    high: float | None  # None: no upper bound
    higher_is_better: bool
    description: str
    formula: str
    source: str
    compute: Callable[[Labelled, int | None], Floats]
    answers_only: bool = True  # False: the value also depends on triples that are not answers
