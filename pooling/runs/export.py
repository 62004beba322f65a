"""Write a run as a TREC file for import_run, trec_eval, pytrec_eval and ir_measures."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Run
from pooling.questions.kernel import questions_from_keys
from pooling.runs.files import RunError, TopK, question_ids, read_ranks, read_returned, read_topk
from pooling.runs.trec_write import run_pieces, trec_word
from pooling.scoring.merged_lists import merge
from pooling.scoring.rank_rows import find

QUESTIONS = 2_000  # lists that are merged at once


def whole_run(run: Run) -> Iterator[bytes]:
    """Yield the lines of every question with candidates, ranked without answers of train and valid; score = -rank.

    Each list goes as far as the run knows every position, and contains test answers. Equal scores are in the strict
    order, so ties are not exported.
    """
    graph = open_graph(run.system.graph)
    held = read_returned(run) if run.system.is_imported else read_ranks(run)
    topk = read_topk(run, keep=False)
    returned = held.ranks[0] > 0
    question, entity = np.divmod(held.keys[returned], graph.num_entities)
    keys = np.union1d(question, topk.keys)
    ids = question_ids(questions_from_keys(keys, graph.num_entities, graph.num_relations), graph)
    known = Known(keys, find(keys, question), entity)
    return list_pieces(run, known, held.ranks[0, returned], topk, ids, words_of(graph))


class Known(NamedTuple):
    """Hold the ranked entities of n questions beside their candidates.

    keys int64[n], sorted; entity int[m]; question int[m], ascending: index into `keys`.
    """

    keys: np.ndarray
    question: np.ndarray
    entity: np.ndarray


def list_pieces(
    run: Run, known: Known, position: np.ndarray, topk: TopK, ids: Sequence[str], words: pa.Array
) -> Iterator[bytes]:
    """Yield the lines of these questions, from candidates and the `position` int[m] of known entities (0: missing).

    ids: of the questions; words: from words_of.
    """
    for first in range(0, len(ids), QUESTIONS):
        keys = known.keys[first : first + QUESTIONS]
        rows = slice(*np.searchsorted(known.question, [first, first + len(keys)]))
        merged = merge(known.question[rows] - first, known.entity[rows], position[rows], topk.of(keys), len(words))
        yield from run_pieces(ids[first : first + QUESTIONS], merged, words, run.system.name)


def words_of(graph: GraphArrays) -> pa.Array:
    """Return every entity as a word of a TREC file."""
    return pa.array([trec_word(key) for key in graph.entities], pa.string())


def get_run(graph: Graph, name: str) -> Run:
    """Find the run of a system by name; RunError names the runs of the graph."""
    runs = Run.objects.select_related("system__graph").filter(system__graph=graph)
    found = runs.filter(system__name=name).first()
    if found is None:
        known = ", ".join(runs.order_by("system_id").values_list("system__name", flat=True)) or "none yet"
        raise RunError(f"Graph {graph.name} has no run of a system {name[:80]!r}. Runs: {known}.")
    return found
