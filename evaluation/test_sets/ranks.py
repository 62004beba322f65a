"""Write where each system ranks every judged and every test answer, and the figures that follow from it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from evaluation.labels.pool_table import PoolTable
from evaluation.measures.rank_table import Order
from evaluation.test_sets.tables import Sums
from evaluation.test_sets.trec import is_among
from pooling.questions.kernel import questions_from_keys
from pooling.runs.files import question_ids
from pooling.runs.trec_write import bytes_of

CHUNK = 10_000  # lines that are made at once
OF_NEGATIVES = "judged@10"  # needs more than the positives
SCORE = Path(__file__).with_name("score.py")


def ranks_by_system(table: PoolTable, systems: list[str], triples: np.ndarray) -> Mapping[str, Iterator[bytes]]:
    """Return the lines of each system's ranks: of the triples int[n, 3] and of all test triples, on both sides.

    Ranks are positions among all entities but the answers of train and valid, 0 where an imported run has none;
    `candidates` counts these entities, `returned` those of them that the system returned. Questions that a run was not
    asked have no line.
    """
    import pyarrow.compute as pc  # here, since few need it: docs/measured/benchmarks.md, Start-up

    table = table.whole or table
    ranks, graph = table.ranks, table.graph
    rows = np.flatnonzero((table.is_test | is_among(table.triples, triples, graph))[ranks.triple])
    entities = pa.array(graph.entities, pa.string())
    ids = pa.array(question_ids(questions_from_keys(table.question_keys, *graph.shape), graph), pa.string())

    def lines(system: str) -> Iterator[bytes]:
        yield b"question\tanswer\tstrict\toptimistic\tpessimistic\tcandidates\treturned\n"
        i = table.systems.index(system)
        numbers = [of[i] for of in (ranks.strict, ranks.optimistic, ranks.pessimistic)]
        returned = ranks.candidates if ranks.returned is None else ranks.returned[i]
        own = rows[table.asked[i][ranks.question[rows]]]
        for start in range(0, len(own), CHUNK):
            part: Order = own[start : start + CHUNK]
            question = ranks.question[part]
            counts = [*(of[part] for of in numbers), *(of[question] for of in (ranks.candidates, returned))]
            cells = [ids.take(pa.array(question)), entities.take(pa.array(ranks.entity[part]))]
            cells += [pa.array(count).cast(pa.string()) for count in counts]
            cells[-1] = pc.binary_join_element_wise(cells[-1], "\n", "")
            yield bytes_of(pc.binary_join_element_wise(*cells, "\t"))

    return {system: lines(system) for system in systems}


def figure_lines(table: PoolTable, sums: Sums, systems: list[str], *, positives_only: bool) -> Iterator[str]:
    """Yield system, measure and its mean, to the last digit; empty where it is undefined.

    Systems are compared on the questions that all of them were asked; those asked too few have no line.
    """
    yield "system\tmeasure\tvalue"
    for system in filter(table.systems.__contains__, systems):
        for name, of in sums.items():
            if positives_only and name == OF_NEGATIVES:
                continue
            value = float(of.mean()[table.systems.index(system)])
            yield f"{system}\t{name}\t{'' if np.isnan(value) else repr(value)}"
