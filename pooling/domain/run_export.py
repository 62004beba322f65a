"""A run as a TREC file that import_run, trec_eval, pytrec_eval and ir_measures read."""

from collections.abc import Iterator

import numpy as np

from pooling.domain.graph import open_graph
from pooling.domain.run_files import RankRows, RunError, TopK, read_ranks, read_returned, read_topk
from pooling.domain.trec import merge_candidates, run_lines
from pooling.domain.trec_read import id_of
from pooling.kernels.graph import GraphArrays
from pooling.models import Graph, Run


def whole_run(run: Run) -> Iterator[str]:
    """Lines of every question with candidates: positions among what train and valid do not know, score = -rank.

    Each list goes as far as the run knows every position; test answers stand in it. Equal scores are in the strict
    order, so that ties do not come back.
    """
    held = read_returned(run) if run.system.is_imported else read_ranks(run)
    return _lines(run, open_graph(run.system.graph), held, read_topk(run))


def _lines(run: Run, graph: GraphArrays, held: RankRows, topk: TopK) -> Iterator[str]:
    question, entity = np.divmod(held.keys, graph.num_entities)
    every = np.union1d(question[held.ranks[0] > 0], topk.keys)
    start, stop = (np.searchsorted(question, every, side=side) for side in ("left", "right"))
    at = {key: row for row, key in enumerate(topk.keys.tolist())}
    for key, first, last in zip(every.tolist(), start.tolist(), stop.tolist(), strict=True):
        strict = held.ranks[0, first:last].tolist()
        exact = {e: p for e, p in zip(entity[first:last].tolist(), strict, strict=True) if p > 0}
        candidates = topk.entity[at[key]].tolist() if key in at else []
        yield from run_lines(id_of(key, graph), merge_candidates(exact, candidates), graph, run.system.name)


def get_run(graph: Graph, name: str) -> Run:
    """RunError that names the runs that there are."""
    runs = Run.objects.select_related("system__graph").filter(system__graph=graph)
    found = runs.filter(system__name=name).first()
    if found is None:
        known = ", ".join(runs.order_by("system_id").values_list("system__name", flat=True)) or "none yet"
        raise RunError(f"Graph {graph.name} has no run of a system {name[:80]!r}. Runs: {known}.")
    return found
