"""Evaluation: what labels say about systems. `from evaluation import …` is the door for notebooks (docs/notebooks.md).

What stands here is imported when it is first asked for: Django loads this package at every start and needs none of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation.frames import RankedRuns, rank_table
    from evaluation.kernels.curves import (
        accumulation_curve,
        depth_curve,
        half_curve,
        question_stability,
        stability_curve,
    )
    from evaluation.kernels.groups import (
        boxes,
        by_category,
        by_popularity,
        by_relation,
        by_side,
        group_means,
        relation_counts,
        reweighted,
    )
    from evaluation.kernels.live import LiveSums
    from evaluation.kernels.places import bootstrap_places
    from evaluation.kernels.prepared import Prepared, prepare
    from evaluation.kernels.randomised import randomised_tukey
    from evaluation.kernels.resample import bootstrap_correlations
    from evaluation.kernels.state import LabelState
    from evaluation.kernels.sums import QuestionSums, question_sums
    from evaluation.kernels.table import RankTable
    from evaluation.kernels.values import Values, means, values
    from evaluation.measures import MEASURES, Measure, known_names, parse_measure
    from evaluation.notebooks import compare, correlate, evaluate, per_answer, per_question, reasons
    from pooling.kernels.shares import divergence, shares

_HOMES = {
    "evaluation.notebooks": ("compare", "correlate", "evaluate", "per_answer", "per_question", "reasons"),
    "evaluation.frames": ("RankedRuns", "rank_table"),
    "evaluation.measures": ("MEASURES", "Measure", "known_names", "parse_measure"),
    "evaluation.kernels.table": ("RankTable",),
    "evaluation.kernels.prepared": ("Prepared", "prepare"),
    "evaluation.kernels.state": ("LabelState",),
    "evaluation.kernels.values": ("Values", "means", "values"),
    "evaluation.kernels.sums": ("QuestionSums", "question_sums"),
    "evaluation.kernels.live": ("LiveSums",),
    "evaluation.kernels.resample": ("bootstrap_correlations",),
    "evaluation.kernels.places": ("bootstrap_places",),
    "evaluation.kernels.randomised": ("randomised_tukey",),
    "evaluation.kernels.curves": (
        "accumulation_curve", "depth_curve", "half_curve", "question_stability", "stability_curve",
    ),
    "evaluation.kernels.groups": (
        "boxes", "by_category", "by_popularity", "by_relation", "by_side", "group_means",
        "relation_counts", "reweighted",
    ),
    "pooling.kernels.shares": ("divergence", "shares"),
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "MEASURES", "LabelState", "LiveSums", "Measure", "Prepared", "QuestionSums", "RankTable", "RankedRuns",
    "Values", "accumulation_curve", "bootstrap_correlations", "bootstrap_places", "boxes", "by_category",
    "by_popularity", "by_relation", "by_side", "compare", "correlate", "depth_curve", "divergence", "evaluate",
    "group_means", "half_curve", "known_names", "means", "parse_measure", "per_answer", "per_question", "prepare",
    "question_stability", "question_sums", "randomised_tukey", "rank_table", "reasons", "relation_counts",
    "reweighted", "shares", "stability_curve", "values",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
