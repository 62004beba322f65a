"""Search the questions and the triples of a pool by words, state and origin."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annotation.enums import JudgementOrigin
from annotation.questions.templates import templates_at
from core.errors import UserError
from evaluation.browse.pool_states import LEGEND, ORIGINS, PoolContents, PoolStates, TripleState
from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import pool_table, ranks_version, remembered
from evaluation.measures.judged import top_shares
from evaluation.measures.values import values
from evaluation.sections.compared import compared, compared_notes
from evaluation.sections.section import number
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.models import Pool
from pooling.pools.build import Finding, unpack_provenance
from pooling.pools.kernels.filters import REASONS
from pooling.questions.relation_names import choices_in_words
from pooling.questions.templates import fill
from pooling.runs.files import SIDES
from pooling.scoring.rank_rows import find

FIRST = 10  # candidates of a list that the shares are taken of
WHICH = {  # questions by how they came into the evaluation
    "": "evaluated (with an answer)",
    "seed": "of a seed triple",
    "opened": "opened by new answers",
    "waiting": "without an answer yet",
    "all": "all",
}
SORTS = {
    "new": "most new answers",
    "spread": "largest spread of reciprocal rank",
    "answers": "most answers",
    "unjudged": "most unjudged",
    "given": "by relation and entity",
}
_COUNTED = [state for state in LEGEND if state != TripleState.NOT_POOLED]
JUDGED_BY = {"": "all", **{origin.value: origin.label for origin in JudgementOrigin}, "nobody": "not judged"}
_figures: OrderedDict[tuple[object, ...], ListFigures] = OrderedDict()


@dataclass(frozen=True)
class QuestionFilter:
    """Choose questions and their order (a key of SORTS); empty: those with an answer."""

    text: str = ""  # in the label or key of the given entity, or in the relation
    side: str = ""
    relation: int | None = None
    which: str = ""  # a key of WHICH
    sort: str = "new"


@dataclass(frozen=True)
class TripleFilter:
    """Choose triples; empty: all. `state` is the key of a TripleState, `judged_by` a key of JUDGED_BY."""

    text: str = ""  # in the label or key of head or tail, or in the relation
    relation: int | None = None
    state: str = ""
    system: str = ""  # name of a contributor that found it
    reason: str = ""  # of the filter
    judged_by: str = ""


class QuestionRow(NamedTuple):
    side: str
    relation: int
    entity: int
    words: str
    given: str
    relation_name: str
    original: int
    new: int
    negative: int
    assumed: int
    unjudged: int
    spread: float | None  # None: no answer, or no run


class TripleRow(NamedTuple):
    head: int
    relation: int
    tail: int
    names: tuple[str, str, str]
    state: TripleState
    reason: str
    judged_by: str
    depth: int  # 0 for seeds
    found_by: list[Finding]


@dataclass(frozen=True)
class ListFigures:
    """Summarise the systems' lists under the labels of one moment.

    spread float64[q]: largest less smallest reciprocal rank of the first answer among the systems; nan for
    questions without an answer, or that a system was not asked. shares: by system, the share of each state in the first
    FIRST places of all evaluated questions, `positions` places in all. notes: on how many questions systems are
    compared. Without runs there is no system, and `problem` says why.
    """

    spread: np.ndarray
    shares: list[tuple[str, list[tuple[TripleState, float | None]]]]
    positions: int
    problem: str
    notes: Sequence[str] = ()


def list_figures(pool: Pool, states: PoolStates, systems: Sequence[str] = ()) -> ListFigures:
    """Return the summary of the lists, from memory while neither labels nor ranks changed.

    systems: those that are compared; empty: all that were asked enough questions.
    """
    key = (pool.pk, pool.created_at, states.version, ranks_version(pool), tuple(systems))
    try:
        return remembered(_figures, key, lambda: _list_figures(pool, states.contents, systems))
    except UserError as error:
        return ListFigures(np.full(len(states.contents.keys), np.nan), [], 0, str(error))


def _list_figures(pool: Pool, contents: PoolContents, systems: Sequence[str]) -> ListFigures:
    table = pool_table(pool, systems)
    labels = label_set(pool, table, "current")
    state = labels.state
    spread = np.full(len(contents.keys), np.nan)
    found = values(table.pool, state, ["macro_mrr"])["macro_mrr"]
    place = find(contents.keys, table.question_keys[found.unit_question])
    kept = place >= 0  # a triple that was pooled after the contents were read opens questions that these lack
    spread[place[kept]] = np.ptp(found.per_unit, axis=0)[kept] if found.n else 0
    top = top_shares(table.pool, state, table.is_seed, FIRST)
    shares = []
    for i, system in enumerate(table.systems):
        shares.append((system, [(state, number(getattr(top, state.key)[i])) for state in LEGEND]))
    return ListFigures(spread, shares, top.positions, "", list(compared_notes(compared(table, labels))))


def find_questions(states: PoolStates, wanted: QuestionFilter, spread: np.ndarray) -> Sequence[int]:
    """Return the places of the matching questions in the order wanted; ties by side, relation and entity."""
    contents, counts = states.contents, states.counts
    side, entity, relation = contents.questions
    original, is_answered = counts[:, TripleState.ORIGINAL] > 0, states.answers > 0
    chosen = {"seed": original, "opened": is_answered & ~original, "waiting": ~is_answered, "all": original | ~original}
    kept = chosen.get(wanted.which, is_answered).copy()
    if wanted.side in SIDES:
        kept &= side == SIDES.index(wanted.side)
    if wanted.relation is not None:
        kept &= relation == wanted.relation
    if wanted.text:
        kept &= _named(contents.graph, [entity], relation, wanted.text)
    weights = {"spread": np.nan_to_num(spread, nan=-1.0), "answers": states.answers, "given": np.zeros(len(side))}
    weights["unjudged"] = counts[:, TripleState.UNJUDGED]
    weight = weights.get(wanted.sort, counts[:, TripleState.NEW])
    places = np.flatnonzero(kept)
    return places[np.argsort(-weight[places], kind="stable")].tolist()


def question_rows(pool: Pool, states: PoolStates, places: Iterable[int], spread: np.ndarray) -> list[QuestionRow]:
    """Return the questions in words, with the number of triples of each state."""
    graph, questions = states.contents.graph, states.contents.questions
    templates = templates_at(pool.graph)
    rows = []
    for q in places:
        side, entity, relation = (int(column[q]) for column in questions)
        template = templates[relation]
        text = template.head_question if side else template.tail_question
        name = graph.label(entity)
        original, new, negative, assumed, unjudged = states.counts[q, _COUNTED].tolist()
        question = (SIDES[side], relation, entity, fill(text, name, name), name, graph.relation_name(relation))
        widest = None if np.isnan(spread[q]) else float(spread[q])
        rows.append(QuestionRow(*question, original, new, negative, assumed, unjudged, widest))
    return rows


def find_triples(pool: Pool, states: PoolStates, wanted: TripleFilter) -> Sequence[int]:
    """Return the places of the matching triples: seeds first, then in the order of the pool."""
    contents = states.contents
    head, relation, tail = contents.triples.T
    kept = np.ones(len(head), dtype=bool)
    if wanted.relation is not None:
        kept &= relation == wanted.relation
    if wanted.state in {state.key for state in TripleState}:
        kept &= states.state == TripleState[wanted.state.upper()]
    if wanted.system in pool.contributors:
        finder = pool.contributors.index(wanted.system)
        kept &= np.isin(np.arange(len(head)), contents.found_of[contents.found_system == finder])
    if wanted.reason in REASONS[1:]:
        kept &= contents.reason == REASONS.index(wanted.reason)
    if wanted.judged_by in ORIGINS[1:]:
        kept &= states.origin == ORIGINS.index(wanted.judged_by)
    elif wanted.judged_by == "nobody":
        kept &= (states.origin == 0) & ~contents.is_seed
    if wanted.text:
        kept &= _named(contents.graph, [head, tail], relation, wanted.text)
    return np.flatnonzero(kept).tolist()


def triple_rows(pool: Pool, states: PoolStates, places: Iterable[int]) -> list[TripleRow]:
    """Return the triples by name, with the systems that found them; one query."""
    contents, places = states.contents, list(places)
    ids = contents.triple_id[places].tolist()
    packed = dict(pool.triples.filter(pk__in=ids).order_by().values_list("pk", "provenance"))
    rows = []
    for place, pk in zip(places, ids, strict=True):
        h, r, t = contents.triples[place].tolist()
        names = (contents.graph.label(h), contents.graph.relation_name(r), contents.graph.label(t))
        state, origin = TripleState(states.state[place]), ORIGINS[states.origin[place]]
        found_by = unpack_provenance(packed.get(pk, b""), pool.contributors)
        words = contents.reason_in_words(place)
        rows.append(TripleRow(h, r, t, names, state, words, origin, int(contents.depth[place]), found_by))
    return rows


def relations_of(contents: PoolContents) -> list[tuple[int, str]]:
    """Return index and words of the relations of a pool, in the order of the words."""
    found = np.unique(contents.triples[:, 1]).tolist()
    graph = contents.graph
    return choices_in_words((r, graph.relation_name(r), graph.relations[r]) for r in found)


def _named(graph: GraphArrays, entities: Iterable[np.ndarray], relation: np.ndarray, text: str) -> np.ndarray:
    """Return whether the label or key of an entity, or of the relation, contains the text in any case; bool[n].

    entities: columns int[n]; relation: int[n].
    """
    text = text.casefold()
    names = [f"{key}\n{graph.relation_name(r)}" for r, key in enumerate(graph.relations)]
    found = np.array([text in name.casefold() for name in names], dtype=bool)[relation]
    for entity in entities:
        distinct, place = np.unique(entity, return_inverse=True)
        has = [text in graph.label(e).casefold() or text in graph.entities[e].casefold() for e in distinct.tolist()]
        found |= np.array(has, dtype=bool)[place.reshape(-1)]
    return found
