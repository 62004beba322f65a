"""Max-k of a small pool from the models' own scores, by the words of the paper; slow on purpose."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from pooling.models import Pool, System
from tests.evaluation.oracle import Oracle, Question, Triple, sides

Three = tuple[float, float, float]


def answers_of(triples: Iterable[Sequence[int]]) -> dict[Question, set[int]]:
    found: dict[Question, set[int]] = defaultdict(set)
    for triple in triples:
        for question, entity in sides(tuple(triple)):  # type: ignore[arg-type]
            found[question].add(entity)
    return found


class MaxK:
    """One system on a pool; `positives` are the triples that the labels call positive, and open the questions."""

    def __init__(self, pool: Pool, system: System, positives: set[Triple], alpha: float) -> None:
        self.oracle, self.alpha = Oracle(pool, system), alpha
        graph = self.oracle.graph
        labelled, test = answers_of(positives), answers_of(graph.test.tolist())
        known = answers_of([*graph.train.tolist(), *graph.valid.tolist()])
        self.questions = sorted(labelled)
        self.filtered = {q: labelled[q] | test[q] for q in self.questions}
        self.raw = {q: self.filtered[q] | known[q] for q in self.questions}

    def p(self, question: Question) -> dict[int, float]:
        scores = self.oracle.scores(question).astype(np.float64)
        power = np.exp(self.alpha * (scores - scores.max()))
        return dict(enumerate((power / power.sum()).tolist()))

    def best_first(self, question: Question) -> list[int]:
        own = self.oracle.scores(question)
        return sorted(self.oracle.entities, key=lambda e: (-own[e], self.oracle.tie_place[e]))

    def topk(self, question: Question, k: int) -> set[int]:
        return set(self.best_first(question)[:k])

    def greedy(self, question: Question, k: int) -> set[int]:
        p, order = self.p(question), self.best_first(question)
        sure = sum(p[e] >= 1 / k for e in order)
        rest = k * (1 - math.fsum(p[e] for e in order[:sure]))
        return set(order[: sure + round(rest)])

    def mean(self, protocol: str, k: int, raw: bool) -> Three:
        right = self.raw if raw else self.filtered
        return mean_goodness([(getattr(self, protocol)(q, k), right[q]) for q in self.questions])

    def expected_recall(self, k: int, raw: bool) -> float:
        right = self.raw if raw else self.filtered
        return float(np.mean([np.mean([1 - (1 - self.p(q)[e]) ** k for e in right[q]]) for q in self.questions]))

    def mass(self, raw: bool) -> float:
        right = self.raw if raw else self.filtered
        return float(np.mean([sum(self.p(q)[e] for e in right[q]) for q in self.questions]))

    def tvd(self) -> float:
        return float(np.mean([0.5 * sum(abs(x - 1 / len(p)) for x in p.values()) for p in map(self.p, self.questions)]))


def mean_goodness(found: Sequence[tuple[set[int], set[int]]]) -> Three:
    """Precision, recall, F1 of (returned, right), means over the questions."""
    values = []
    for returned, right in found:
        hits = len(returned & right)
        p, r = hits / len(returned), hits / len(right)
        values.append((p, r, 2 * p * r / (p + r) if hits else 0.0))
    p, r, f1 = np.mean(values, axis=0)
    return float(p), float(r), float(f1)
