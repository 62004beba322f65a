"""Count what is above an answer in the order of every system; infAP and nDCG of a stratified sample.

Sources: Yilmaz, Kanoulas and Aslam 2008 (a simple and efficient sampling method for estimating AP and NDCG).
"""

import numpy as np

from evaluation.estimates.kernels.weights import CERTAIN, Sample, Weights
from evaluation.measures.prepared import Prepared
from evaluation.measures.rank_table import Flags, Floats, Ints, Order

CUT = 20  # of nDCG


class Lists:
    """Rows of some triples in the order of every system, and counts of what is above each."""

    def __init__(self, prepared: Prepared, by_score: bool) -> None:
        self.rank = prepared.realistic if by_score else prepared.strict  # [systems, n]
        order = prepared.score_order if by_score else prepared.strict_order
        self.triple: Order = prepared.table.triple[order].astype(np.intp)  # [systems, n]
        self.question = prepared.table.question  # [n], the same for every system
        self._start = prepared.table.start[self.question]  # [n]
        self._tied = prepared.tied_rows if by_score else None
        self._line = np.arange(len(self.rank))[:, None]

    def above(self, flagged: Flags | Floats) -> tuple[Floats, Floats]:
        """Return how many flagged triples of its question are above a place, and others at its rank.

        `flagged` [triples]; 2 x [systems, n]. Numbers instead of flags are summed.
        """
        own = flagged[self.triple]
        kind = np.int64 if own.dtype == np.bool_ else np.float64
        before = np.zeros((own.shape[0], own.shape[1] + 1), dtype=kind)
        np.cumsum(own, axis=1, out=before[:, 1:])
        if self._tied is None:
            return before[:, :-1] - before[:, self._start], np.zeros(own.shape, dtype=kind)
        first, last = self._tied
        higher = before[self._line, first]
        return higher - before[:, self._start], before[self._line, last + 1] - higher - own

    def of_stratum(self, stratum: Ints, present: Flags, strata: int) -> tuple[Ints, Ints]:
        """Return `above` for present triples by stratum, 2 x [strata + 1, systems, n]; the last: certain ones."""
        counted = [self.above(present & (stratum == h)) for h in (*range(strata), CERTAIN)]
        return np.stack([c[0] for c in counted]), np.stack([c[1] for c in counted])


def stratified_lists(lists: Lists, sample: Sample, weights: Weights) -> dict[str, Floats]:
    """Return infAP and infNDCG@20 [systems] of a stratified sample, over the questions with a certain positive.

    Others are asked only if one of their answers is drawn: a mean over these would favour questions with many answers.
    R, the positives of a question, is estimated as the sum of 1 / probability. Where it lies between two whole numbers,
    so does the ideal DCG, in proportion. `lists` are strict ones of known positives.
    """
    member = sample.stratum[lists.triple]
    present = sample.positive[lists.triple]
    above, _ = lists.of_stratum(sample.stratum, sample.positive, sample.population.size)
    one = np.where(present, weights.one[member], 0.0)
    with_above = one * (1.0 + above[-1])
    for h in range(sample.population.size):
        with_above += np.where(present, above[h] * weights.above(h, member), 0.0)
    gain = one * (lists.rank <= CUT) / np.log2(lists.rank + 1.0)
    questions = np.unique(lists.question[np.any(present & (member == CERTAIN), axis=0)])
    if not questions.size:
        return {"xinfap": np.full(len(member), np.nan), f"infndcg@{CUT}": np.full(len(member), np.nan)}
    begin = np.searchsorted(lists.question, questions)
    end = np.searchsorted(lists.question, questions, side="right")
    relevant = _sums(one, begin, end)
    precision = _sums(with_above / lists.rank, begin, end) / relevant
    return {
        "xinfap": precision.mean(axis=1),
        f"infndcg@{CUT}": (_sums(gain, begin, end) / _ideal(relevant)).mean(axis=1),
    }


def _sums(values: Floats, begin: Order, end: Order) -> Floats:
    """Sum values [systems, n] from begin to end, [systems, questions]."""
    total = np.concatenate((np.zeros((len(values), 1)), np.cumsum(values, axis=1)), axis=1)
    return total[:, end] - total[:, begin]


def _ideal(relevant: Floats) -> Floats:
    """Return DCG@20 of a list that begins with `relevant` answers, interpolated between whole numbers."""
    best = np.concatenate(([0.0], np.cumsum(1.0 / np.log2(np.arange(2, CUT + 2)))))
    return np.interp(relevant, np.arange(CUT + 1), best)
