"""Import a judged test set: its triples become a pool, its judgements qrels and imported labels."""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from django.contrib.auth.models import User

from annotation.enums import Answer
from annotation.judging.label_import import import_judged
from core.database import held, named_once
from core.people.audit_log import record
from evaluation.labels.import_qrels import Judged, Triple, graded_note, keep_judgements, lost_in_trec, read_judgements
from evaluation.labels.pool_table import EvaluationError
from evaluation.measures.label_state import LabelState
from evaluation.models import Qrels
from pooling.enums import PoolingAct, PoolOrigin, PoolRule, PoolState
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool
from pooling.pools.build import check_name, store_seeds
from pooling.pools.files import MAX_DEPTH, SEED_TRIPLE, Problems, excluded, read_seed_file, report_of
from pooling.pools.kernels.gathering import PROVENANCE, Gathered
from pooling.pools.rows import write_rows

_ANSWERS = {LabelState.POSITIVE: Answer.YES, LabelState.NEGATIVE: Answer.NO}


def import_test_set(
    graph: Graph,
    raw: bytes,
    file_name: str,
    *,
    name: str,
    format: str = "tsv",
    threshold: int | None = None,
    seeds_file: Path | None = None,
    user: User | None = None,
) -> Qrels:
    """Make pool `name` from the triples of a judgement file, and qrels of the same name from its judgements.

    All or nothing; bad lines are refused with their numbers, as import_qrels does. Seeds are the test triples that
    the file calls positive, or those of `seeds_file`. Triples of train and valid, and test triples that are no
    seeds, are known facts: they are left out, and the pool's report names their lines. The judgements of pooled
    triples are imported labels too, so that the current labels of the pool are those of the file.
    """
    check_name(name)
    arrays = open_graph(graph)
    judged, sha256 = read_judgements(raw, file_name, format, arrays, threshold), hashlib.sha256(raw).hexdigest()
    if seeds_file is not None:
        seeds, source = read_seed_file(seeds_file, arrays), seeds_file.name
    else:
        seeds, source = _positive_tests(judged, arrays), f"the positive test triples of {file_name}"
    if not len(seeds):
        raise EvaluationError(
            f"{file_name} calls no test triple of graph {graph.name} positive, so that there is no seed to ask "
            "about: give a seed file. Nothing was imported."
        )
    pooled, report = _pooled(judged, seeds, arrays, file_name)
    if not pooled:
        words = f"{file_name} judges nothing but known facts and seeds: there is nothing to pool"
        raise EvaluationError(f"{words}. Nothing was imported.")
    with named_once(lambda: check_name(name)):
        held(graph)
        pool = Pool.objects.create(
            graph=graph,
            name=name,
            origin=PoolOrigin.IMPORTED,
            rule=PoolRule.UNKNOWN,
            state=PoolState.READY,
            seed_source=source[:200],
            depth=max(judged[triple].depth or 1 for triple in pooled),
            report=report,
        )
        store_seeds(pool, seeds)
        _write_triples(pool, pooled, judged)
        record(user, PoolingAct.POOL_IMPORTED, pool=pool, about=name)
        notes = graded_note(threshold)
        if format == "trec":
            notes += lost_in_trec(judged, "triples")  # which were filtered is not in the file
        qrels = keep_judgements(pool, name, judged, file_name, sha256, user, notes)
        answers = {t: (_ANSWERS[judged[t].state], judged[t].line) for t in pooled if judged[t].state in _ANSWERS}
        import_judged(pool, answers, file_name, sha256)
    return qrels


def _positive_tests(judged: dict[Triple, Judged], graph: GraphArrays) -> np.ndarray:
    """Return the test triples that the file calls positive, int32[n, 3], in the order of the test set."""
    positive = {triple for triple, of in judged.items() if of.state == LabelState.POSITIVE}
    found = [triple for triple in map(tuple, graph.test.tolist()) if triple in positive]
    return np.array(found, dtype=np.int32).reshape(-1, 3)


def _pooled(
    judged: dict[Triple, Judged], seeds: np.ndarray, graph: GraphArrays, file_name: str
) -> tuple[list[Triple], list[dict[str, object]]]:
    """Return the triples to pool, in the order of the file, and the report of those that are left out."""
    never = excluded(seeds, graph)
    left_out: dict[str, Problems] = defaultdict(Problems)
    for triple, of in judged.items():
        if never.get(triple, SEED_TRIPLE) != SEED_TRIPLE:
            h, r, t = triple
            text = f"{file_name}:{of.line}: {graph.entities[h]} {graph.relations[r]} {graph.entities[t]}"
            left_out[never[triple]].add(text)
    return [triple for triple in judged if triple not in never], report_of(left_out)


def _write_triples(pool: Pool, pooled: Sequence[Triple], judged: dict[Triple, Judged]) -> None:
    """Store pooled triples without provenance, with the filter that the file names."""
    depth = np.array([min(judged[triple].depth or 1, MAX_DEPTH) for triple in pooled], dtype=np.int64)
    reason = np.array([judged[triple].reason for triple in pooled], dtype=object)
    triples, no_starts = np.array(pooled, dtype=np.int32).reshape(-1, 3), np.zeros(len(pooled) + 1, dtype=np.int64)
    gathered = Gathered(triples, depth, np.zeros(0, dtype=PROVENANCE), no_starts)
    write_rows(pool, gathered, reason, np.arange(len(pooled)))
