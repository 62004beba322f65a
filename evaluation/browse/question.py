"""Inspect one question of a pool: the first candidates of each system, side by side, with their labels."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from annotation.questions.templates import templates_at
from evaluation.browse.pool_states import ANSWERS, LEGEND, PoolStates, TripleState
from evaluation.browse.search import FIRST
from evaluation.browse.triple import Evidence, evidence_of
from evaluation.labels.pool_table import PoolTable, whole_table
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.models import Pool, Run
from pooling.questions.templates import fill
from pooling.runs.files import SIDES, read_topk
from pooling.scoring.merged_lists import merge
from pooling.scoring.rank_rows import find

MOST_ANSWERS = 50  # with a row of positions
MOST_KNOWN = 50  # known facts that are named


@dataclass(frozen=True)
class Candidate:
    """Describe an entity as a candidate of a question."""

    entity: int
    name: str
    key: str
    triple: tuple[int, int, int]
    state: TripleState
    reason: str  # of the filter, in words; empty: none
    evidence: list[Evidence]


class ListEntry(NamedTuple):
    """Hold one position of a list; the candidate is None where it is not in the pool and no list was kept.

    asked: whether the system was asked the question; if not, no position has a candidate.
    """

    position: int
    candidate: Candidate | None
    asked: bool = True


@dataclass(frozen=True)
class SystemList:
    """Hold the first candidates of one system."""

    system: str
    series: int  # number of its colour on every page
    entries: list[ListEntry]
    stored: bool  # whether the run kept a list of this question
    first_answer: int | None  # position of the best answer; None: no answer, or none that it ranked
    asked: bool = True  # whether the system was asked this question; if not, the list says nothing

    def shares(self) -> list[tuple[TripleState, int]]:
        """Count the candidates of each state, in the order of the legend, without empty states."""
        if not self.asked:
            return []
        counted = Counter(e.candidate.state if e.candidate else TripleState.NOT_POOLED for e in self.entries)
        return [(state, counted[state]) for state in LEGEND if counted[state]]


class AnswerRow(NamedTuple):
    """Hold an answer with its position under each system, None where the run did not return it or was not asked."""

    candidate: Candidate
    positions: list[int | None]
    asked: list[bool]  # by system

    @property
    def cells(self) -> list[tuple[int | None, bool]]:
        """Return for each system the position, and whether it was asked."""
        return list(zip(self.positions, self.asked, strict=True))


@dataclass(frozen=True)
class QuestionDetail:
    side: str
    relation: int
    entity: int
    words: str
    given: str
    given_key: str
    relation_key: str
    known: list[str]  # names of the first known answers of train, valid and the unsampled test
    num_known: int
    counts: list[tuple[TripleState, int]]  # triples of the pool on this question
    answers: list[AnswerRow]
    num_answers: int
    candidates: int | None = None  # |C(q)|; None without runs
    lists: list[SystemList] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # systems without complete rank rows

    @property
    def pattern(self) -> str:
        """Return the question as a triple with "?" for the entity that is asked for."""
        given, relation = self.given, self.relation_key
        return f"{given}, {relation}, ?" if self.side == "tail" else f"?, {relation}, {given}"

    @property
    def is_seed(self) -> bool:
        return dict(self.counts)[TripleState.ORIGINAL] > 0

    @property
    def all_stored(self) -> bool:
        return all(one.stored for one in self.lists if one.asked)

    @property
    def rows(self) -> list[tuple[int, list[ListEntry]]]:
        """Return each position with the entry of each system there: the table of the page."""
        return [(i, [*row]) for i, row in enumerate(zip(*(one.entries for one in self.lists), strict=True), 1)]

    @property
    def with_evidence(self) -> list[Candidate]:
        """Return each candidate on the page that has labels, once."""
        listed = [entry.candidate for one in self.lists for entry in one.entries if entry.candidate is not None]
        candidates = {c.entity: c for c in [*listed, *(row.candidate for row in self.answers)]}
        return [candidate for candidate in candidates.values() if candidate.evidence]


def inspect_question(pool: Pool, states: PoolStates, side: int, relation: int, entity: int) -> QuestionDetail | None:
    """Return the question with every system's first candidates; None if no triple of the pool lies on it.

    A UserError of the runs (none, or damaged) passes through: `question_without_runs` needs none.
    """
    question = states.contents.question(side, relation, entity)
    if question < 0:
        return None
    table = whole_table(pool)
    at = int(find(table.question_keys, states.contents.keys[question : question + 1])[0])
    ranks = table.pool.table
    of_question = slice(ranks.start[at], ranks.start[at + 1])
    entities = ranks.entity[of_question].tolist()
    positions = ranks.strict[:, of_question]
    asked: list[bool] = table.asked[:, at].tolist()
    width = min(FIRST, int(ranks.candidates[at]))
    stored = _stored(pool, table, int(states.contents.keys[question]))
    firsts = []
    for system, row in zip(table.systems, positions.tolist(), strict=True):
        exact = {e: p for e, p in zip(entities, row, strict=True) if p > 0}
        firsts.append(first_entities(exact, stored.get(system), width))
    answers = _answers(states, question, entities, positions)
    shown = {e for first in firsts for e in first if e is not None} | {*answers[:MOST_ANSWERS]}
    made = _candidates(pool, states, question, shown)
    column = {e: i for i, e in enumerate(entities)}
    ranked = [column[e] for e in answers if e in column]
    lists = []
    for i, (system, first) in enumerate(zip(table.systems, firsts, strict=True)):
        entries = [ListEntry(n, made[e] if e is not None else None, asked[i]) for n, e in enumerate(first, 1)]
        lists.append(SystemList(system, i + 1, entries, system in stored, _best(positions[i, ranked]), asked[i]))
    rows = [
        AnswerRow(made[e], [p or None for p in positions[:, column[e]].tolist()], asked)
        if e in column
        else AnswerRow(made[e], [], [])
        for e in answers[:MOST_ANSWERS]
    ]
    bare = _detail(pool, states, question, rows, len(answers))
    return replace(bare, candidates=int(ranks.candidates[at]), lists=lists, left_out=table.left_out)


def question_without_runs(
    pool: Pool, states: PoolStates, side: int, relation: int, entity: int
) -> QuestionDetail | None:
    """Return the question with its answers alone, for a pool without runs."""
    question = states.contents.question(side, relation, entity)
    if question < 0:
        return None
    answers = _answers(states, question, [], np.zeros((0, 0), dtype=np.int32))
    made = _candidates(pool, states, question, answers[:MOST_ANSWERS])
    return _detail(pool, states, question, [AnswerRow(candidate, [], []) for candidate in made.values()], len(answers))


def first_entities(exact: Mapping[int, int], stored: list[int] | None, width: int) -> list[int | None]:
    """Return the entities at positions 1 … width of a system; None where nothing that was kept tells the entity.

    exact: entity -> position of every pooled triple and seed answer; stored: the run's list of the question, which
    lacks the seed answers (None: it kept none).
    """
    merged: list[int | None] = []
    if stored is not None:
        entity, position = np.array([*exact.items()], dtype=np.int64).reshape(-1, 2).T
        candidates = np.array(stored, dtype=np.int32).reshape(1, -1)
        most = 1 + max([*exact, *stored], default=0)
        merged += merge(np.zeros_like(entity), entity, position, candidates, most).entity[:width].tolist()
    by_position = {position: entity for entity, position in exact.items()}
    return merged + [by_position.get(position) for position in range(len(merged) + 1, width + 1)]


def _stored(pool: Pool, table: PoolTable, key: int) -> dict[str, list[int]]:
    """Return by system the stored candidates of a question, best first, without systems that kept none."""
    runs = Run.objects.filter(system__graph_id=pool.graph_id, system__name__in=table.systems)
    kept = ((run.system.name, read_topk(run)) for run in runs.select_related("system__graph"))
    places = ((name, topk, int(find(topk.keys, np.array([key]))[0])) for name, topk in kept)
    return {name: topk.entity[at].tolist() for name, topk, at in places if at >= 0}


def _best(positions: np.ndarray) -> int | None:
    return min(positions[positions > 0].tolist(), default=None)


def _answers(states: PoolStates, question: int, entities: list[int], positions: np.ndarray) -> list[int]:
    """Return the entities that answer the question now, in the order of the best position under any system."""
    contents = states.contents
    places = contents.of_question(question)
    places = places[np.isin(states.state[places], ANSWERS)]
    asked = contents.triples[places, 0 if contents.questions.side[question] else 2].tolist()
    best = {e: _best(positions[:, i]) for i, e in enumerate(entities)}
    return sorted(asked, key=lambda e: (best.get(e) or np.inf, e))


def _candidates(pool: Pool, states: PoolStates, question: int, entities: Iterable[int]) -> dict[int, Candidate]:
    """Return the candidates by entity, with their states and the evidence of the labels that count."""
    contents, graph = states.contents, states.contents.graph
    side, given, relation = (int(column[question]) for column in contents.questions)
    triples = {e: (e, relation, given) if side else (given, relation, e) for e in entities}
    places = {e: contents.place.get(triple) for e, triple in triples.items()}
    ids = [int(contents.triple_id[p]) for p in places.values() if p is not None]
    evidence = evidence_of(pk for pk in ids if pk)
    made = {}
    for e, triple in triples.items():
        state, reason, labels = TripleState.NOT_POOLED, "", list[Evidence]()
        if (place := places[e]) is not None:
            state, reason = TripleState(states.state[place]), contents.reason_in_words(place)
            labels = evidence.get(int(contents.triple_id[place]), [])
        made[e] = Candidate(e, graph.label(e), graph.entities[e], triple, state, reason, labels)
    return made


def known_answers(pool: Pool, graph: GraphArrays, side: int, relation: int, entity: int) -> list[int]:
    """Return the entities that answer the question in train, valid or unsampled test: known facts, no candidates."""
    given, asked = (2, 0) if side else (0, 2)
    found: set[int] = set()
    for triples in (graph.train, graph.valid, graph.test):
        on_it = (triples[:, 1] == relation) & (triples[:, given] == entity)
        found.update(triples[on_it, asked].tolist())
    column = "tail" if side else "head"
    seeds = pool.seeds.filter(relation=relation, **{column: entity})
    return sorted(found - set(seeds.values_list("head" if side else "tail", flat=True)))


def _detail(
    pool: Pool, states: PoolStates, question: int, answers: list[AnswerRow], num_answers: int
) -> QuestionDetail:
    graph = states.contents.graph
    side, entity, relation = (int(column[question]) for column in states.contents.questions)
    template = templates_at(pool.graph)[relation]
    name = graph.label(entity)
    known = known_answers(pool, graph, side, relation, entity)
    return QuestionDetail(
        side=SIDES[side],
        relation=relation,
        entity=entity,
        words=fill(template.head_question if side else template.tail_question, name, name),
        given=name,
        given_key=graph.entities[entity],
        relation_key=graph.relations[relation],
        known=[graph.label(e) for e in known[:MOST_KNOWN]],
        num_known=len(known),
        counts=[(state, int(states.counts[question, state])) for state in LEGEND if state != TripleState.NOT_POOLED],
        answers=answers,
        num_answers=num_answers,
    )
