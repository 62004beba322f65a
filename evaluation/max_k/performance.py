"""Compute precision, recall and F1 of runs at up to k entities, under the right answers of a label set."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluation.labels.pool_table import EvaluationError
from evaluation.max_k import kernel
from evaluation.max_k.kernel import Goodness
from evaluation.max_k.stored_runs import RightAnswers, StoredRun, Which
from evaluation.measures.rank_table import Flags, Floats, Ints
from pooling.questions.kernel import Csr
from pooling.scoring.distributions import ALPHAS, TOP
from pooling.scoring.rank_rows import find

KS = np.arange(1, TOP + 1)
PROTOCOLS = ("TopK", "Sampling", "Greedy")


def check_ks(ks: Sequence[int]) -> None:
    """Raise EvaluationError for a k that no run can answer."""
    if not ks or min(ks) < 1 or max(ks) > TOP:
        asked = ", ".join(map(str, ks)) or "nothing"
        raise EvaluationError(f"k is {asked}: a run keeps the first {TOP} entities of a question; give 1 to {TOP}.")


class RunReader:
    """Reads one run at the questions of some right answers, filtered or raw."""

    def __init__(self, stored: StoredRun, right: RightAnswers, which: Which) -> None:
        held, csr = stored.predictive, right.of(which)
        self.alpha, self._held, self._stored = held.alpha, held, stored
        self._at = find(held.keys, right.keys)
        self._start, self.answers = csr.indptr[:-1], np.diff(csr.indptr)
        self._question = np.repeat(self._at, self.answers)  # of each answer, in the run
        self._place = find(stored.answer_codes, self._question * stored.num_entities + csr.indices)
        if (self._at < 0).any() or (self._place < 0).any():
            raise EvaluationError("The run lacks questions of these labels: have it scored again.")
        self._is_right = np.zeros(len(held.answer_score) + 1, dtype=bool)  # the last: no known answer
        self._is_right[self._place] = True

    @cached_property
    def _hits(self) -> Flags:
        return self._is_right[self._stored.top[self._at]]

    @cached_property
    def _available(self) -> Ints:
        """Return how many entities a list holds, int64[q, 1]: fewer than TOP in a small graph."""
        return (self._held.top_entity[self._at] >= 0).sum(axis=1)[:, None]

    def _p_answers(self, alpha: float) -> Floats:
        log_all = self._held.log_normaliser[:, ALPHAS.index(alpha)][self._question]
        return np.minimum(np.exp(alpha * self._held.answer_score[self._place].astype(np.float64) - log_all), 1.0)

    def topk(self) -> Goodness:
        return kernel.of_first(self._hits, np.minimum(KS, self._available), self.answers)

    def greedy(self, alpha: float, ks: Ints = KS) -> Goodness:
        """Return the goodness of Greedy under a parameter of the softmax."""
        log_all = self._held.log_normaliser[self._at, ALPHAS.index(alpha)]
        p = np.exp(alpha * self._held.top_score[self._at].astype(np.float64) - log_all[:, None])
        sizes = np.minimum(kernel.greedy_sizes_by_k(np.minimum(p, 1.0), ks), self._available)
        return kernel.of_first(self._hits, sizes, self.answers)

    def sampling(self) -> Goodness:
        hits = self._is_right[self._stored.drawn[self._at]]
        return kernel.of_draws(hits, self._stored.first[self._at], KS, self.answers)

    def expected_recall(self, alpha: float, ks: Ints = KS) -> Floats:
        """Return the expected recall of Sampling, the mean over questions, [ks]."""
        return kernel.expected_recall(self._p_answers(alpha), self._start, ks).mean(axis=0)

    def mass(self, alpha: float) -> float:
        """Return the total probability mass of the right answers, the mean over questions."""
        return float(kernel.total_mass(self._p_answers(alpha), self._start).mean())

    def tvd(self) -> float:
        return float(self._held.tvd[self._at, ALPHAS.index(self.alpha)].mean())


@dataclass(frozen=True)
class Performance:
    """Means over the questions of a system under a label set; goodness by protocol, each [KS]."""

    system: str
    alpha: float
    protocols: dict[str, Goodness]
    expected_recall: Floats
    mass: float
    tvd: float


def means(found: Goodness) -> Goodness:
    """Return the means over the questions, [ks]."""
    return Goodness(*(np.mean(part, axis=0) for part in found))


def performance(system: str, read: RunReader) -> Performance:
    alpha = read.alpha
    returned = (read.topk(), read.sampling(), read.greedy(alpha))
    protocols = {name: means(found) for name, found in zip(PROTOCOLS, returned, strict=True)}
    return Performance(system, alpha, protocols, read.expected_recall(alpha), read.mass(alpha), read.tvd())


def limits(answers: Csr) -> tuple[Goodness, Goodness]:
    """Return the oracle limits of top-k and of max-k, means over the questions, [KS]."""
    counts, number = np.unique(np.diff(answers.indptr), return_counts=True)
    top, most = kernel.oracle_limits(counts[:, None], KS)
    # divided last: shares need not add up to 1 exactly, and a mean of ones would be 1.0000000000000004
    top_means, most_means = (Goodness(*(number @ part / number.sum() for part in limit)) for limit in (top, most))
    return top_means, most_means
