"""Search over the questions and the triples of a pool, by words, state and where they come from."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annotation.enums import JudgementOrigin
from annotation.questions.templates import templates_at
from core.errors import UserError
from evaluation.browse.inventory import LEGEND, ORIGINS, Inventory, Shown, Stock
from evaluation.labels.label_sets import current_state
from evaluation.labels.pool_table import pool_table, ranks_version, remembered
from evaluation.measures.judged import top_shares
from evaluation.measures.values import values
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.models import Pool
from pooling.pools.build import Finding, unpack_provenance
from pooling.pools.kernels.filters import REASONS, reason_label
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
JUDGED_BY = {"": "all", **{origin.value: origin.label for origin in JudgementOrigin}, "nobody": "not judged"}
_reaches: OrderedDict[tuple[object, ...], Reach] = OrderedDict()


@dataclass(frozen=True)
class QuestionFilter:
    """Which questions, and in which order (a key of SORTS); empty: those with an answer."""

    text: str = ""  # in the label or key of the given entity, or in the relation
    side: str = ""
    relation: int | None = None
    which: str = ""  # a key of WHICH
    sort: str = "new"


@dataclass(frozen=True)
class TripleFilter:
    """Which triples; empty: all. `state` is the key of a Shown, `judged_by` a key of JUDGED_BY."""

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
    relation_key: str
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
    shown: Shown
    reason: str
    judged_by: str
    depth: int  # 0 for seeds
    found_by: list[Finding]


# -- questions --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reach:
    """What the systems' lists say of the questions, under the labels of a moment.

    spread float64[q]: largest less smallest reciprocal rank of the first answer among the systems; nan for
    questions without an answer. shares: of the first FIRST places of all evaluated questions, by system and state;
    `positions` of them. Without runs there is no system, and `problem` says why.
    """

    spread: np.ndarray
    shares: list[tuple[str, list[tuple[Shown, float | None]]]]
    positions: int
    problem: str


def reach(pool: Pool, held: Inventory) -> Reach:
    """From memory while neither labels nor ranks changed."""
    key = (pool.pk, pool.created_at, held.version, ranks_version(pool))
    try:
        return remembered(_reaches, key, lambda: _reach(pool, held.stock))
    except UserError as error:
        return Reach(np.full(len(held.stock.keys), np.nan), [], 0, str(error))


def _reach(pool: Pool, stock: Stock) -> Reach:
    table = pool_table(pool)
    state = current_state(pool, table)
    spread = np.full(len(stock.keys), np.nan)
    found = values(table.pool, state, ["macro_mrr"])["macro_mrr"]
    place = find(stock.keys, table.question_keys[found.unit_question])
    kept = place >= 0  # a triple pooled since the inventory was taken opens questions that it does not know
    spread[place[kept]] = np.ptp(found.per_unit, axis=0)[kept] if found.n else 0
    top = top_shares(table.pool, state, table.is_seed, FIRST)
    shares = []
    for i, system in enumerate(table.systems):
        parts = [(shown, float(getattr(top, shown.key)[i])) for shown in LEGEND]
        shares.append((system, [(shown, part if np.isfinite(part) else None) for shown, part in parts]))
    return Reach(spread, shares, top.positions, "")


def find_questions(held: Inventory, wanted: QuestionFilter, spread: np.ndarray) -> Sequence[int]:
    """Places of the questions in the stock, in the order wanted; ties by side, relation and entity."""
    stock, counts = held.stock, held.counts
    side, entity, relation = stock.questions
    kept = _which(held, wanted.which)
    if wanted.side in SIDES:
        kept &= side == SIDES.index(wanted.side)
    if wanted.relation is not None:
        kept &= relation == wanted.relation
    if wanted.text:
        kept &= _named(stock.graph, entity, wanted.text) | _relation_has(stock.graph, relation, wanted.text)
    weight = {
        "new": counts[:, Shown.NEW],
        "spread": np.nan_to_num(spread, nan=-1.0),
        "answers": held.answers,
        "unjudged": counts[:, Shown.UNJUDGED],
        "given": np.zeros(len(side)),
    }.get(wanted.sort, counts[:, Shown.NEW])
    places = np.flatnonzero(kept)
    return places[np.argsort(-weight[places], kind="stable")].tolist()


def _which(held: Inventory, which: str) -> np.ndarray:
    original = held.counts[:, Shown.ORIGINAL] > 0
    chosen = {
        "seed": original,
        "opened": (held.answers > 0) & ~original,
        "waiting": held.answers == 0,
        "all": np.ones(len(original), dtype=bool),
    }.get(which, held.answers > 0)
    return chosen.copy()


def question_rows(pool: Pool, held: Inventory, places: Iterable[int], spread: np.ndarray) -> list[QuestionRow]:
    """Questions in words, with what lies on them."""
    graph, questions = held.stock.graph, held.stock.questions
    templates = templates_at(pool.graph)
    rows = []
    for q in places:
        side, entity, relation = (int(column[q]) for column in questions)
        template = templates[relation]
        text = template.head_question if side else template.tail_question
        name = graph.label(entity)
        count = held.counts[q].tolist()
        rows.append(
            QuestionRow(
                SIDES[side],
                relation,
                entity,
                fill(text, name, name),
                name,
                graph.relations[relation],
                count[Shown.ORIGINAL],
                count[Shown.NEW],
                count[Shown.NEGATIVE],
                count[Shown.ASSUMED_NEGATIVE],
                count[Shown.UNJUDGED],
                None if np.isnan(spread[q]) else float(spread[q]),
            )
        )
    return rows


# -- triples ----------------------------------------------------------------------------------------------------


def find_triples(pool: Pool, held: Inventory, wanted: TripleFilter) -> Sequence[int]:
    """Places of the triples in the stock: seeds first, then in the order of the pool."""
    stock = held.stock
    head, relation, tail = stock.triples.T
    kept = np.ones(len(head), dtype=bool)
    if wanted.relation is not None:
        kept &= relation == wanted.relation
    if wanted.state in {state.key for state in Shown}:
        kept &= held.shown == Shown[wanted.state.upper()]
    if wanted.system in pool.contributors:
        finder = pool.contributors.index(wanted.system)
        kept &= np.isin(np.arange(len(head)), stock.found_of[stock.found_system == finder])
    if wanted.reason in REASONS[1:]:
        kept &= stock.reason == REASONS.index(wanted.reason)
    if wanted.judged_by in ORIGINS[1:]:
        kept &= held.origin == ORIGINS.index(wanted.judged_by)
    elif wanted.judged_by == "nobody":
        kept &= (held.origin == 0) & ~stock.is_seed
    if wanted.text:
        named = _named(stock.graph, head, wanted.text) | _named(stock.graph, tail, wanted.text)
        kept &= named | _relation_has(stock.graph, relation, wanted.text)
    return np.flatnonzero(kept).tolist()


def triple_rows(pool: Pool, held: Inventory, places: Iterable[int]) -> list[TripleRow]:
    """Triples by name, with who found them; one query."""
    stock, places = held.stock, list(places)
    ids = stock.triple_id[places].tolist()
    packed = dict(pool.triples.filter(pk__in=ids).order_by().values_list("pk", "provenance"))
    rows = []
    for place, pk in zip(places, ids, strict=True):
        h, r, t = stock.triples[place].tolist()
        names = (stock.graph.label(h), stock.graph.relations[r], stock.graph.label(t))
        reason = REASONS[stock.reason[place]]
        rows.append(
            TripleRow(
                h,
                r,
                t,
                names,
                Shown(held.shown[place]),
                reason_label(reason) if reason else "",
                ORIGINS[held.origin[place]],
                int(stock.depth[place]),
                unpack_provenance(packed.get(pk, b""), pool.contributors),
            )
        )
    return rows


def relations_of(stock: Stock) -> list[tuple[int, str]]:
    """Index and key of the relations of the pool, by key."""
    found = np.unique(stock.triples[:, 1]).tolist()
    return sorted(((r, stock.graph.relations[r]) for r in found), key=lambda pair: (pair[1], pair[0]))


def _named(graph: GraphArrays, entity: np.ndarray, text: str) -> np.ndarray:
    """Whether the label or key of each entity contains the text, bool[n]; case counts not."""
    text = text.casefold()
    distinct, place = np.unique(entity, return_inverse=True)
    has = [text in graph.label(e).casefold() or text in graph.entities[e].casefold() for e in distinct.tolist()]
    return np.array(has, dtype=bool)[place.reshape(-1)]


def _relation_has(graph: GraphArrays, relation: np.ndarray, text: str) -> np.ndarray:
    text = text.casefold()
    return np.array([text in key.casefold() for key in graph.relations], dtype=bool)[relation]
