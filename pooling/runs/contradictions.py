"""Refuse runs whose ranks say another order than their scores, and put given positions in place of counted ones."""

import numpy as np

from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.runs.kernel import Listed, contradictions
from pooling.runs.trec_read import RunFile, TrecError, id_of


def check_ranks(listed: Listed, read: RunFile, graph: GraphArrays, name: str, scores_decide: bool) -> str:
    """Return what the ranks of a run contradict in its scores, as a sentence; empty if nothing.

    TrecError where more than half of the lines that follow a better score contradict, unless `scores_decide`: such
    scores may be distances, where the lowest is the best.
    """
    wrong = contradictions(listed, read.rank)
    if not len(wrong):
        return ""
    following = int((listed.optimistic > 1).sum())
    seen = f"The rank column contradicts the scores in {len(wrong):,} {'lines' if len(wrong) > 1 else 'line'}"
    if scores_decide or 2 * len(wrong) <= following:
        return f"{seen} (first: line {read.line[wrong].min():,}); the scores decide."
    raise TrecError(
        f"{name}: {seen[0].lower()}{seen[1:]} of {len(listed.line):,}. {_example(listed, read, graph, wrong)} If the "
        "lowest score is the best, reverse the scores (score = -rank works). If the scores are right, say that they "
        "decide (--scores-decide, the box on the page, scores_decide in the API). Nothing was imported."
    )


def _example(listed: Listed, read: RunFile, graph: GraphArrays, wrong: np.ndarray) -> str:
    """Return the first contradicting line beside the best of its question, in words."""
    line = int(wrong[np.argmin(read.line[wrong])])
    best = int(listed.line[np.flatnonzero(listed.question == read.question[line])[0]])
    question = id_of(int(read.question[line]), graph)
    return f"For example, in {question} {_ranked(read, line)}, and {_ranked(read, best)}."


def _ranked(read: RunFile, line: int) -> str:
    rank = f"rank {read.rank[line]:,}" if read.rank[line] >= 0 else "no whole number as its rank"
    return f"line {read.line[line]:,} has {rank} with score {read.score[line]:g}"


def placed(listed: Listed, position: np.ndarray | None) -> Listed:
    """Return the entities with the positions that the file gives, int64[n] by row; None: as counted."""
    if position is None:
        return listed
    given = position[listed.line].astype(np.int32)
    return listed._replace(strict=given, optimistic=given, pessimistic=given)
