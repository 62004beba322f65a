"""The registry of measures that pages, API, commands and documentation read.

A measure is an entry in `FAMILIES` beside its kernel (evaluation/kernels/{micro,macro,ir,judged}.py) with
its cut-off.
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.kernels.family import Kind
from evaluation.kernels.values import known_names, parse_name

__all__ = ["MEASURES", "Measure", "known_names", "parse_measure"]


@dataclass(frozen=True)
class Measure:
    name: str  # "micro_hits@10"
    label: str  # "Micro Hits@10"
    kind: Kind  # mean over answers (micro) or over questions (macro)
    k: int | None
    low: float
    high: float | None  # None: no upper bound
    higher_is_better: bool
    description: str  # two sentences for the page
    formula: str
    source: str


def parse_measure(name: str) -> Measure:
    """The measure that `name` writes; ValueError that names what is known otherwise."""
    family, k = parse_name(name)

    def at(text: str) -> str:
        return text.replace("@{k}", "" if k is None else f"@{k}").replace("{k}", str(k))

    return Measure(
        name=family.name if k is None else f"{family.name}@{k}",
        label=at(family.label),
        kind=family.kind,
        k=k,
        low=family.low,
        high=family.high,
        higher_is_better=family.higher_is_better,
        description=at(family.description),
        formula=at(family.formula),
        source=family.source,
    )


MEASURES: tuple[Measure, ...] = tuple(
    parse_measure(name)
    for name in (
        "micro_mr", "micro_mrr", "micro_hits@1", "micro_hits@3", "micro_hits@10",
        "macro_mr", "macro_mrr", "macro_hits@1", "macro_hits@3", "macro_hits@10",
        "map@20", "ndcg@20", "judged@10",
    )
)  # fmt: skip
