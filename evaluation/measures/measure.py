"""Describe a measure: one row of the registry, written beside the kernel that computes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from evaluation.measures.prepared import Labelled
from evaluation.measures.rank_table import Flags, Floats, Ints

Kind = Literal["micro", "macro"]
Cutoff = Literal["none", "optional", "required"]
FACTS = (
    "name", "label", "kind", "k", "low", "high", "higher_is_better", "description", "formula", "parameters", "caution",
    "source",
)  # fmt: skip
NOTHING_TO_CHOOSE = "every answer is the only candidate of its question, so every system does as well as chance"


@dataclass(frozen=True)
class Chance:
    """Hold the chance level of a set of answers: value = scale * base + offset, the same for all systems.

    Another set of answers (a relation, a side) has its own. `of` gives scale and offset from the numbers of
    candidates of the answers, nan where there is nothing to choose.
    """

    candidates: Ints  # [n] per answer, the question's other answers removed
    of: Callable[[Ints], tuple[float, float]]

    @cached_property
    def affine(self) -> tuple[float, float]:
        return self.of(self.candidates)

    @property
    def reason(self) -> str:
        """Return why no system has a value; "" where there is no such reason."""
        return NOTHING_TO_CHOOSE if np.isnan(self.affine[0]) else ""

    def keep(self, kept: Flags) -> Chance:
        return replace(self, candidates=self.candidates[kept])

    def move(self, values: Floats, within: Chance) -> Floats:
        """Adjust values (any shape), or means, of the answers of `within` for chance among these alone."""
        (scale, offset), (new_scale, new_offset) = self.affine, within.affine
        moved: Floats = new_scale / scale * (values - offset) + new_offset
        return moved


@dataclass(frozen=True)
class Measure:
    """Describe one measure: its name, what it means, and the kernel that computes it.

    A row of the registry leaves the cut-off open and writes {k} in its texts; `at(k)` fills both in.
    `kernel(labelled, k)` gives one value per unit: [systems, answers] if `kind` is micro (in the order of
    labelled.answer_row), [systems, evaluated questions] if it is macro. Undefined values are nan.

    Examples
    --------
    >>> from triplepool import MEASURES
    >>> [measure.name for measure in MEASURES if measure.kind == "macro"][:3]
    ['macro_mr', 'macro_mrr', 'macro_hits@1']
    """

    name: str  # "micro_hits@10"; in the registry "micro_hits"
    label: str  # "Micro Hits@10"; in the registry "Micro Hits@{k}"
    kind: Kind  # mean over answers (micro) or over questions (macro)
    cutoff: Cutoff
    low: float | None  # None: no lower bound that holds for all label sets
    high: float | None  # None: no upper bound
    higher_is_better: bool
    description: str  # two sentences for the page
    formula: str
    source: str
    kernel: Callable[[Labelled, int | None], Floats] = field(repr=False)
    offered: tuple[int | None, ...] = ()  # the cut-offs that pages offer; any other can be asked for by name
    answers_only: bool = True  # False: the value also depends on triples that are not answers
    finish: Callable[[Floats], Floats] | None = field(default=None, repr=False)  # means to value: exp, for example
    parameters: str = "none"  # what k means
    caution: str = ""  # what a reader can get wrong; "" if nothing
    missing: str = ""  # why a unit is undefined, with {missing} and {n} for how many of how many are
    # set where a unit's value also depends on the answers of other questions, through the chance level
    chance: Callable[[Labelled], Chance] | None = field(default=None, repr=False)
    k: int | None = None
    largest_k: int | None = None  # of a cut-off in percent

    def at(self, k: int | None) -> Measure:
        """Return the measure with its cut-off; `k` None is the whole list."""

        def filled(text: str) -> str:
            if k is None:
                return text.replace("@{k}", "").replace("k = {k}", "k, optional").replace("{k}", "k")
            return text.replace("{k}", str(k))

        texts = ("label", "description", "formula", "parameters", "caution")
        own: dict[str, Any] = {text: filled(getattr(self, text)) for text in texts}
        return replace(self, name=self.name if k is None else f"{self.name}@{k}", k=k, **own)

    def compute(self, labelled: Labelled) -> Floats:
        """Return the value of every unit: [systems, answers] or [systems, evaluated questions]."""
        return self.kernel(labelled, self.k)

    def facts(self) -> dict[str, Any]:
        """Return what a reader may know of the measure, for JSON."""
        return {name: getattr(self, name) for name in FACTS}


def rank_or_nan(rank: Floats) -> Floats:
    """Return ranks with nan in place of inf: an answer that was not returned has no rank."""
    return np.where(np.isinf(rank), np.nan, rank)
