"""Write a run for import_run, trec_eval, pytrec_eval and ir_measures: as a TREC file, or as Parquet."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.files.artifacts import writing
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Run
from pooling.questions.kernel import questions_from_keys
from pooling.runs.files import (
    Candidates,
    RunError,
    newer_than,
    question_ids,
    read_candidates,
    read_ranks,
    read_returned,
    returned_keys,
)
from pooling.runs.kernel import places
from pooling.runs.trec_write import run_pieces, trec_word
from pooling.scoring.merged_lists import Merged, merge
from pooling.scoring.rank_rows import find

QUESTIONS = 2_000  # lists that are merged at once
PIECE = 1 << 20  # bytes of a Parquet file that are sent at once
PARQUET_TYPE = "application/vnd.apache.parquet"
COLUMNS = pa.schema({"question": pa.string(), "entity": pa.string(), "rank": pa.int32(), "score": pa.float64()})


def whole_run(run: Run) -> Iterator[bytes]:
    """Yield the lines of every question with candidates, ranked without answers of train and valid; score = -rank.

    Each list goes as far as the run knows every position, and contains test answers. Equal scores are in the strict
    order, so ties are not exported.
    """
    whole = _whole(run)
    return list_pieces(run, whole.known, whole.position, whole.topk, whole.ids, words_of(open_graph(run.system.graph)))


def write_parquet(run: Run, path: Path) -> None:
    """Write what whole_run has as Parquet: question (id), entity (key), rank, score = -rank."""
    whole, graph = _whole(run), open_graph(run.system.graph)
    keys = pa.array(graph.entities, pa.string())
    with writing(path) as aside, pq.ParquetWriter(aside, COLUMNS, compression="zstd") as file:
        for ids, merged in _merged(whole.known, whole.position, whole.topk, whole.ids, len(keys)):
            counts = np.diff(merged.indptr)
            rank = (places(counts) + 1).astype(np.int32)
            question = pa.array(ids, pa.string()).take(pa.array(np.repeat(np.arange(len(ids)), counts)))
            columns = [question, keys.take(pa.array(merged.entity)), pa.array(rank), pa.array(-rank.astype(np.float64))]
            file.write_table(pa.table(columns, schema=COLUMNS))


def parquet_pieces(run: Run) -> Iterator[bytes]:
    """Return the bytes of the run as Parquet, written before the first is asked for."""
    folder = tempfile.TemporaryDirectory(prefix="triplepool-run-")
    path = Path(folder.name) / "run.parquet"
    try:
        write_parquet(run, path)
    except BaseException:
        folder.cleanup()
        raise
    return _pieces(path, folder)


def _pieces(path: Path, folder: tempfile.TemporaryDirectory[str]) -> Iterator[bytes]:
    with folder, path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


class Whole(NamedTuple):
    """Hold a run as list_pieces takes it: the known entities, their positions, candidates, ids of the questions."""

    known: "Known"
    position: np.ndarray
    topk: Candidates
    ids: list[str]


def _whole(run: Run) -> Whole:
    """Read a run of one moment: begin anew if another took its place while its files were read."""
    while True:
        whole = _read_whole(run)
        if (newer := newer_than(run)) is None:
            return whole
        run = newer


def _read_whole(run: Run) -> Whole:
    graph = open_graph(run.system.graph)
    came_alone = run.system.is_a_file and returned_keys(run) is not None  # not with a test set
    held = read_returned(run) if came_alone else read_ranks(run)
    topk = read_candidates(run)
    returned = held.ranks[0] > 0
    question, entity = np.divmod(held.keys[returned], graph.num_entities)
    keys = np.union1d(question, topk.keys)
    ids = question_ids(questions_from_keys(keys, graph.num_entities, graph.num_relations), graph)
    return Whole(Known(keys, find(keys, question), entity), held.ranks[0, returned], topk, ids)


class Known(NamedTuple):
    """Hold the ranked entities of n questions beside their candidates.

    keys int64[n], sorted; entity int[m]; question int[m], ascending: index into `keys`.
    """

    keys: np.ndarray
    question: np.ndarray
    entity: np.ndarray


def list_pieces(
    run: Run, known: Known, position: np.ndarray, topk: Candidates, ids: Sequence[str], words: pa.Array
) -> Iterator[bytes]:
    """Yield the lines of these questions, from candidates and the `position` int[m] of known entities (0: missing).

    ids: of the questions; words: from words_of.
    """
    for part, merged in _merged(known, position, topk, ids, len(words)):
        yield from run_pieces(part, merged, [words], run.system.name)


def _merged(
    known: Known, position: np.ndarray, topk: Candidates, ids: Sequence[str], num_entities: int
) -> Iterator[tuple[Sequence[str], Merged]]:
    """Yield some questions at a time, by id, and their merged lists."""
    for first in range(0, len(ids), QUESTIONS):
        keys = known.keys[first : first + QUESTIONS]
        rows = slice(*np.searchsorted(known.question, [first, first + len(keys)]))
        merged = merge(known.question[rows] - first, known.entity[rows], position[rows], topk.of(keys), num_entities)
        yield ids[first : first + QUESTIONS], merged


def words_of(graph: GraphArrays) -> pa.Array:
    """Return every entity as a word of a TREC file."""
    return pa.array([trec_word(key) for key in graph.entities], pa.string())


def get_run(graph: Graph, name: str, *, private: bool = False) -> Run:
    """Find the run of a system by name, with `private` also one that is private; RunError names the runs."""
    runs = (Run.every if private else Run.objects).select_related("system__graph").filter(system__graph=graph)
    found = runs.filter(system__name=name).first()
    if found is None:
        known = ", ".join(runs.order_by("system_id").values_list("system__name", flat=True)) or "none yet"
        raise RunError(f"Graph {graph.name} has no run of a system {name[:80]!r}. Runs: {known}.")
    return found
