"""Read a pool for an order of judging: the triples for people, and their ranks in the runs."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pooling.enums import TO_PEOPLE
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from pooling.orders.base import OrderPool
from pooling.pools.build import seed_array
from pooling.pools.kernels.gathering import PROVENANCE, question_sides, shown_questions
from pooling.runs.files import RankRows, read_ranks
from pooling.runs.score import TOP_K
from pooling.scoring.rank_rows import Rows, find, question_keys, row_keys, rows_of
from pooling.training.train import systems_with_runs


class ToJudge(NamedTuple):
    """Hold the triples of a pool that people judge, as an order sees them.

    triple_id int64[n], sorted: of PooledTriple; question int64[n, 3]: that each is shown under
    (kernels/gathering.py); runs: names of the rows of ranks.
    """

    pool: OrderPool
    triple_id: np.ndarray
    question: np.ndarray
    runs: list[str]


def order_pool(pool: Pool) -> ToJudge:
    """Return the triples of a pool that people judge, with their ranks in the runs.

    Ranks are those of the provenance. An imported pool may have none; then they come from the graph's systems with a
    run, among the candidates of the pool, to rank 100.
    """
    names = ("pk", "head", "relation", "tail", "depth", "provenance")
    rows = list(pool.triples.filter(reason=TO_PEOPLE).order_by("pk").values_list(*names))
    table = np.array([row[:5] for row in rows], dtype=np.int64).reshape(-1, 5)
    provenance = [bytes(row[5]) for row in rows]
    triples, seeds = table[:, 1:4], seed_array(pool)
    if any(provenance):
        runs, ranks = list(pool.contributors), found_ranks(provenance, len(pool.contributors))
    else:
        runs, ranks = _system_ranks(pool, triples, seeds)
    question = shown_questions(triples, question_sides(triples, provenance, seeds))
    _, group = np.unique(question, axis=0, return_inverse=True)
    arrays = OrderPool(ranks, table[:, 4].astype(np.int32), group.reshape(-1).astype(np.int64))
    return ToJudge(arrays, table[:, 0], question, runs)


def found_ranks(provenance: Sequence[bytes], contributors: int) -> np.ndarray:
    """Return the best rank at which each contributor found each triple, int32[contributors, n]; 0 if it did not.

    provenance: n packed findings.
    """
    findings = np.frombuffer(b"".join(provenance), dtype=PROVENANCE)
    triple = np.repeat(np.arange(len(provenance)), [len(p) // PROVENANCE.itemsize for p in provenance])
    none = np.iinfo(np.int32).max
    ranks = np.full((contributors, len(provenance)), none, dtype=np.int32)
    np.minimum.at(ranks, (findings["system"], triple), findings["rank"].astype(np.int32))
    return np.where(ranks == none, 0, ranks)


def _system_ranks(pool: Pool, triples: np.ndarray, seeds: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return the systems that have rank rows of all triples int[n, 3], and their ranks int32[systems, n]."""
    graph = open_graph(pool.graph)
    known = np.array(sorted({*map(tuple, graph.test.tolist())} - {*map(tuple, seeds.tolist())}))
    asked, answers = rows_of(triples), rows_of(known)
    names, ranks = [], []
    for system in systems_with_runs(pool):
        found = pool_ranks(read_ranks(system.run), asked, answers, graph)
        if found is not None:
            sides = found.reshape(2, len(triples))  # tail questions, then head questions
            sides = np.where(sides > 0, sides, TOP_K + 1).min(axis=0)
            names.append(system.name)
            ranks.append(np.where(sides <= TOP_K, sides, 0))
    return names, np.array(ranks, dtype=np.int32).reshape(len(names), len(triples))


def pool_ranks(run: RankRows, asked: Rows, known: Rows, graph: GraphArrays) -> np.ndarray | None:
    """Return strict positions of the asked rows without the known ones (test answers that are not seeds), int64[n].

    0 means that the run did not return it. Returns None if the run lacks a row.
    """
    shape = graph.num_entities, graph.num_relations
    at, gone_at = (find(run.keys, row_keys(rows, *shape)) for rows in (asked, known))
    if (at < 0).any() or (gone_at < 0).any():
        return None
    strict, gone = run.ranks[0, at].astype(np.int64), run.ranks[0, gone_at]
    width = graph.num_entities + 1  # ranks are smaller: one integer holds question and rank
    question = question_keys(asked, *shape) * width
    answers = np.sort((question_keys(known, *shape) * width + gone)[gone > 0])
    above = np.searchsorted(answers, question + strict) - np.searchsorted(answers, question)
    return np.where(strict > 0, strict - above, 0)
