"""Draw rank rows and runs of the sizes that the benchmark of measures needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.scratch import ENTITIES, RELATIONS
from evaluation.measures.label_state import LabelState, States
from evaluation.measures.rank_table import RankTable

GRADE = {LabelState.POSITIVE: 1, LabelState.NEGATIVE: 0, LabelState.UNJUDGED: -1}
FILLERS = [f"x{i}" for i in range(1, 1001)]  # candidates without a label, by position
SCORES = [-float(i) for i in range(1, 1001)]

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Case:
    """Hold a rank table with its labels, and the same for pytrec_eval."""

    table: RankTable
    state: States

    @property
    def systems(self) -> int:
        return self.table.systems

    def qrels(self) -> Qrels:
        found: Qrels = {f"q{q}": {} for q in range(self.table.questions)}
        rows = zip(self.table.question.tolist(), self.table.triple.tolist(), strict=True)
        for row, (q, triple) in enumerate(rows):
            if (state := self.state[triple]) in GRADE:
                found[f"q{q}"][f"e{row}"] = GRADE[LabelState(state)]
        return found

    def runs(self, depth: int) -> Iterator[Run]:
        """Return each system's lists: the first `depth` (at most 1,000) positions, filled with unlabelled ones."""
        fillers = dict(zip(FILLERS[:depth], SCORES[:depth], strict=True))
        start = self.table.start.tolist()
        for positions in self.table.strict:
            run: Run = {}
            for q in range(self.table.questions):
                lists = fillers.copy()
                for row in range(start[q], start[q + 1]):
                    if 0 < (position := int(positions[row])) <= depth:
                        del lists[FILLERS[position - 1]]
                        lists[f"e{row}"] = SCORES[position - 1]
                run[f"q{q}"] = lists
            yield run


def draw_positions(question: np.ndarray, systems: int, depth: int, rng: np.random.Generator) -> np.ndarray:
    """Draw positions int32[systems, rows], each once in a question; 0 beyond `depth`. Systems differ in skill.

    `question` int[rows] ascends.
    """
    start = np.searchsorted(question, question)
    hardness = rng.normal(scale=1.5, size=question.size).astype(np.float32)  # some candidates are easy for all
    found = np.zeros((systems, question.size), dtype=np.int32)
    for system in range(systems):
        noise = rng.normal(loc=3.5 + 0.05 * system, size=question.size).astype(np.float32)
        drawn = np.exp(hardness + noise).astype(np.int32) + 1
        order = np.lexsort((drawn, question))
        # candidates of a question that draw the same position move down by their place in it
        found[system, order] = drawn[order] + (np.arange(question.size) - start[order])
    found[found > depth] = 0
    return found


def make_table(
    question: np.ndarray, triple: np.ndarray, systems: int, rng: np.random.Generator, depth: int = 12_000
) -> RankTable:
    """Return a table of drawn positions for rows int[rows] ordered by question; sides and relations form groups."""
    questions = int(question.max(initial=-1)) + 1
    positions = draw_positions(question, systems, depth, rng)
    number = np.arange(questions)
    return RankTable(
        question.astype(np.int32),
        np.arange(question.size, dtype=np.int32),
        triple.astype(np.int32),
        positions,
        positions,
        positions,
        (number % 2).astype(np.int8),
        (number % RELATIONS).astype(np.int32),
        np.full(questions, ENTITIES, dtype=np.int32),
    )


def listed_case(
    questions: int, positives: int, negatives: int, systems: int, depth: int = 1000, seed: int = 42
) -> Case:
    """Draw questions of one side with lists of `depth`; every question has an answer, the other labels are drawn."""
    rng = np.random.default_rng(seed)
    asked = [np.arange(questions), rng.integers(questions, size=positives - questions + negatives)]
    question = np.concatenate(asked)
    state = np.repeat([LabelState.POSITIVE, LabelState.NEGATIVE], [positives, negatives]).astype(np.int8)
    order = np.argsort(question, kind="stable")
    triple = np.arange(question.size)
    return Case(make_table(question[order], triple, systems, rng, depth), state[order])


def pool_case(systems: int, factor: int = 1, seed: int = 42) -> Case:
    """Draw a pool in proportion to the published one (22,500 triples, 14,600 questions), `factor` times as large."""
    rng = np.random.default_rng(seed)
    triples, asked, opened = 22_500 * factor, 1_745 * factor, 14_600 * factor
    first = rng.integers(asked, size=triples)  # the question that found the triple, and the reverse one
    other = np.where(
        rng.random(triples) < 0.3, rng.integers(asked, size=triples), rng.integers(asked, opened, size=triples)
    )
    question = np.concatenate([first, other]).astype(np.int32)
    order = np.argsort(question, kind="stable")
    triple = np.tile(np.arange(triples, dtype=np.int32), 2)[order]
    states = [LabelState.POSITIVE, LabelState.NEGATIVE, LabelState.ASSUMED_NEGATIVE, LabelState.UNJUDGED]
    state = rng.choice(states, p=[0.122, 0.480, 0.395, 0.003], size=triples).astype(np.int8)
    return Case(make_table(question[order], triple, systems, rng), state)


def test_set_case(triples: np.ndarray, systems: int, seed: int = 42) -> Case:
    """Return both sides of real test triples int[n, 3], all of them positive."""
    from pooling.questions.kernel import questions_of

    rng = np.random.default_rng(seed)
    _, tail, head = questions_of(triples)
    question = np.concatenate([tail, head])
    order = np.argsort(question, kind="stable")
    triple = np.tile(np.arange(len(triples)), 2)[order]
    table = make_table(question[order], triple, systems, rng)
    return Case(table, np.full(len(triples), LabelState.POSITIVE, dtype=np.int8))
