"""Keep which questions a run was asked: "not asked" is not the same as "not returned".

A trained system is asked every question. An imported run is asked those of its asked.parquet: the topics that it was
made for. A run imported before that file existed is taken to be asked what its file answers.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from core.files.lines import ON_SERVER, lines_of
from core.files.parquet import read_parquet
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Run
from pooling.questions.kernel import questions_from_keys
from pooling.runs.files import RETURNED, cached, checked, files_of, parse_question_id, question_ids, read_returned
from pooling.runs.trec_read import Topics, TrecError
from pooling.scoring.rank_rows import find

ASKED = "asked.parquet"
HALF = 0.5
HEADER = "question"  # the first word of a topics file as export_topics writes it


def asked_table(keys: np.ndarray, graph: GraphArrays) -> pa.Table:
    """Return the content of asked.parquet: the ids of the questions, sorted keys int64[n]."""
    ids = question_ids(questions_from_keys(keys, *graph.shape), graph)
    return pa.table({"question": pa.array(ids, pa.string())})


def read_asked(run: Run) -> np.ndarray | None:
    """Return the sorted keys int64[n] of the questions that a run was asked; None if that is every question."""
    return cached(run, "asked", _read) if run.system.is_imported else None


def _read(run: Run) -> np.ndarray | None:
    graph, files = open_graph(run.system.graph), files_of(run)
    if ASKED not in files:
        return None if RETURNED not in files else np.unique(read_returned(run).keys // graph.num_entities)
    ids = read_parquet(checked(run, ASKED))["question"].to_pylist()
    return np.sort(np.array([parse_question_id(text, graph) for text in ids], dtype=np.int64))


def was_asked(run: Run, keys: np.ndarray) -> np.ndarray:
    """Tell of each question, keys int64[n], whether the run was asked it; bool[n]."""
    asked = read_asked(run)
    return np.ones(len(keys), dtype=bool) if asked is None else find(asked, keys) >= 0


def supposed_asked(answered: np.ndarray, seeds: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """Return what a run was asked that was made for a pool, sorted keys int64[n], from what its file answers.

    seeds: keys of the seed questions, all of which it was asked. others: sorted keys of other groups of topics; the run
    was asked a group if it answers half of it, else no more of it than it answers.
    """
    groups = (
        [group for group in others if len(group) and (find(answered, group) >= 0).mean() >= HALF]
        if len(answered)
        else []
    )
    return np.unique(np.concatenate([answered, seeds, *groups]))


def read_topics(path: Path, graph: GraphArrays, topics: Topics) -> np.ndarray:
    """Return the sorted keys of the questions that a topics file names; TrecError names the first wrong line.

    LinesError names a line that is not text.

    A line's first column is a question id; other columns and a header are ignored.
    """
    keys = np.unique(np.fromiter(_keys_in(path, graph, topics), dtype=np.int64))
    if not len(keys):
        raise TrecError(f"{path.name} names no question: give a file of export_topics, or a question id a line.")
    return keys


def _keys_in(path: Path, graph: GraphArrays, topics: Topics) -> Iterator[int]:
    known = set(topics.keys.tolist())
    for number, line in lines_of(path, ON_SERVER):
        word = line.split("\t")[0].strip()
        if not word or (number == 1 and word == HEADER):
            continue
        try:
            key = parse_question_id(word, graph)
        except (KeyError, ValueError):
            key = -1
        if key not in known:
            raise TrecError(
                f"{path.name}:{number}: {word[:80]!r} is not among {topics.whose}. Give the topics file that the run "
                "was made from; nothing was imported."
            )
        yield key
