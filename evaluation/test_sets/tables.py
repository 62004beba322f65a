"""Write the tables of a test set: triples, judgements, the pool, values by question."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat

import numpy as np

from evaluation.labels.frozen import SETTLED, Frozen
from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import PoolTable, whole_table
from evaluation.labels.qrels import STATE_NAMES
from evaluation.measures.label_state import LabelState
from evaluation.measures.question_sums import QuestionSums
from evaluation.measures.registry import USUAL_NAMES
from evaluation.models import Qrels
from pooling.enums import Side
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.pools.kernels.filters import REASONS
from pooling.questions.kernel import questions_from_keys
from pooling.runs.files import question_ids

CHUNK = 10_000  # triples whose Python objects are held at once
Sums = Mapping[str, QuestionSums]


def triple_lines(triples: np.ndarray, graph: GraphArrays) -> Iterator[str]:
    """Yield head, relation and tail of each triple, int32[n, 3]."""
    names = graph.entities, graph.relations, graph.entities
    for start in range(0, len(triples), CHUNK):
        numbers = triples[start : start + CHUNK].T.tolist()
        keys = (map(of.__getitem__, column) for of, column in zip(names, numbers, strict=True))
        yield from map("\t".join, zip(*keys, strict=True))


def ordered(triples: np.ndarray) -> np.ndarray:
    """Return the triples in the order of relation, head, tail."""
    return triples[np.lexsort((triples[:, 2], triples[:, 0], triples[:, 1]))]


def judgement_lines(frozen: Frozen, graph: GraphArrays, evidence: Iterable[str] | None) -> Iterator[str]:
    """Yield every triple with its state and how it was settled, and with `evidence` if given."""
    yield "head\trelation\ttail\tstate\tsettled\tdepth\tfilter" + ("" if evidence is None else "\tevidence")
    states = {int(value): name for value, name in STATE_NAMES.items()}
    more = repeat("") if evidence is None else (f"\t{addresses}" for addresses in evidence)
    numbers = map(_each, (frozen.state, frozen.settled, frozen.depth, frozen.reason))
    columns = zip(triple_lines(frozen.triples, graph), *numbers, more, strict=False)
    for keys, state, settled, depth, reason, told in columns:
        yield f"{keys}\t{states[state]}\t{SETTLED[settled]}\t{depth}\t{REASONS[reason]}{told}"


def _each(column: np.ndarray) -> Iterator[int]:
    for start in range(0, len(column), CHUNK):
        yield from column[start : start + CHUNK].tolist()


def pool_lines(frozen: Frozen, graph: GraphArrays) -> Iterator[str]:
    """Yield the pooled triples without seeds: head, relation, tail, smallest depth, provenance."""
    names, sides = frozen.about["contributors"], (Side.TAIL, Side.HEAD)
    columns = zip(triple_lines(frozen.triples, graph), _each(frozen.depth), _each(frozen.settled), strict=True)
    for i, (keys, depth, settled) in enumerate(columns):
        if settled == SETTLED.index("seed"):
            continue
        found = frozen.findings.of(i).tolist()
        yield f"{keys}\t{depth}\t" + ";".join(f"{names[s]}:{sides[side].value}:{rank}" for s, side, rank in found)


# -- measures ---------------------------------------------------------------------------------------------------


def measured(qrels: Qrels, systems: Sequence[str]) -> tuple[PoolTable, Sums]:
    """Return the usual measures of systems under qrels, summed by question; the table says which are compared."""
    whole = whole_table(qrels.pool)
    table = whole.of_systems([whole.systems.index(system) for system in systems]).compared()
    return table, label_set(qrels.pool, table, f"qrels:{qrels.name}").sums(USUAL_NAMES)


def value_lines(table: PoolTable, sums: Sums, systems: Sequence[str]) -> Iterator[str]:
    """Yield question, system, answers, then each measure: for micro ones the mean over the question's answers.

    Empty where a measure is undefined. Numbers are written so that they come back to the last digit.
    """
    yield "\t".join(["question", "system", "answers", *sums])
    every = np.unique(np.concatenate([of.question for of in sums.values()]))
    place = {question: i for i, question in enumerate(every.tolist())}
    values = np.full((len(sums), len(table.systems), len(every)), np.nan)
    answers = np.zeros(len(every), dtype=np.int64)
    for m, of in enumerate(sums.values()):
        at = [place[question] for question in of.question.tolist()]
        values[m][:, at] = of.sums / of.counts
        if of.unit == "answer":
            answers[at] = of.counts
    e, r = table.graph.num_entities, table.graph.num_relations
    ids = question_ids(questions_from_keys(table.question_keys[every], e, r), table.graph)
    systems = [system for system in systems if system in table.systems]
    rows = [table.systems.index(system) for system in systems]
    for i, (identifier, n) in enumerate(zip(ids, answers.tolist(), strict=True)):
        for system, row in zip(systems, values[:, rows, i].T.tolist(), strict=True):
            cells = ["" if value != value else repr(value) for value in row]
            yield "\t".join([identifier, system, str(n), *cells])


def positives(frozen: Frozen) -> np.ndarray:
    return frozen.state == LabelState.POSITIVE
