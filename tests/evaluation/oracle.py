"""Measures of a small pool from the models' own scores, by the words of spec/metrics.md §1-2; slow on purpose."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pooling.graphs.opening import open_graph
from pooling.models import Pool, System
from pooling.runs import score as runs
from pooling.scoring.ranks import tie_order

Triple = tuple[int, int, int]
Question = tuple[int, int, int]  # side, relation, given entity


class Oracle:
    """One system on one pool. `full_test`: no test triple is a known fact, all are answers."""

    def __init__(self, pool: Pool, system: System, full_test: bool = False) -> None:
        self.graph = open_graph(pool.graph)
        self.scorer = runs.scorer_of(system, self.graph)
        seeds = set(pool.seeds.values_list("head", "relation", "tail"))
        facts = [*map(tuple, self.graph.train.tolist()), *map(tuple, self.graph.valid.tolist())]
        if not full_test:
            facts += [t for t in map(tuple, self.graph.test.tolist()) if t not in seeds]
        self.known: dict[Question, set[int]] = {}
        for triple in facts:
            for question, entity in sides(triple):
                self.known.setdefault(question, set()).add(entity)
        order = tie_order(self.graph.num_entities, runs.TIE_SEED)
        self.tie_place = np.argsort(order)
        self._scores: dict[Question, np.ndarray] = {}

    @cached_property
    def entities(self) -> range:
        return range(self.graph.num_entities)

    def scores(self, question: Question) -> np.ndarray:
        if question not in self._scores:
            side, relation, given = (np.array([x]) for x in question)
            self._scores[question] = self.scorer.scores(side, given, relation).cpu().numpy()[0]
        return self._scores[question]

    def ranking(self, question: Question) -> list[int]:
        """All candidates, best first, in the strict order."""
        own = self.scores(question)
        candidates = [e for e in self.entities if e not in self.known.get(question, set())]
        return sorted(candidates, key=lambda e: (-own[e], self.tie_place[e]))

    def measures(self, positives: set[Triple]) -> dict[str, float]:
        """micro and macro MR, MRR, Hits@3."""
        answers: dict[Question, set[int]] = {}
        for triple in positives:
            for question, entity in sides(triple):
                answers.setdefault(question, set()).add(entity)
        micro, macro = [], []
        for question, right in answers.items():
            own, ranking = self.scores(question), self.ranking(question)
            macro.append(1 + min(ranking.index(entity) for entity in right))
            for entity in right:
                others = [e for e in ranking if e not in right]
                higher = sum(own[e] > own[entity] for e in others)
                equal = sum(own[e] == own[entity] for e in others)
                micro.append(1 + higher + equal / 2)
        return {
            "micro_mr": np.mean(micro),
            "micro_mrr": np.mean([1 / r for r in micro]),
            "micro_hits@3": np.mean([r <= 3 for r in micro]),
            "macro_mr": np.mean(macro),
            "macro_mrr": np.mean([1 / r for r in macro]),
            "macro_hits@3": np.mean([r <= 3 for r in macro]),
        }


def sides(triple: Triple) -> list[tuple[Question, int]]:
    head, relation, tail = triple
    return [((0, relation, head), tail), ((1, relation, tail), head)]


def seeds_of(pool: Pool) -> set[Triple]:
    return set(pool.seeds.values_list("head", "relation", "tail"))


def positives_of(pool: Pool) -> set[Triple]:
    """Seeds, and what people found positive."""
    judged = pool.triples.filter(judgement__verdict="positive")
    return seeds_of(pool) | set(judged.values_list("head", "relation", "tail"))
