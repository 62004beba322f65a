"""Give every seed and pooled triple of a pool the state that pages show, and its two questions. Needs no runs."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np

from annotation.enums import JudgementOrigin, Verdict
from annotation.judging.judgements import labels_version
from evaluation.labels.pool_table import remembered
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from pooling.pools.kernels.filters import REASONS, reason_label
from pooling.pools.kernels.gathering import PROVENANCE
from pooling.pools.report import contents_version
from pooling.questions.kernel import Questions, questions_of
from pooling.scoring.rank_rows import find, question_keys

_contents: OrderedDict[tuple[object, ...], PoolContents] = OrderedDict()
_states: OrderedDict[tuple[object, ...], PoolStates] = OrderedDict()


class TripleState(IntEnum):
    """Name the state of a triple on pages, with mark, label and meaning; a positive one is a seed or new by a label."""

    NOT_POOLED = 0, "·", "not pooled", "no system of the pool found it within the pool's depth"
    UNJUDGED = 1, "?", "unjudged", "in the pool, no judgement yet or undecided"
    ASSUMED_NEGATIVE = 2, "~", "assumed negative", "filtered without a human, for the reason given"
    NEGATIVE = 3, "−", "negative", "judged and wrong"
    NEW = 4, "+", "new answer", "found by the pool, judged positive"
    ORIGINAL = 5, "★", "original answer", "a seed triple: a sampled test triple, positive before any label"

    mark: str
    label: str
    meaning: str

    def __new__(cls, value: int, mark: str = "", label: str = "", meaning: str = "") -> TripleState:
        made = int.__new__(cls, value)
        made._value_ = value
        made.mark, made.label, made.meaning = mark, label, meaning
        return made

    @property
    def key(self) -> str:
        """Return the word in addresses, class names and figures."""
        return self.name.lower()

    @property
    def is_seed(self) -> bool:
        return self is TripleState.ORIGINAL

    @property
    def is_unjudged(self) -> bool:
        return self is TripleState.UNJUDGED

    @property
    def is_outside(self) -> bool:
        """Say whether the triple is not in the pool."""
        return self is TripleState.NOT_POOLED


LEGEND = tuple(reversed(TripleState))  # in the order in which pages name them
ANSWERS = (TripleState.ORIGINAL, TripleState.NEW)
ORIGINS: tuple[str, ...] = ("", *JudgementOrigin.values)  # empty: not judged
_VERDICTS = {
    Verdict.POSITIVE: TripleState.NEW,
    Verdict.NEGATIVE: TripleState.NEGATIVE,
    Verdict.UNDECIDED: TripleState.UNJUDGED,
}


@dataclass(frozen=True)
class PoolContents:
    """Hold what no label changes: n triples, the seeds first, then the pooled ones in the order of the pool.

    triples int32[n, 3]; triple_id int64[n], 0 for seeds; depth int64[n], 0 for seeds; reason int8[n], place in
    REASONS. found int[m] (system, of triple: one line a finding). Questions: keys int64[q], sorted; tail_question
    and head_question int64[n], places in them.
    """

    graph: GraphArrays
    triples: np.ndarray
    triple_id: np.ndarray
    depth: np.ndarray
    reason: np.ndarray
    found_system: np.ndarray
    found_of: np.ndarray
    questions: Questions
    keys: np.ndarray
    tail_question: np.ndarray
    head_question: np.ndarray

    @property
    def is_seed(self) -> np.ndarray:
        return self.triple_id == 0

    @cached_property
    def place(self) -> dict[tuple[int, int, int], int]:
        """Return the place of each (head, relation, tail)."""
        return {(h, r, t): i for i, (h, r, t) in enumerate(self.triples.tolist())}

    @cached_property
    def place_of_id(self) -> dict[int, int]:
        """Return the place of each PooledTriple id."""
        return {pk: i for i, pk in enumerate(self.triple_id.tolist()) if pk}

    def reason_in_words(self, place: int) -> str:
        """Return why a filter took a triple; empty if none did."""
        reason = REASONS[self.reason[place]]
        return reason_label(reason) if reason else ""

    def question(self, side: int, relation: int, entity: int) -> int:
        """Return the place of a question; -1 if no seed and no pooled triple lies on it."""
        key = (side * self.graph.num_relations + relation) * self.graph.num_entities + entity
        return int(find(self.keys, np.array([key]))[0])

    def of_question(self, question: int) -> np.ndarray:
        """Return the places of the triples that lie on a question."""
        side = self.head_question if self.questions.side[question] else self.tail_question
        return np.flatnonzero(side == question)


@dataclass(frozen=True)
class PoolStates:
    """Hold the contents under the labels of one moment: state (TripleState) and origin (place in ORIGINS), int8[n]."""

    contents: PoolContents
    state: np.ndarray
    origin: np.ndarray
    version: str

    @cached_property
    def counts(self) -> np.ndarray:
        """Count the triples by question and state, int64[q, 6]."""
        contents, width = self.contents, len(TripleState)
        flat = np.concatenate([contents.tail_question, contents.head_question]) * width + np.tile(self.state, 2)
        return np.bincount(flat, minlength=len(contents.keys) * width).reshape(-1, width)

    @cached_property
    def answers(self) -> np.ndarray:
        """Count the answers of each question, int64[q]."""
        return self.counts[:, list(ANSWERS)].sum(axis=1)


def pool_states(pool: Pool) -> PoolStates:
    """Return the triples of a pool under the current labels, from memory while nothing changed."""
    own = (pool.pk, pool.created_at, contents_version(pool))
    labels = labels_version(pool)
    contents = remembered(_contents, own, lambda: _read(pool))
    return remembered(_states, (*own, labels), lambda: _label(pool, contents, labels))


def _read(pool: Pool) -> PoolContents:
    graph = open_graph(pool.graph)
    seeds = list(pool.seeds.order_by("id").values_list("head", "relation", "tail"))
    columns = ("head", "relation", "tail", "id", "depth", "reason", "provenance")
    rows = list(pool.triples.order_by("id").values_list(*columns))
    code = {reason: i for i, reason in enumerate(REASONS)}
    triples = np.array([*seeds, *(row[:3] for row in rows)], dtype=np.int32).reshape(-1, 3)
    packed = [bytes(row[6]) for row in rows]
    counts = [0] * len(seeds) + [len(one) // PROVENANCE.itemsize for one in packed]
    questions, tail_question, head_question = questions_of(triples)
    before = [0] * len(seeds)
    return PoolContents(
        graph=graph,
        triples=triples,
        triple_id=np.array([*before, *(row[3] for row in rows)], dtype=np.int64),
        depth=np.array([*before, *(row[4] for row in rows)], dtype=np.int64),
        reason=np.array([*before, *(code[row[5]] for row in rows)], dtype=np.int8),
        found_system=np.frombuffer(b"".join(packed), dtype=PROVENANCE)["system"],
        found_of=np.repeat(np.arange(len(triples)), counts),
        questions=questions,
        keys=question_keys(questions, graph.num_entities, graph.num_relations),
        tail_question=tail_question,
        head_question=head_question,
    )


def _label(pool: Pool, contents: PoolContents, version: str) -> PoolStates:
    state = np.where(contents.reason > 0, TripleState.ASSUMED_NEGATIVE, TripleState.UNJUDGED).astype(np.int8)
    state[contents.is_seed] = TripleState.ORIGINAL
    origin = np.zeros(len(state), dtype=np.int8)
    for pk, verdict, by in pool.judgements.values_list("triple_id", "verdict", "origin"):
        place = contents.place_of_id.get(pk)
        if place is not None:  # else it was pooled after the contents were read: the next call has it
            state[place] = _VERDICTS[Verdict(verdict)]
            origin[place] = ORIGINS.index(by)
    return PoolStates(contents, state, origin, version)
