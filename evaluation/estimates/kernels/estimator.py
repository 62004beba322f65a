"""Estimate measures of the whole judged pool from a random sample of its labels, by inverse probability.

A measure is a sum over sets of positives: an answer, and those above it. Each set that was drawn counts 1 / its
probability (weights.py), so totals are exactly unbiased, whatever the positives are, if a stratum has at least
as many drawn triples as any question has positives in it. A mean is a ratio of two totals, which is consistent. Spread
grows by N / n with each positive above an answer: where questions have many answers a part of the labels says little,
and modelled.py is there for that.
"""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from evaluation.estimates.kernels.lists import Lists, stratified_lists
from evaluation.estimates.kernels.weights import Sample, Weights
from evaluation.measures.prepared import Prepared, prepare
from evaluation.measures.rank_table import Flags, Floats, Ints, Order, keep_rows

Estimates = dict[str, Floats]  # measure -> [systems], count -> [1]


def _hits(k: int) -> Callable[[Floats], Floats]:
    return lambda rank: (rank <= k).astype(np.float64)


OF_RANK: Mapping[str, Callable[[Floats], Floats]] = {
    "mrr": lambda rank: 1.0 / rank,
    **{f"hits@{k}": _hits(k) for k in (1, 3, 10)},
}


class Estimator:
    """Unbiased estimates of a sample and of its subsets. `asked` bool [questions]: those that are evaluated."""

    def __init__(self, prepared: Prepared, sample: Sample, asked: Flags) -> None:
        table = prepared.table
        rows = sample.positive[table.triple] & asked[table.question]
        known = prepare(keep_rows(table, rows))
        self._strict, self._scored = Lists(known, by_score=False), Lists(known, by_score=True)
        self._systems = table.systems
        self._weights: dict[tuple[int, ...], Weights] = {}

    def estimate(self, sample: Sample) -> Estimates:
        weights = self.weights(sample)
        positives = float(weights.one[sample.stratum[sample.positive]].sum())
        found: Estimates = {"positives": np.array([positives])}
        found |= self._micro(sample, weights) | self._macro(sample, weights)
        found |= stratified_lists(self._strict, sample, weights)
        return found

    def weights(self, sample: Sample) -> Weights:
        """Return the weights for the sizes of the sample; few sizes differ among its subsets."""
        key = tuple(sample.taken.tolist())
        if key not in self._weights:
            self._weights[key] = Weights(sample.population, sample.taken)
        return self._weights[key]

    def _micro(self, sample: Sample, weights: Weights) -> Estimates:
        """Sum over answers the weight of each number of positives above, times the value at that rank."""
        lists, strata = self._scored, sample.population.size
        higher, tied = lists.of_stratum(sample.stratum, sample.positive, strata)
        rank = lists.rank - higher[-1] - tied[-1] / 2.0
        member = sample.stratum[lists.triple]
        present = sample.positive[lists.triple]
        answers = weights.one[member[0, present[0]]].sum()  # the same for every system
        present &= rank < np.inf
        rank, system = rank[present], np.nonzero(present)[0]
        key = np.concatenate([higher[:-1], tied[:-1], member[None]])[:, present]  # [2 strata + 1, slots]
        value = {name: np.zeros(rank.size) for name in OF_RANK}
        for kind, slots in _alike(key):
            exactly = weights.exactly(kind[:strata], kind[strata:-1], kind[-1])
            halves = np.flatnonzero(exactly)  # without ties only whole ranks
            at = rank[slots, None] - halves / 2.0
            for name, of_rank in OF_RANK.items():
                value[name][slots] = of_rank(at) @ exactly[halves]
        found: Estimates = {"answers": np.array([answers])}
        for name in OF_RANK:
            found[f"micro_{name}"] = ratio(np.bincount(system, value[name], self._systems).astype(float), answers)
        return found

    def _macro(self, sample: Sample, weights: Weights) -> Estimates:
        """Sum over answers the value at their position, times the weight of "no positive above"."""
        lists, strata = self._strict, sample.population.size
        above, _ = lists.of_stratum(sample.stratum, sample.positive, strata)
        alone = weights.none(above[:-1], sample.stratum[lists.triple])
        first = np.where(sample.positive[lists.triple] & (above[-1] == 0), alone, 0.0)
        questions = first[0].sum() if len(first) else 0.0  # whichever system orders them, the sum is the same
        found: Estimates = {"questions": np.array([questions])}
        for name, of_rank in OF_RANK.items():
            found[f"macro_{name}"] = ratio((first * of_rank(lists.rank)).sum(axis=1), questions)
        return found


def _alike(key: Ints) -> Iterator[tuple[tuple[int, ...], Order]]:
    """Yield the distinct columns of key [fields, slots], each with the slots that have it."""
    if not key.size:
        return
    code = np.ravel_multi_index(tuple(key + 1), tuple(key.max(axis=1) + 2))  # CERTAIN is -1
    _, first, count = np.unique(code, return_index=True, return_counts=True)
    order, ends = np.argsort(code, kind="stable"), np.cumsum(count)
    for column, n, end in zip(key[:, first].T.tolist(), count.tolist(), ends.tolist(), strict=True):
        yield tuple(column), order[end - n : end]


def ratio(total: Floats, units: float) -> Floats:
    """Return total / units; nan where there are no units."""
    return total / units if units > 0 else np.full(total.shape, np.nan)
