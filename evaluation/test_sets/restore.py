"""Import an exported test set into this site: its graph, pool, labels, runs and frozen qrels, all of it or nothing."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile

from annotation.enums import JudgementOrigin, Verdict
from annotation.judging.label_file import SkippedLine, read_label_file
from annotation.models import ImportedLabel, Judgement
from core import clock
from core.database import held, named_once
from core.files.artifacts import sha256_of
from core.files.storage import delete
from core.people.audit_log import record
from evaluation.enums import EvaluationAct, QrelsOrigin
from evaluation.labels.frozen import SETTLED, facts, frozen_table
from evaluation.labels.pool_table import EvaluationError
from evaluation.labels.qrels import check_new, write_qrels
from evaluation.measures.label_state import LabelState
from evaluation.models import Qrels, Terms
from evaluation.test_sets.archive import ADVICE, MOST_BYTES, MOST_SENT_BYTES, SUMS, check_sums, opened
from evaluation.test_sets.description import Described, read_description
from evaluation.test_sets.restored_runs import OTHER_NAME, restore_runs
from evaluation.test_sets.restored_tables import Judgements, read_gathered, read_judgement_table, read_words
from pooling.enums import PoolingAct, PoolOrigin, PoolState
from pooling.graphs.checks import check_source
from pooling.graphs.imports import import_graph
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.graphs.tsv import SIDE_TABLES, read_tsv
from pooling.models import Graph, Pool
from pooling.pools.build import check_name, store_seeds
from pooling.pools.files import several
from pooling.pools.rows import write_rows

_SPLITS = {"train.tsv": "train.tsv", "valid.tsv": "valid.tsv", "test.tsv": "original_test.tsv"}
_NEEDED = (*_SPLITS.values(), "judgements.tsv", "pool.tsv", "labels.jsonl")
_VERDICTS = {LabelState.POSITIVE: Verdict.POSITIVE, LabelState.NEGATIVE: Verdict.NEGATIVE}
_JUDGED = ("agreed", "adjudicated", "imported", "undecided")  # how a triple with a judgement was settled


def restore_sent(file: UploadedFile[Any], *, name: str, graph_name: str, user: User) -> Qrels:
    """Take back a zip file that a page or a script sends, as restore_test_set does, within bounds that fit a site."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "archive.zip"  # the name that it is sent with is never used as a path
        with path.open("wb") as kept:
            kept.writelines(file.chunks())
        called = str(file.name)
        return restore_test_set(path, called=called, name=name, graph_name=graph_name, user=user, most=MOST_SENT_BYTES)


def restore_test_set(
    path: Path,
    *,
    called: str = "",
    name: str = "",
    graph_name: str = "",
    user: User | None = None,
    most: int = MOST_BYTES,
) -> Qrels:
    """Take back a folder or zip file that export_test_set wrote; return its qrels, frozen under the name they had.

    The pool is called `name`, the graph `graph_name`, each as it was called unless given; a graph of that name with
    the same triples is used. Labels of people become imported labels under their pseudonyms, systems imported systems
    with the ranks that the test set has. EvaluationError, GraphError or PoolError say what is wrong; nothing is left.
    called: what messages call the file; most: bytes that a zip file may have when it is unpacked.
    """
    made: list[str] = []
    called = called or path.name
    try:
        with opened(path, called, most) as folder:
            check_sums(folder, called, _NEEDED)
            told = read_description(folder, called)
            if "positives only" in told.left_out:
                raise EvaluationError(
                    f"{called} holds positives only, so that its pool cannot be made again: take a whole export, or "
                    "import its judgements.tsv to a graph. Nothing was imported."
                )
            pool_name = name or told.name
            check_name(pool_name)
            with named_once(lambda: check_name(pool_name)):
                return _restore(folder, told, pool_name, graph_name or told.graph, user, made)
    except BaseException:
        delete(*made)
        raise


def _restore(folder: Path, told: Described, name: str, graph_name: str, user: User | None, made: list[str]) -> Qrels:
    """Write rows and files; `made` gets the files as they are written. The caller holds the transaction."""
    graph = _graph(folder, graph_name, user, made)
    held(graph)
    arrays = open_graph(graph)
    judged = read_judgement_table(folder / "judgements.tsv", arrays)
    pool = _pool(folder, told, name, graph, judged, arrays)
    check_new(pool, told.qrels)
    record(user, PoolingAct.POOL_IMPORTED, pool=pool, about=name)
    _labels(folder / "labels.jsonl", pool, judged, arrays)
    systems = restore_runs(folder, told, pool, judged.triples, user, made)
    pool.systems.set([system for system in systems if system.name in pool.contributors])
    questions = folder / "questions.tsv"
    words = read_words(questions, judged, arrays) if questions.is_file() else None
    frozen = facts(pool, judged.triples, judged.state)._replace(settled=judged.settled, about=told.pool, words=words)
    qrels = write_qrels(
        pool,
        told.qrels,
        judged.triples,
        judged.state,
        origin=QrelsOrigin.FROZEN,
        user=user,
        known=frozen_table(frozen),
        said={"systems": [of.name for of in systems]},
    )
    made.append(qrels.artifact)
    Qrels.objects.filter(pk=qrels.pk).update(created_at=told.created_at)  # topics are in the words of that time
    qrels.created_at = told.created_at
    Terms.objects.bulk_create(Terms(qrels=qrels, created_by=user, **of) for of in told.terms)
    sha256 = sha256_of(folder / SUMS)
    record(user, EvaluationAct.QRELS_IMPORTED, pool=pool, about=told.qrels, triples=len(judged.state), sha256=sha256)
    return qrels


def _graph(folder: Path, name: str, user: User | None, made: list[str]) -> Graph:
    """Import the graph of a test set, or return the one of that name if it has the same triples."""
    with tempfile.TemporaryDirectory() as scratch:
        beside = {f"{stem}.tsv": f"{stem}.tsv" for stem in SIDE_TABLES if (folder / f"{stem}.tsv").exists()}
        for target, source in {**_SPLITS, **beside}.items():
            (Path(scratch) / target).symlink_to((folder / source).resolve())
        source_data = read_tsv(scratch)
    there = Graph.objects.filter(name=name).first()
    if there is None:
        graph = import_graph(name, source_data, options={"test_set": folder.name[:200]}, created_by=user)
        made.append(graph.artifact)
        return graph
    ours, theirs = open_graph(there), check_source(source_data, "keep").arrays
    same = ours.entities == theirs.entities and ours.relations == theirs.relations
    if not same or any(not np.array_equal(getattr(ours, of), getattr(theirs, of)) for of in ("train", "valid", "test")):
        raise EvaluationError(f"This site has a graph {name} with other triples than the test set. {OTHER_NAME}")
    return there


def _pool(folder: Path, told: Described, name: str, graph: Graph, judged: Judgements, arrays: GraphArrays) -> Pool:
    pool = Pool.objects.create(
        graph=graph,
        name=name,
        origin=PoolOrigin.IMPORTED,
        rule=told.pool["rule"],
        state=PoolState.READY,
        depth=told.pool["depth"],
        seed_source=told.pool["seed_source"][:200],
        contributors=told.pool["contributors"],
        filters=told.pool["filters"],
    )
    seeds = judged.triples[judged.is_seed]
    store_seeds(pool, seeds)
    gathered = read_gathered(folder / "pool.tsv", seeds, arrays, told.pool["contributors"])
    if not np.array_equal(gathered.triples, judged.triples[~judged.is_seed]):
        raise EvaluationError(f"pool.tsv and judgements.tsv hold other triples. {ADVICE}")
    write_rows(pool, gathered, judged.reasons[~judged.is_seed], np.arange(len(gathered.triples)))
    return pool


def _labels(path: Path, pool: Pool, judged: Judgements, arrays: GraphArrays) -> None:
    """Add the single labels as imported ones, and the judgements as they were, not as the labels' majority."""
    ids = {row[1:]: row[0] for row in pool.triples.values_list("pk", "head", "relation", "tail")}
    read = list(read_label_file(path, arrays)) if path.stat().st_size else []
    wrong = [f"{path.name}:{line.line}: {line.reason}" for line in read if isinstance(line, SkippedLine)]
    lines = [line for line in read if not isinstance(line, SkippedLine)]
    wrong += [f"{path.name}:{line.line}: its triple is not in the pool" for line in lines if line.triple not in ids]
    if wrong:
        raise EvaluationError(several(wrong, ADVICE))
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    ImportedLabel.objects.bulk_create(
        (
            ImportedLabel(
                triple_id=ids[line.triple],
                answer=line.answer,
                annotator=line.annotator,
                source_url=line.source_url,
                passage=line.passage,
                side=line.side,
                question_version=line.question_version,
                cause=line.cause,
                labelled_at=line.labelled_at,
                file_name=path.name,
                file_sha256=sha256,
                line=line.line,
            )
            for line in lines
        ),
        batch_size=2000,
    )
    settled = np.isin(judged.settled, [SETTLED.index(name) for name in _JUDGED])
    now = clock.now()
    Judgement.objects.bulk_create(
        (
            Judgement(
                pool=pool,
                triple_id=ids[tuple(judged.triples[i].tolist())],
                verdict=_VERDICTS.get(LabelState(int(judged.state[i])), Verdict.UNDECIDED),
                origin=JudgementOrigin.IMPORT,
                decided_at=now,
            )
            for i in np.flatnonzero(settled & ~judged.is_seed).tolist()
        ),
        batch_size=2000,
    )
