"""Inspect one triple of a pool: who found it, filter, positions, labels and judgement."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlsplit

import numpy as np

from annotation.campaigns.items import History, history
from annotation.enums import Answer, JudgementOrigin, SlotState, Verdict
from annotation.judging.judgements import live_labels
from annotation.models import ImportedLabel, Item, Judgement
from annotation.models.slot import ADJUDICATION
from annotation.quality.reports import annotator_numbers
from annotation.questions.templates import templates_at
from annotation.sources.evidence import ascii_host, problem_of
from evaluation.browse.pool_states import PoolStates, TripleState
from evaluation.labels.pool_table import whole_table
from pooling.models import Pool
from pooling.pools.build import Finding, unpack_provenance
from pooling.questions.templates import fill
from pooling.runs.files import SIDES
from pooling.scoring.rank_rows import find, question_keys, rows_of

Triple = tuple[int, int, int]


def is_link(url: str) -> bool:
    """Return whether an address may be a link: https to a plain host. Not all imported ones were checked."""
    try:
        host = ascii_host(urlsplit(url).hostname or "")
    except ValueError:
        return False
    return not problem_of(url, [host])


class Evidence(NamedTuple):
    """Hold a label that counts, without the person."""

    answer: str  # in words
    url: str
    linked: bool  # whether the url may be a link
    imported: bool


def evidence_of(triple_ids: Iterable[int]) -> dict[int, list[Evidence]]:
    """Return by PooledTriple id the labels that count, those of people first; two queries."""
    ids, of_label = list(triple_ids), ("answer", "source_url")
    found: dict[int, list[Evidence]] = defaultdict(list)
    own = live_labels().filter(item__triple__in=ids).order_by("slot__number").values_list("item__triple_id", *of_label)
    imported = ImportedLabel.objects.filter(triple__in=ids).order_by("pk").values_list("triple_id", *of_label)
    for is_imported, labels in ((False, own), (True, imported)):
        for triple, answer, url in labels:
            found[triple].append(Evidence(str(Answer(answer).label), url, is_link(url), is_imported))
    return found


class Position(NamedTuple):
    """Position of the triple's entity among the candidates of a question; 0: the run did not return it."""

    strict: int
    optimistic: int
    pessimistic: int


@dataclass(frozen=True)
class TripleQuestion:
    """Describe one of the two questions of a triple, with the position of its entity under each system."""

    side: str
    relation: int
    entity: int
    words: str
    in_pool: bool  # whether it has a page
    candidates: int | None
    positions: list[Position | None]  # by system; None where it has no rank row
    asked: list[bool]  # by system


def triple_questions(pool: Pool, states: PoolStates, triple: Triple) -> tuple[list[str], list[TripleQuestion]]:
    """Return the systems, and the tail and head question with their positions; UserError where there are no runs."""
    table = whole_table(pool)
    ranks, graph = table.pool.table, states.contents.graph
    both = rows_of(np.array([triple], dtype=np.int32))
    at = find(table.question_keys, question_keys(both, graph.num_entities, graph.num_relations)).tolist()
    places = questions_without_runs(pool, states, triple)
    found = []
    for place, question, candidate in zip(places, at, both.candidate.tolist(), strict=True):
        rows = slice(ranks.start[question], ranks.start[question + 1]) if question >= 0 else slice(0, 0)
        hit = np.flatnonzero(ranks.entity[rows] == candidate)
        positions: list[Position | None] = [None] * len(table.systems)
        if hit.size:
            row = rows.start + int(hit[0])
            columns = (ranks.strict[:, row], ranks.optimistic[:, row], ranks.pessimistic[:, row])
            positions = [Position(*one) for one in zip(*(c.tolist() for c in columns), strict=True)]
        count = int(ranks.candidates[question]) if question >= 0 else None
        asked = table.asked[:, question].tolist() if question >= 0 else [True] * len(table.systems)
        found.append(replace(place, candidates=count, positions=positions, asked=asked))
    return table.systems, found


def questions_without_runs(pool: Pool, states: PoolStates, triple: Triple) -> list[TripleQuestion]:
    """Return the two questions in words, without positions."""
    (head, relation, tail), graph = triple, states.contents.graph
    template = templates_at(pool.graph)[relation]
    places = []
    for side, (entity, text) in enumerate(((head, template.tail_question), (tail, template.head_question))):
        name, in_pool = graph.label(entity), states.contents.question(side, relation, entity) >= 0
        places.append(TripleQuestion(SIDES[side], relation, entity, fill(text, name, name), in_pool, None, [], []))
    return places


BY_ADJUDICATOR = "By an adjudicator: the two labels differed, or a manager asked for a third person."


@dataclass(frozen=True)
class TripleDetail:
    """Hold what is known of a triple. `item` and `history` are None where people were never asked."""

    triple: Triple
    keys: tuple[str, str, str]
    statement: str
    state: TripleState
    known_in: list[str]  # splits that hold it
    depth: int  # 0: not found by a system
    found_by: list[Finding]
    reason: str  # of the filter, in words; empty: none
    item: Item | None
    history: History | None
    judgement: Judgement | None
    imported: list[ImportedLabel]
    numbers: dict[int, int]  # person id -> number, for those who may not know names

    @property
    def settled(self) -> str:
        """Say in words how the judgement came about."""
        if self.state == TripleState.ORIGINAL:
            return "A seed triple is positive by definition; nobody is asked."
        if self.state == TripleState.NOT_POOLED:
            return "It is not in the pool: nobody is asked."
        if self.judgement is None:
            filtered = self.state == TripleState.ASSUMED_NEGATIVE
            return "A filter took it; nobody was asked." if filtered else "No judgement yet."
        if self.judgement.origin == JudgementOrigin.IMPORT:
            n = len(self.imported)
            return f"By the majority of {n} imported label{'s' if n != 1 else ''}."
        if self.history is not None and self.history.is_adjudicated:
            return BY_ADJUDICATOR
        if self.judgement.verdict == Verdict.UNDECIDED:
            return "Undecided: labels were reopened, withdrawn, or differ."
        return "By two people who agree." if self.history is not None else "By people."


class LabelRow(NamedTuple):
    """Hold a label for a page: by name with its comment, or by number without it."""

    who: str
    role: str
    answer: str
    counts: str  # yes, or why not
    url: str
    linked: bool
    passage: str  # what the source says
    comment: str
    version: int  # of the question that was asked
    when: datetime


def label_rows(detail: TripleDetail, names: bool) -> list[LabelRow]:
    """Return every version of every label, oldest first.

    Without `names` people are numbers, and comments are left out: a comment may tell who wrote it.
    """
    rows = []
    for label in detail.history.labels if detail.history else []:
        counts = "no: withdrawn" if label.slot.state == SlotState.WITHDRAWN else "yes"
        if hasattr(label, "superseded_by"):
            counts = "no: changed later"
        who = label.annotator.username if names else f"annotator {detail.numbers[label.annotator_id]}"
        role = "adjudicator" if label.slot.number == ADJUDICATION else "annotator"
        answer, comment, url = str(Answer(label.answer).label), label.comment if names else "", label.source_url
        version, when = label.template.version, label.created_at
        rows.append(LabelRow(who, role, answer, counts, url, is_link(url), label.passage, comment, version, when))
    return rows


class ImportedRow(NamedTuple):
    """Hold a label made elsewhere; `who` is empty for readers who may not know names."""

    who: str
    answer: str
    url: str
    linked: bool
    passage: str
    file: str
    line: int


def imported_rows(detail: TripleDetail, names: bool) -> list[ImportedRow]:
    rows = []
    for label in detail.imported:
        who, answer, url = label.annotator if names else "", str(Answer(label.answer).label), label.source_url
        rows.append(ImportedRow(who, answer, url, is_link(url), label.passage, label.file_name, label.line))
    return rows


def inspect_triple(pool: Pool, states: PoolStates, triple: Triple) -> TripleDetail:
    """Return everything but the positions of any triple of the graph, also of one outside the pool."""
    (head, relation, tail), contents, graph = triple, states.contents, states.contents.graph
    place = contents.place.get(triple)
    pk = 0 if place is None else int(contents.triple_id[place])
    pooled = pool.triples.filter(pk=pk).first() if pk else None
    item = Item.objects.filter(triple=pooled).select_related("campaign", "triple").first() if pooled else None
    past = history(item) if item else None
    if past is not None:
        judgement, imported = past.judgement, past.imported
    else:
        judgement = Judgement.objects.filter(triple=pooled).first() if pooled else None
        imported = list(pooled.imported_labels.order_by("pk")) if pooled else []
    splits = (("train", graph.train), ("valid", graph.valid), ("test", graph.test))
    return TripleDetail(
        triple=triple,
        keys=(graph.entities[head], graph.relations[relation], graph.entities[tail]),
        statement=fill(templates_at(pool.graph)[relation].statement, graph.label(head), graph.label(tail)),
        state=TripleState.NOT_POOLED if place is None else TripleState(states.state[place]),
        known_in=[name for name, triples in splits if bool((triples == triple).all(axis=1).any())],
        depth=0 if place is None else int(contents.depth[place]),
        found_by=unpack_provenance(pooled.provenance, pool.contributors) if pooled else [],
        reason="" if place is None else contents.reason_in_words(place),
        item=item,
        history=past,
        judgement=judgement,
        imported=imported,
        numbers=annotator_numbers(item.campaign) if item else {},
    )
