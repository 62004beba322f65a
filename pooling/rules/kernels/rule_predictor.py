"""Fit the weights of rules: the score of an answer is the sum of weight × groundings over the rules that lead to it.

A question's candidates are all entities. Those that no rule reaches differ only in how often the relation has them in
that slot in training, so that a question takes no more room than the entities that its rules reach.
Source: Qu et al. (2021), RNNLogic: learning logic rules for reasoning on knowledge graphs, ICLR (the predictor).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from pooling.rules.kernels.scorer import places_of
from pooling.rules.kernels.signed_graph import Body, SignedGraph, Walker

STEPS = 60  # of L-BFGS, at most
LEAST = 1e-300  # of a sum of exponentials: what rounding may take below 0


class Grounded(NamedTuple):
    """Hold q questions of one inverse-aware relation, and n pairs of a question with a reached entity or an answer.

    entity int64[q]; question int64[n], ascending, and candidate int64[n]: the pairs; counts float64 CSR [n, rules]: the
    groundings of each rule; answer and reached bool[n]: whether training triples answer a pair, and rules reach it.
    popularity float64[E]: of each entity as an answer of the relation; own float64[n]: that of the pairs, without the
    triple that answers it, since it must not speak for itself.
    """

    entity: np.ndarray
    question: np.ndarray
    candidate: np.ndarray
    counts: sparse.csr_array
    answer: np.ndarray
    reached: np.ndarray
    popularity: np.ndarray
    own: np.ndarray

    @property
    def answers(self) -> np.ndarray:
        """Return how many answers each question has in training, int64[q]."""
        return np.bincount(self.question[self.answer], minlength=len(self.entity))


def popularity(graph: SignedGraph, signed: int) -> np.ndarray:
    """Return the log of one more than the training triples with each entity as an answer, float64[E]."""
    return np.log1p(np.diff(graph.matrices[signed ^ 1].indptr))


def reach(
    graph: SignedGraph, bodies: Sequence[Body], entity: np.ndarray, most: int | None = None
) -> tuple[np.ndarray, sparse.csr_array, int]:
    """Return what bodies reach from each entity: keys row · E + reached, ascending, and the groundings of each body.

    keys int64[n]; groundings float64 CSR [n, bodies]; how many of the entities were taken: the first ones, where all
    have more than `most` groundings together. Paths visit distinct entities.
    """
    walker, places = Walker(graph, entity), len(entity) * graph.num_entities
    order = sorted(range(len(bodies)), key=lambda i: bodies[i])  # those that begin alike share their walks
    parts = {i: walker.along(bodies[i]) for i in order}
    taken = len(entity)
    if most is not None:
        each = sum((np.diff(ends.indptr) for ends in parts.values()), np.zeros(taken, np.int64))
        taken = min(taken, max(1, int(np.searchsorted(np.cumsum(each), most, side="right"))))
        parts = {i: ends[:taken] for i, ends in parts.items()}
    keys = np.concatenate([np.zeros(0, np.int64), *(places_of(ends) for ends in parts.values())])
    rules = np.repeat(order, [ends.nnz for ends in parts.values()]).astype(np.int64)
    counts = np.concatenate([np.zeros(0), *(ends.data for ends in parts.values())])
    row = np.zeros(places, np.int32)  # of each place; sorting the keys would take ten times as long
    row[keys] = 1
    distinct = np.flatnonzero(row)
    row[distinct] = np.arange(len(distinct))
    shape = len(distinct), len(bodies)
    return distinct, sparse.csr_array((counts, (row[keys], rules)), shape=shape), taken


def ground(graph: SignedGraph, signed: int, bodies: Sequence[Body], entity: np.ndarray, most: int) -> Grounded:
    """Ground rules around questions: `bodies` lead from entity[i] to answers of the inverse-aware relation `signed`.

    `most` as in `reach`. As paths visit distinct entities, the triple that a question was made of never speaks for
    itself.
    """
    keys, counts, taken = reach(graph, bodies, entity, most)
    entity, size = entity[:taken], graph.num_entities
    known = graph.matrices[signed][entity].tocoo()
    answers = known.coords[0].astype(np.int64) * size + known.coords[1]
    every = np.union1d(keys, answers)
    starts = np.zeros(len(every) + 1, np.int64)  # an answer that no rule reaches has an empty row
    starts[np.searchsorted(every, keys) + 1] = np.diff(counts.indptr)
    whole = sparse.csr_array((counts.data, counts.indices, np.cumsum(starts)), shape=(len(every), len(bodies)))
    question, candidate = np.divmod(every, size)
    answer, seen = np.isin(every, answers), popularity(graph, signed)
    own = np.where(answer, np.log(np.maximum(np.exp(seen[candidate]) - 1, 1)), seen[candidate])
    return Grounded(entity, question, candidate, whole, answer, np.diff(whole.indptr) > 0, seen, own)


def fit(grounded: Grounded, smoothing: float, decay: float) -> tuple[np.ndarray, float, float]:
    """Return the weight of each rule float64[rules], that of popularity, and the mean loss; convex, so by L-BFGS.

    The loss of a question is the cross-entropy of its answers, in equal shares, against the softmax over all
    entities; `smoothing` of the label is spread over all of them. `decay` times the squared weights is added.
    """
    problem = Problem(grounded, smoothing, decay)
    start = np.zeros(grounded.counts.shape[1] + 1)
    start[-1] = 1.0
    with np.errstate(over="ignore"):  # a step that went too far is tried again, shorter
        found = minimize(problem.loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return found.x[:-1], float(found.x[-1]), float(found.fun)


class Problem:
    """Hold what does not change from one step to the next."""

    def __init__(self, grounded: Grounded, smoothing: float, decay: float) -> None:
        self.grounded, self.decay = grounded, decay
        self.questions, self.size = len(grounded.entity), len(grounded.popularity)
        self.back = grounded.counts.T.tocsr()
        self.plain = grounded.popularity[grounded.candidate]  # what the sum over all entities has at the pairs
        each = (1 - smoothing) / grounded.answers
        self.target = grounded.answer * each[grounded.question] + smoothing / self.size
        # of the entities that are in no pair, what the rate is multiplied with
        self.beyond = smoothing / self.size * (self.questions * grounded.popularity.sum() - self.plain.sum())

    def loss(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the mean loss and its slope."""
        g, rate, n = self.grounded, weights[-1], self.questions
        score = g.counts @ weights[:-1] + rate * g.own
        base = rate * g.popularity
        top = np.maximum(base.max(), _highest(score, g.question, n))
        of_pair, instead = np.exp(score - top[g.question]), np.exp(rate * self.plain - top[g.question])
        everywhere, scale = np.exp(base - base.max()), np.exp(base.max() - top)
        total = np.bincount(g.question, of_pair - instead, n) + everywhere.sum() * scale
        total = np.maximum(total, LEAST)
        loss = (np.log(total) + top).sum() - self.target @ score - rate * self.beyond
        share, replaced = of_pair / total[g.question], instead / total[g.question]
        slope = np.empty_like(weights)
        slope[:-1] = self.back @ (share - self.target) / n + 2 * self.decay * weights[:-1]
        expected = share @ g.own - replaced @ self.plain + (everywhere @ g.popularity) * (scale / total).sum()
        slope[-1] = (expected - self.target @ g.own - self.beyond) / n
        return loss / n + self.decay * (weights[:-1] @ weights[:-1]), slope


def _highest(score: np.ndarray, question: np.ndarray, questions: int) -> np.ndarray:
    """Return the highest score of each question, float64[questions]; -inf where it has none."""
    top = np.full(questions, -np.inf)
    np.maximum.at(top, question, score)
    return top


def worth(grounded: Grounded, weights: np.ndarray) -> np.ndarray:
    """Return H of each rule, float64[rules]: how much more it gives the answers than the entities that rules reach.

    Of each question: weight × (mean groundings over its answers − mean over the reached entities); summed over the
    questions. Source: Qu et al. (2021), eq. 7.
    """
    g, questions = grounded, len(grounded.entity)
    reached = np.maximum(np.bincount(g.question[g.reached], minlength=questions), 1)
    per_pair = g.answer / g.answers[g.question] - g.reached / reached[g.question]
    return weights * (g.counts.T @ per_pair)
