"""A run as a TREC file that import_run, trec_eval, pytrec_eval and ir_measures read."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from pooling.domain.graph import open_graph
from pooling.domain.run_files import (
    RankRows,
    RunError,
    TopK,
    question_ids,
    read_ranks,
    read_returned,
    read_topk,
)
from pooling.domain.trec import run_pieces, trec_word
from pooling.kernels.graph import GraphArrays
from pooling.kernels.merged import merge
from pooling.kernels.rows import questions_from_keys
from pooling.models import Graph, Run

QUESTIONS = 10_000  # whose lists are merged at once


def whole_run(run: Run) -> Iterator[bytes]:
    """Lines of every question with candidates: positions among what train and valid do not know, score = -rank.

    Each list goes as far as the run knows every position; test answers stand in it. Equal scores are in the strict
    order, so that ties do not come back.
    """
    held = read_returned(run) if run.system.is_imported else read_ranks(run)
    return _pieces(run, open_graph(run.system.graph), held, read_topk(run))


def _pieces(run: Run, graph: GraphArrays, held: RankRows, topk: TopK) -> Iterator[bytes]:
    words = pa.array([trec_word(key) for key in graph.entities], pa.string())
    returned = held.ranks[0] > 0
    question, entity = np.divmod(held.keys[returned], graph.num_entities)
    position = held.ranks[0, returned]
    every = np.union1d(question, topk.keys)
    for first in range(0, len(every), QUESTIONS):
        keys = every[first : first + QUESTIONS]
        rows = slice(*np.searchsorted(question, [keys[0], keys[-1] + 1]))
        merged = merge(
            np.searchsorted(keys, question[rows]), entity[rows], position[rows], topk.of(keys), len(words)
        )
        questions = questions_from_keys(keys, graph.num_entities, graph.num_relations)
        yield from run_pieces(question_ids(questions, graph), merged, words, run.system.name)


def get_run(graph: Graph, name: str) -> Run:
    """RunError that names the runs that there are."""
    runs = Run.objects.select_related("system__graph").filter(system__graph=graph)
    found = runs.filter(system__name=name).first()
    if found is None:
        known = ", ".join(runs.order_by("system_id").values_list("system__name", flat=True)) or "none yet"
        raise RunError(f"Graph {graph.name} has no run of a system {name[:80]!r}. Runs: {known}.")
    return found
