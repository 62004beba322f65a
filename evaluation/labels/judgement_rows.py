"""Read the pooled triples of a pool as rows: state now, how each was settled, filter, depth."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from annotation.enums import Verdict
from annotation.judging.judgements import taken_back
from annotation.models import Judgement
from evaluation.labels.frozen import adjudicated_triples, how_settled
from evaluation.labels.qrels import STATE_NAMES
from evaluation.measures.label_state import LabelState
from pooling.graphs.opening import open_graph
from pooling.models import Pool, PooledTriple

_STATES = {
    Verdict.POSITIVE: LabelState.POSITIVE,
    Verdict.NEGATIVE: LabelState.NEGATIVE,
    Verdict.UNDECIDED: LabelState.UNJUDGED,
}


class JudgementRow(NamedTuple):
    """Hold a pooled triple by its keys; `settled` is a word of SETTLED, `filter` empty where people judge it."""

    id: int
    head: str
    relation: str
    tail: str
    state: str
    settled: str
    filter: str
    depth: int
    decided_at: datetime | None


def judgement_rows(pool: Pool, triples: Sequence[PooledTriple]) -> list[JudgementRow]:
    """Return a row for each of these triples of the pool, read with their judgements; two queries more."""
    graph = open_graph(pool.graph)
    adjudicated = adjudicated_triples(pool, [triple.pk for triple in triples])
    back = set(taken_back(pool).filter(triple__in=triples).values_list("triple_id", flat=True))
    rows = []
    for triple in triples:
        judgement: Judgement | None = None if triple.pk in back else getattr(triple, "judgement", None)
        state, settled = _now(triple, judgement, triple.pk in adjudicated)
        keys = graph.entities[triple.head], graph.relations[triple.relation], graph.entities[triple.tail]
        decided = judgement.decided_at if judgement else None
        rows.append(JudgementRow(triple.pk, *keys, STATE_NAMES[state], settled, triple.reason, triple.depth, decided))
    return rows


def _now(triple: PooledTriple, judgement: Judgement | None, is_adjudicated: bool) -> tuple[LabelState, str]:
    """Return the state of a triple and how it came to it; a label beats a filter."""
    if judgement is not None:
        return _STATES[Verdict(judgement.verdict)], how_settled(judgement.verdict, judgement.origin, is_adjudicated)
    return (LabelState.ASSUMED_NEGATIVE, "filtered") if triple.reason else (LabelState.UNJUDGED, "open")
