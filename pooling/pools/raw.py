"""Refuse raw pooling of runs that do not know the places of their candidates in the full list."""

from collections.abc import Sequence

import numpy as np

from pooling.errors import PoolError
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.models import Run, System
from pooling.questions.kernel import distinct_questions
from pooling.runs.files import read_topk
from pooling.scoring.rank_rows import question_keys


def lacking_raw(systems: Sequence[System], seeds: np.ndarray, graph: GraphArrays) -> dict[System, int]:
    """Count the questions of seeds int[n, 3] whose stored candidates have no raw positions, by system; zeros left out.

    A question that a run does not hold is not counted: it is scored with its raw positions.
    """
    keys = question_keys(distinct_questions(seeds), *graph.shape)
    runs = Run.objects.select_related("system__graph").filter(system__in=systems).order_by("system_id")
    counts = {run.system: int(np.isin(keys, read_topk(run).lacks_raw).sum()) for run in runs}
    return {system: count for system, count in counts.items() if count}


def check_raw(systems: Sequence[System], seeds: np.ndarray, graph: GraphArrays, score_again: bool) -> None:
    """Raise PoolError if a raw pool of these seeds int[n, 3] needs places in full lists that a run does not know.

    `score_again`: trained systems may be scored again, so only imported ones are refused.
    """
    lacking = lacking_raw(systems, seeds, graph)
    asked = len(distinct_questions(seeds).side)
    imported = {system: count for system, count in lacking.items() if system.is_imported}
    trained = {system: count for system, count in lacking.items() if not system.is_imported}
    refused = []
    if imported:
        refused.append(
            f"{_named(imported, asked)}: the imported file holds no known answers, so nobody can tell which "
            "candidates are among the first of the full list. Import a file that keeps known answers in their "
            "places, leave the system out, or choose the rule filtered."
        )
    if trained and not score_again:
        refused.append(
            f"{_named(trained, asked)}: the run was made before places in the full list were kept. Score it again "
            "(tick Score again, or --score-again), or choose the rule filtered."
        )
    if refused:
        raise PoolError("Raw pooling needs the place of each candidate in the full list. " + " ".join(refused))


def _named(lacking: dict[System, int], asked: int) -> str:
    return "; ".join(
        f"{system.name} lacks it for {count:,} of {asked:,} questions" for system, count in lacking.items()
    )
