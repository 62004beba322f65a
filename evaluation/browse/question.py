"""One question of a pool: what each system answers first, side by side, and how the labels see it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annotation.questions.templates import templates_at
from evaluation.browse.inventory import ANSWERS, LEGEND, Inventory, Shown
from evaluation.browse.search import FIRST
from evaluation.browse.triple import Evidence, evidence_of
from evaluation.labels.pool_table import PoolTable, pool_table
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.models import Pool, Run
from pooling.pools.kernels.filters import REASONS, reason_label
from pooling.questions.templates import fill
from pooling.runs.files import SIDES, read_topk
from pooling.scoring.merged_lists import merge
from pooling.scoring.rank_rows import find

MOST_ANSWERS = 50  # with a row of positions
MOST_KNOWN = 50  # known facts that are named


@dataclass(frozen=True)
class Candidate:
    """An entity on a question, as pages show it."""

    entity: int
    name: str
    key: str
    triple: tuple[int, int, int]
    shown: Shown
    reason: str  # of the filter, in words; empty: none
    evidence: list[Evidence]


class Place(NamedTuple):
    """Position of a list; the candidate is None where it is not in the pool and no list was kept."""

    position: int
    candidate: Candidate | None


@dataclass(frozen=True)
class SystemList:
    """The first places of one system."""

    system: str
    series: int  # number of its colour on every page
    places: list[Place]
    stored: bool  # whether the run kept a list of this question
    first_answer: int | None  # position of the best answer; None: no answer, or none that it ranked

    def shares(self) -> list[tuple[Shown, int]]:
        """How many of the places are in each state, in the order of the legend, without the empty ones."""
        counted = Counter(place.candidate.shown if place.candidate else Shown.NOT_POOLED for place in self.places)
        return [(state, counted[state]) for state in LEGEND if counted[state]]


class AnswerRow(NamedTuple):
    """An answer with its position under each system, None where the run did not return it."""

    candidate: Candidate
    positions: list[int | None]


@dataclass(frozen=True)
class QuestionDetail:
    side: str
    relation: int
    entity: int
    words: str
    given: str
    given_key: str
    relation_key: str
    candidates: int | None  # |C(q)|; None without runs
    known: list[str]  # names of the first known answers of train, valid and the unsampled test
    num_known: int
    counts: list[tuple[Shown, int]]  # triples of the pool on this question
    lists: list[SystemList]
    answers: list[AnswerRow]
    num_answers: int
    left_out: list[str]  # systems without complete rank rows

    @property
    def pattern(self) -> str:
        """Return the question as a triple with "?" for the entity that is asked for."""
        given, relation = self.given, self.relation_key
        return f"{given}, {relation}, ?" if self.side == "tail" else f"?, {relation}, {given}"

    @property
    def is_seed(self) -> bool:
        return dict(self.counts)[Shown.ORIGINAL] > 0

    @property
    def all_stored(self) -> bool:
        return all(one.stored for one in self.lists)

    @property
    def rows(self) -> list[tuple[int, list[Place | None]]]:
        """Position, and the place of each system there: the table of the page."""
        longest = max((len(one.places) for one in self.lists), default=0)
        return [(i + 1, [one.places[i] if i < len(one.places) else None for one in self.lists]) for i in range(longest)]

    @property
    def with_evidence(self) -> list[Candidate]:
        """Each candidate that is shown and has labels, once."""
        placed = [p.candidate for one in self.lists for p in one.places if p.candidate is not None]
        shown = {c.entity: c for c in [*placed, *(row.candidate for row in self.answers)]}
        return [candidate for candidate in shown.values() if candidate.evidence]


def inspect_question(pool: Pool, held: Inventory, side: int, relation: int, entity: int) -> QuestionDetail | None:
    """The question with every system's first candidates; None if no triple of the pool lies on it.

    A UserError of the runs (none, or damaged) passes through: `question_without_runs` needs none.
    """
    question = held.stock.question(side, relation, entity)
    if question < 0:
        return None
    table = pool_table(pool)
    at = int(find(table.question_keys, held.stock.keys[question : question + 1])[0])
    ranks = table.pool.table
    rows = slice(ranks.start[at], ranks.start[at + 1])
    entities = ranks.entity[rows].tolist()
    positions = ranks.strict[:, rows]
    width = min(FIRST, int(ranks.candidates[at]))
    stored = _stored(pool, table, int(held.stock.keys[question]))
    firsts = []
    for i, system in enumerate(table.systems):
        exact = {e: p for e, p in zip(entities, positions[i].tolist(), strict=True) if p > 0}
        firsts.append(first_places(exact, stored.get(system), width))
    answers = _answers(held, question, entities, positions)
    made = _candidates(
        pool, held, question, {e for first in firsts for e in first if e is not None} | {*answers[:MOST_ANSWERS]}
    )
    column = {e: i for i, e in enumerate(entities)}
    best = [_best(positions[i, [column[e] for e in answers if e in column]]) for i in range(len(table.systems))]
    lists = [
        SystemList(
            system,
            i + 1,
            [Place(n, made[e] if e is not None else None) for n, e in enumerate(firsts[i], 1)],
            system in stored,
            best[i],
        )
        for i, system in enumerate(table.systems)
    ]
    return _detail(
        pool,
        held,
        question,
        candidates=int(ranks.candidates[at]),
        lists=lists,
        num_answers=len(answers),
        answers=[
            AnswerRow(made[e], [p or None for p in positions[:, column[e]].tolist()] if e in column else [])
            for e in answers[:MOST_ANSWERS]
        ],
        left_out=table.left_out,
    )


def question_without_runs(pool: Pool, held: Inventory, side: int, relation: int, entity: int) -> QuestionDetail | None:
    """The question with its answers alone, for a pool that no system has a run for."""
    question = held.stock.question(side, relation, entity)
    if question < 0:
        return None
    answers = _answers(held, question, [], np.zeros((0, 0), dtype=np.int32))
    made = _candidates(pool, held, question, answers[:MOST_ANSWERS])
    return _detail(
        pool,
        held,
        question,
        candidates=None,
        lists=[],
        num_answers=len(answers),
        answers=[AnswerRow(made[e], []) for e in answers[:MOST_ANSWERS]],
        left_out=[],
    )


def first_places(exact: Mapping[int, int], stored: list[int] | None, width: int) -> list[int | None]:
    """Entities at positions 1 … width of a system; None where nothing that was kept says who stands there.

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
    """By system, the stored first candidates of a question, best first; systems that kept none are not in it."""
    runs = Run.objects.filter(system__graph_id=pool.graph_id, system__name__in=table.systems)
    found = {}
    for run in runs.select_related("system__graph"):
        topk = read_topk(run)
        at = int(find(topk.keys, np.array([key]))[0])
        if at >= 0:
            found[run.system.name] = topk.entity[at].tolist()
    return found


def _best(positions: np.ndarray) -> int | None:
    ranked = positions[positions > 0]
    return int(ranked.min()) if ranked.size else None


def _answers(held: Inventory, question: int, entities: list[int], positions: np.ndarray) -> list[int]:
    """Entities that answer the question now, the one that any system puts highest first."""
    stock = held.stock
    places = stock.of_question(question)
    places = places[np.isin(held.shown[places], ANSWERS)]
    asked = stock.triples[places, 0 if stock.questions.side[question] else 2].tolist()
    best = {e: _best(positions[:, i]) for i, e in enumerate(entities)}
    return sorted(asked, key=lambda e: (best.get(e) or np.inf, e))


def _candidates(pool: Pool, held: Inventory, question: int, entities: Iterable[int]) -> dict[int, Candidate]:
    """Candidates by entity, with their states and the evidence of the labels that count."""
    stock, graph = held.stock, held.stock.graph
    side, given, relation = (int(column[question]) for column in stock.questions)
    triples = {e: (e, relation, given) if side else (given, relation, e) for e in entities}
    places = {e: stock.place.get(triple) for e, triple in triples.items()}
    ids = [int(stock.triple_id[p]) for p in places.values() if p is not None]
    evidence = evidence_of(pk for pk in ids if pk)
    made = {}
    for e, triple in triples.items():
        place = places[e]
        shown = Shown.NOT_POOLED if place is None else Shown(held.shown[place])
        reason = REASONS[stock.reason[place]] if place is not None else ""
        labels = evidence.get(int(stock.triple_id[place]), []) if place is not None else []
        made[e] = Candidate(
            e, graph.label(e), graph.entities[e], triple, shown, reason_label(reason) if reason else "", labels
        )
    return made


def known_answers(pool: Pool, graph: GraphArrays, side: int, relation: int, entity: int) -> list[int]:
    """Entities that answer the question in train, valid, or test but for the seeds: no candidates of the pool."""
    given, asked = (2, 0) if side else (0, 2)
    found: set[int] = set()
    for triples in (graph.train, graph.valid, graph.test):
        on_it = (triples[:, 1] == relation) & (triples[:, given] == entity)
        found.update(triples[on_it, asked].tolist())
    column = "tail" if side else "head"
    seeds = pool.seeds.filter(relation=relation, **{column: entity})
    return sorted(found - set(seeds.values_list("head" if side else "tail", flat=True)))


def _detail(
    pool: Pool,
    held: Inventory,
    question: int,
    *,
    candidates: int | None,
    lists: list[SystemList],
    answers: list[AnswerRow],
    num_answers: int,
    left_out: list[str],
) -> QuestionDetail:
    graph = held.stock.graph
    side, entity, relation = (int(column[question]) for column in held.stock.questions)
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
        candidates=candidates,
        known=[graph.label(e) for e in known[:MOST_KNOWN]],
        num_known=len(known),
        counts=[(state, int(held.counts[question, state])) for state in LEGEND if state != Shown.NOT_POOLED],
        lists=lists,
        answers=answers,
        num_answers=num_answers,
        left_out=left_out,
    )
