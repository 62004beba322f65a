"""Measure how far the labels reach: what the top of each system's lists consists of."""

from dataclasses import dataclass

import numpy as np

from evaluation.measures.label_state import LabelState, States, positive
from evaluation.measures.measure import Measure
from evaluation.measures.prepared import Labelled, Prepared
from evaluation.measures.rank_table import Flags, Floats, Ints


def judged_share(answers: Labelled, k: int | None) -> Floats:
    """Return the judged share of the candidates that a run returned among its first k, [systems, evaluated questions].

    0 where it returned none. As ir_measures: a list shorter than k is divided by its own length.
    """
    assert k is not None
    judged = answers.nonrelevant | positive(answers.state)
    top = _count_top(answers, judged[answers.table.triple], k)
    return top / np.maximum(np.minimum(answers.returned, k), 1)


def held_share(answers: Labelled, held: Flags, k: int) -> Floats:
    """Return the largest share that Judged@k can have while only `held` bool [triples] can be judged, [evaluated].

    Of the first min(k, |C(q)|) positions at most as many can be judged as triples of the question are held.
    """
    counts = np.bincount(answers.table.question, weights=held[answers.table.triple], minlength=answers.table.questions)
    most = np.minimum(answers.table.candidates[answers.question], k)
    return np.minimum(counts[answers.question], most) / most


@dataclass(frozen=True)
class TopShares:
    """Hold the parts [systems] of the first k positions of all evaluated questions; they add up to 1."""

    original: Floats  # answers that were positive before any label
    new: Floats  # answers found by labels
    negative: Floats
    assumed_negative: Floats
    unjudged: Floats  # in the pool, no judgement
    not_pooled: Floats  # also the positions that a run left empty
    positions: int  # how many positions the shares are taken of


def top_shares(prepared: Prepared, state: States, original: Flags, k: int = 10) -> TopShares:
    """Return the shares of label states among the first min(k, |C(q)|) positions; `original` bool [triples]."""
    answers = Labelled(prepared, state)
    positions = int(np.minimum(prepared.table.candidates[answers.question], k).sum())

    def share(triples: Flags) -> Floats:
        counted = _count_top(answers, triples[prepared.table.triple], k).sum(axis=1)
        return counted / positions if positions else np.full(prepared.table.systems, np.nan)

    answer = positive(state)
    named = (
        share(answer & original),
        share(answer & ~original),
        share(state == LabelState.NEGATIVE),
        share(state == LabelState.ASSUMED_NEGATIVE),
        share(state == LabelState.UNJUDGED),
    )
    return TopShares(*named, 1.0 - np.sum(named, axis=0), positions)


def _count_top(answers: Labelled, flag: Flags, k: int) -> Ints:
    """Count the flagged rows (bool [rows]) among the first k positions of each evaluated question, [systems, e]."""
    table = answers.table
    top = (table.strict > 0) & (table.strict <= k) & flag
    counts = np.array([np.bincount(table.question, weights=row, minlength=table.questions) for row in top])
    return counts.reshape(table.systems, table.questions)[:, answers.question].astype(np.int64)


ROWS = (
    Measure(
        "judged", "Judged@{k}", "macro", "required", 0.0, 1.0, True,
        "Share of the top {k} candidates that are judged. "
        "If it is low, other measures at the same cut-off say little about the system.",
        "mean over q of (judged in the first {k}) / min({k}, candidates returned); 0 if none was returned",
        "ir_measures Judged@k", judged_share, (10,),
        answers_only=False, parameters="k = {k}: the first k candidates",
        caution="It shows how complete the labels are, not how good a system is, so do not order systems by it.",
    ),
)  # fmt: skip
