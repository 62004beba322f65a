"""A small world with raw scores, from which rank rows are made and every oracle is computed by definition."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from evaluation.measures.label_state import LabelState
from evaluation.measures.rank_table import RankTable

ENTITIES, RELATIONS, SYSTEMS = 9, 2, 3


@dataclass
class World:
    """Scores of every system for every candidate of every question, and the same as a rank table."""

    scores: dict[tuple[int, int], np.ndarray]  # (system, question) -> [entities], higher is better
    tie_break: np.ndarray  # [entities] smaller stands first among equal scores
    facts: dict[int, set[int]]  # question -> entities that train or valid answer
    rows: list[tuple[int, int, int]]  # (question, entity, triple)
    questions: int
    state: np.ndarray
    known: np.ndarray  # bool [triples], some that are not sampled
    table: RankTable = field(init=False)

    def __post_init__(self) -> None:
        self.table = self.make_table(np.zeros(len(self.state), dtype=bool))

    def candidates(self, question: int, known: np.ndarray) -> list[int]:
        gone = self.facts[question] | {e for q, e, t in self.rows if q == question and known[t]}
        return [e for e in range(ENTITIES) if e not in gone]

    def ranking(self, system: int, question: int, known: np.ndarray) -> list[int]:
        score = self.scores[system, question]
        return sorted(self.candidates(question, known), key=lambda e: (-score[e], self.tie_break[e]))

    def make_table(self, known: np.ndarray) -> RankTable:
        rows = [row for row in self.rows if not known[row[2]]]
        shape = (SYSTEMS, len(rows))
        strict, optimistic, pessimistic = (np.zeros(shape, dtype=np.int32) for _ in range(3))
        for s in range(SYSTEMS):
            for i, (q, e, _) in enumerate(rows):
                others = [self.scores[s, q][other] for other in self.candidates(q, known)]
                strict[s, i] = self.ranking(s, q, known).index(e) + 1
                optimistic[s, i] = 1 + sum(other > self.scores[s, q][e] for other in others)
                pessimistic[s, i] = sum(other >= self.scores[s, q][e] for other in others)
        column = np.array(rows, dtype=np.int32).reshape(-1, 3)
        size = [len(self.candidates(q, known)) for q in range(self.questions)]
        return RankTable(
            column[:, 0],
            column[:, 1],
            column[:, 2],
            strict,
            optimistic,
            pessimistic,
            side=np.arange(self.questions).astype(np.int8) % 2,
            relation=np.zeros(self.questions, dtype=np.int32),
            candidates=np.array(size, dtype=np.int32),
        )

    def answers(self) -> dict[int, list[int]]:
        """Question -> entities with a positive label."""
        found: dict[int, list[int]] = {}
        for q, e, t in self.rows:
            if self.state[t] == LabelState.POSITIVE:
                found.setdefault(q, []).append(e)
        return found


def make_world(seed: int) -> World:
    rng = np.random.default_rng(seed)
    triples = [(h, r, t) for h in range(ENTITIES) for r in range(RELATIONS) for t in range(ENTITIES)]
    rng.shuffle(triples)
    # few heads and tails, so that questions have several rows and several answers
    crowded = [x for x in triples if x[0] < 4 and x[2] < 5]
    pooled, train = crowded[: rng.integers(1, 20)], crowded[20:30]
    asked = sorted({("tail", h, r) for h, r, _ in pooled} | {("head", t, r) for _, r, t in pooled})
    number = {question: i for i, question in enumerate(asked)}
    facts: dict[int, set[int]] = {i: set() for i in range(len(asked))}
    rows = []
    for h, r, t in train:
        facts.get(number.get(("tail", h, r), -1), set()).add(int(t))
        facts.get(number.get(("head", t, r), -1), set()).add(int(h))
    for i, (h, r, t) in enumerate(pooled):
        rows += [(number["tail", h, r], int(t), i), (number["head", t, r], int(h), i)]
    levels = rng.integers(2, 12)  # few levels: many ties
    scores = {(s, q): rng.integers(levels, size=ENTITIES) for s in range(SYSTEMS) for q in range(len(asked))}
    state = rng.integers(0, 5, size=len(pooled)).astype(np.int8)
    if rng.random() < 0.2:
        state[np.isin(state, [LabelState.NEGATIVE, LabelState.ASSUMED_NEGATIVE])] = LabelState.NOT_POOLED
    known = rng.random(len(pooled)) < 0.3
    return World(scores, rng.permutation(ENTITIES), facts, sorted(rows), len(asked), state, known)


@pytest.fixture(scope="session")
def world():
    return make_world
