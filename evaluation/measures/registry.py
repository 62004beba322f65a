"""The registry of measures that pages, API, commands and documentation read.

A measure is an entry in `FAMILIES` beside its kernel (evaluation/kernels/{micro,macro,ir,judged,condensed,
adjusted}.py) with its cut-off.
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.measures.measure import Kind
from evaluation.measures.values import known_names, parse_name

__all__ = ["MEASURES", "USUAL", "Measure", "known_names", "parse_measure"]


@dataclass(frozen=True)
class Measure:
    name: str  # "micro_hits@10"
    label: str  # "Micro Hits@10"
    kind: Kind  # mean over answers (micro) or over questions (macro)
    k: int | None
    low: float | None  # None: no lower bound that holds for all label sets
    high: float | None  # None: no upper bound
    higher_is_better: bool
    description: str  # two sentences for the page
    formula: str
    parameters: str  # what k means; "none"
    caution: str  # what a reader can get wrong; "" if nothing
    source: str


def parse_measure(name: str) -> Measure:
    """The measure that `name` writes; ValueError that names what is known otherwise."""
    family, k = parse_name(name)

    def at(text: str) -> str:
        if k is None:  # a measure of the whole list
            return text.replace("@{k}", "").replace("k = {k}", "k, optional").replace("{k}", "k")
        return text.replace("{k}", str(k))

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
        parameters=at(family.parameters),
        caution=at(family.caution),
        source=family.source,
    )


def _measures(*names: str) -> tuple[Measure, ...]:
    return tuple(parse_measure(name) for name in names)


# what `evaluate` prints and the overview shows if nothing else is asked for
USUAL = _measures(
    "micro_mr",
    "micro_mrr",
    "micro_hits@1",
    "micro_hits@3",
    "micro_hits@10",
    "macro_mr",
    "macro_mrr",
    "macro_hits@1",
    "macro_hits@3",
    "macro_hits@10",
    "map@20",
    "ndcg@20",
    "judged@10",
)

# what pages offer; any other cut-off can be asked for by name
MEASURES = _measures(
    "micro_mr",
    "micro_mrr",
    "micro_hits@1",
    "micro_hits@3",
    "micro_hits@10",
    "macro_mr",
    "macro_mrr",
    "macro_hits@1",
    "macro_hits@3",
    "macro_hits@10",
    "map",
    "map@20",
    "ndcg@20",
    "p@10",
    "recall@10",
    "rprec",
    "bpref",
    "infap",
    "success@10",
    "judged@10",
    "condensed_micro_mr",
    "condensed_micro_mrr",
    "condensed_micro_hits@1",
    "condensed_micro_hits@3",
    "condensed_micro_hits@10",
    "condensed_macro_mr",
    "condensed_macro_mrr",
    "condensed_macro_hits@1",
    "condensed_macro_hits@3",
    "condensed_macro_hits@10",
    "condensed_map",
    "condensed_map@20",
    "condensed_ndcg@20",
    "condensed_p@10",
    "condensed_recall@10",
    "condensed_rprec",
    "condensed_success@10",
    "amr",
    "amri",
    "adjusted_mrr",
    "z_mrr",
    "gmr",
    "micro_log_mrr",
    "micro_p_mrr",
)
