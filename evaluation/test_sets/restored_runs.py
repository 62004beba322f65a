"""Make imported systems and their runs from the ranks and lists of an exported test set."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from django.contrib.auth.models import User

from core.files.artifacts import sha256_of
from core.files.lines import ON_SERVER, lines_of
from core.files.reason import reason
from core.people.audit_log import record
from evaluation.labels.pool_table import EvaluationError
from evaluation.test_sets.description import Described
from pooling.enums import PoolingAct, SystemState
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Pool, Run, System
from pooling.models.system import IMPORTED
from pooling.questions.kernel import distinct, questions_of
from pooling.runs.asked import ASKED, asked_table
from pooling.runs.files import RETURNED, candidates_table, parse_question_id, ranks_table
from pooling.runs.imports import NOT_KNOWN
from pooling.runs.kernel import places
from pooling.runs.score import MOST_CANDIDATES, run_folder, write_run
from pooling.runs.trec_read import RunFile, Topics, plain_int, read_run_file
from pooling.scoring.rank_rows import find, question_keys, row_keys, rows_of
from pooling.training.train import check_name

OTHER_NAME = (
    "Give its graph another name: “Name of the graph” on the page, --graph NAME in the command, graph in the API. "
    "Nothing was imported."
)
_ADVICE = "Export the test set again. Nothing was imported."


def restore_runs(
    folder: Path, told: Described, pool: Pool, triples: np.ndarray, user: User | None, made: list[str]
) -> list[System]:
    """Make a system for each run of a test set; `made` gets the folders of their files.

    triples int32[n, 3]: seeds and pooled ones. The caller holds the transaction.
    """
    names = [str(of["name"]) for of in told.systems]
    if taken := System.every.filter(graph=pool.graph, name__in=names).order_by("name").values_list("name", flat=True):
        raise EvaluationError(
            f"Graph {pool.graph.name} already has systems {', '.join(taken[:10])}, and a graph has one run of each "
            f"name. So the runs of this test set need a graph of their own. {OTHER_NAME}"
        )
    arrays = open_graph(pool.graph)
    asked = np.concatenate([triples, arrays.test])
    topics = Topics(question_keys(questions_of(asked)[0], *arrays.shape), f"the topics of pool {pool.name}")
    return [_restore(folder, of, pool, arrays, topics, user, made) for of in told.systems]


def _restore(
    folder: Path,
    told: dict[str, object],
    pool: Pool,
    arrays: GraphArrays,
    topics: Topics,
    user: User | None,
    made: list[str],
) -> System:
    name = str(told["name"])
    check_name(pool.graph, name)
    lists, ranks = folder / f"trec/runs/{name}.txt.gz", folder / f"ranks/{name}.tsv.gz"
    if missing := [f"{path.parent.name}/{path.name}" for path in (lists, ranks) if not path.is_file()]:
        raise EvaluationError(f"{' and '.join(missing)} of system {name} are missing. {_ADVICE}")
    read = read_run_file(lists, lists.name, arrays, topics)
    question, entity, score = _unknown_facts(read, arrays)
    top, depth = _candidates(question, entity, score, arrays)
    rows, is_whole = _rank_rows(ranks, arrays)
    settings: dict[str, Any] = {
        "family": told.get("family") or NOT_KNOWN,
        "kind": told.get("kind", ""),
        "seed": told.get("seed", 0),
        "file": lists.name,
        "sha256": sha256_of(lists),
        "lines": len(read.line),
        "topics": pool.name,
        "longest": int(np.unique(read.question, return_counts=True)[1].max(initial=0)),
    }
    system = System(
        graph=pool.graph, name=name, kind=IMPORTED, state=SystemState.TRAINED, artifact="", settings=settings
    )
    tables = {"topk.parquet": top, "ranks.parquet": _ranks_table(rows, arrays)}
    if not is_whole:
        tables[RETURNED] = _returned(rows, question, entity, arrays)
    if not is_whole or len(np.unique(rows[:, 0])) < len(topics.keys):
        tables[ASKED] = asked_table(np.unique(rows[:, 0]), arrays)
    with run_folder(system) as relative:
        made.append(relative)
        fields = write_run(relative, system, None, tables, depth, 0.0)
        system.save()
        Run.objects.create(system=system, **fields)
    record(user, PoolingAct.RUN_IMPORTED, about=str(system), **settings)
    return system


def _unknown_facts(read: RunFile, arrays: GraphArrays) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return question, entity and score of what answers no test triple, by question, best first."""
    order = np.lexsort((-read.score, read.question))
    test = distinct(row_keys(rows_of(arrays.test), *arrays.shape))
    order = order[find(test, read.question[order] * arrays.num_entities + read.entity[order]) < 0]
    return read.question[order], read.entity[order], read.score[order]


def _candidates(
    question: np.ndarray, entity: np.ndarray, score: np.ndarray, arrays: GraphArrays
) -> tuple[pa.Table, int]:
    """Return the candidates to store, of ordered ones, and the most of a question."""
    kept = places(np.unique(question, return_counts=True)[1]) < MOST_CANDIDATES
    keys, counts = np.unique(question[kept], return_counts=True)
    unknown = np.zeros(int(kept.sum()), dtype=np.int32)  # of places in the full list
    return candidates_table(keys, counts, entity[kept], score[kept], unknown, arrays), int(counts.max(initial=0))


def _ranks_table(rows: np.ndarray, arrays: GraphArrays) -> pa.Table:
    """Return rows int64[n, 5] (question, entity, strict, optimistic, pessimistic), by question, as a file of a run."""
    keys, counts = np.unique(rows[:, 0], return_counts=True)
    return ranks_table(keys, counts, rows[:, 1], rows[:, 2:].T, arrays)


def _returned(rows: np.ndarray, question: np.ndarray, entity: np.ndarray, arrays: GraphArrays) -> pa.Table:
    """Return all that an outside run is known to have returned: its ranked rows, and candidates between them.

    The candidates of a question, best first, have the places that no row has; ties among them are not known.
    """
    ranked = rows[rows[:, 2] > 0]
    new = find(np.sort(rows[:, 0] * arrays.num_entities + rows[:, 1]), question * arrays.num_entities + entity) < 0
    question, entity = question[new], entity[new]
    filled = []
    for key in np.unique(question).tolist():
        mine = entity[slice(*np.searchsorted(question, [key, key + 1]))]
        taken = ranked[slice(*np.searchsorted(ranked[:, 0], [key, key + 1])), 2]
        free = np.setdiff1d(np.arange(1, len(mine) + len(taken) + 1), taken)[: len(mine)]
        filled.append(np.stack([np.full(len(mine), key), mine, free, free, free], axis=1))
    every = np.concatenate([ranked, *filled]).astype(np.int64)
    return _ranks_table(every[np.lexsort((every[:, 1], every[:, 0]))], arrays)


def _rank_rows(path: Path, arrays: GraphArrays) -> tuple[np.ndarray, bool]:
    """Read a file of `ranks/`: int64[n, 5] question, entity, strict, optimistic and pessimistic rank, by question.

    Also return whether the system returned every candidate.
    """
    rows, is_whole = [], True
    for row in _lines(path, arrays):
        rows.append(row[:5])
        is_whole &= row[5] == row[6]
    found = np.array(rows, dtype=np.int64).reshape(-1, 5)
    return found[np.lexsort((found[:, 1], found[:, 0]))], is_whole


def _lines(path: Path, arrays: GraphArrays) -> Iterator[tuple[int, ...]]:
    """Yield question key, entity, three ranks, candidates and how many the system returned."""
    keys: dict[str, int] = {}
    number = 1
    try:
        for number, line in lines_of(path, ON_SERVER):
            if number == 1:
                continue
            question, answer, *numbers = line.split("\t")
            strict, first, last, candidates, returned = map(plain_int, numbers)
            if question not in keys:
                keys[question] = parse_question_id(question, arrays)
            yield keys[question], arrays.entity_index[answer], strict, first, last, candidates, returned
    except (KeyError, ValueError) as error:
        raise EvaluationError(f"{path.name}:{number}: cannot be read ({reason(error)}). {_ADVICE}") from error
