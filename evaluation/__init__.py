"""Say what labels tell about systems. `from evaluation import …` is the door for notebooks (docs/notebooks.md).

Names are imported on first use: Django loads this package at every start and does not need them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation.measures.label_state import LabelState
    from evaluation.measures.live_sums import LiveSums
    from evaluation.measures.prepared import Prepared, prepare
    from evaluation.measures.question_sums import QuestionSums, question_sums
    from evaluation.measures.rank_table import RankTable
    from evaluation.measures.registry import MEASURES, Measure, known_names, parse_measure
    from evaluation.measures.values import Values, means, values
    from evaluation.notebooks.comparisons import compare, correlate, evaluate, per_answer, per_question, reasons
    from evaluation.notebooks.rank_table import RankedRuns, rank_table
    from evaluation.statistics.bootstrap import bootstrap_correlations, bootstrap_places
    from evaluation.statistics.correlation import tau_ap, tau_ap_a
    from evaluation.statistics.groups import (
        boxes,
        by_category,
        by_popularity,
        by_relation,
        by_side,
        group_means,
        relation_counts,
        reweighted,
    )
    from evaluation.statistics.growth import accumulation_curve, depth_curve
    from evaluation.statistics.stability import half_curve, question_stability, stability_curve
    from evaluation.statistics.tukey_hsd import randomised_tukey
    from pooling.pools.kernels.shares import divergence, shares

_HOMES = {
    "evaluation.notebooks.comparisons": ("compare", "correlate", "evaluate", "per_answer", "per_question", "reasons"),
    "evaluation.notebooks.rank_table": ("RankedRuns", "rank_table"),
    "evaluation.measures.registry": ("MEASURES", "Measure", "known_names", "parse_measure"),
    "evaluation.measures.rank_table": ("RankTable",),
    "evaluation.measures.prepared": ("Prepared", "prepare"),
    "evaluation.measures.label_state": ("LabelState",),
    "evaluation.measures.values": ("Values", "means", "values"),
    "evaluation.measures.question_sums": ("QuestionSums", "question_sums"),
    "evaluation.measures.live_sums": ("LiveSums",),
    "evaluation.statistics.bootstrap": ("bootstrap_correlations", "bootstrap_places"),
    "evaluation.statistics.correlation": ("tau_ap", "tau_ap_a"),
    "evaluation.statistics.tukey_hsd": ("randomised_tukey",),
    "evaluation.statistics.growth": ("accumulation_curve", "depth_curve"),
    "evaluation.statistics.stability": ("half_curve", "question_stability", "stability_curve"),
    "evaluation.statistics.groups": (
        "boxes", "by_category", "by_popularity", "by_relation", "by_side", "group_means",
        "relation_counts", "reweighted",
    ),
    "pooling.pools.kernels.shares": ("divergence", "shares"),
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "MEASURES", "LabelState", "LiveSums", "Measure", "Prepared", "QuestionSums", "RankTable", "RankedRuns",
    "Values", "accumulation_curve", "bootstrap_correlations", "bootstrap_places", "boxes", "by_category",
    "by_popularity", "by_relation", "by_side", "compare", "correlate", "depth_curve", "divergence", "evaluate",
    "group_means", "half_curve", "known_names", "means", "parse_measure", "per_answer", "per_question", "prepare",
    "question_stability", "question_sums", "randomised_tukey", "rank_table", "reasons", "relation_counts",
    "reweighted", "shares", "stability_curve", "tau_ap", "tau_ap_a", "values",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
