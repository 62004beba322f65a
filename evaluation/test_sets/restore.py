"""Import an exported test set into this site: its graph, pool, labels, runs and frozen qrels, all of it or nothing."""

import hashlib
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.enums import JudgementOrigin, Verdict
from annotation.judging.label_file import SkippedLine, read_label_file
from annotation.models import ImportedLabel, Judgement
from core.database import held, named_once
from core.files.artifacts import artifact_path, sha256_of
from core.people.audit_log import record
from evaluation.enums import EvaluationAct, QrelsOrigin
from evaluation.labels.frozen import SETTLED, facts, frozen_table
from evaluation.labels.pool_table import EvaluationError
from evaluation.labels.qrels import write_qrels
from evaluation.measures.label_state import LabelState
from evaluation.models import Qrels, Terms
from evaluation.test_sets.description import NAME, Described, read_description
from evaluation.test_sets.restored_runs import restore_runs
from evaluation.test_sets.restored_tables import Judgements, read_gathered, read_judgement_table
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

SUMS = "CHECKSUMS.sha256"
MOST_BYTES = 50 << 30  # of an archive, unpacked
_ADVICE = "Copy or export it again. Nothing was imported."
_SPLITS = {"train.tsv": "train.tsv", "valid.tsv": "valid.tsv", "test.tsv": "original_test.tsv"}
_NEEDED = (*_SPLITS.values(), "judgements.tsv", "pool.tsv", "labels.jsonl")
_VERDICTS = {LabelState.POSITIVE: Verdict.POSITIVE, LabelState.NEGATIVE: Verdict.NEGATIVE}
_JUDGED = ("agreed", "adjudicated", "imported", "undecided")  # how a triple with a judgement was settled


def restore_test_set(path: Path, *, name: str = "", graph_name: str = "", user: User | None = None) -> Qrels:
    """Take back a folder or zip file that export_test_set wrote; return its qrels, frozen under the name they had.

    The pool is called `name`, the graph `graph_name`, each as it was called unless given; a graph of that name with
    the same triples is used. Labels of people become imported labels under their pseudonyms, systems imported systems
    with the ranks that the test set has. EvaluationError, GraphError or PoolError say what is wrong; nothing is left.
    """
    made: list[Path] = []
    try:
        with _opened(path) as folder:
            _check_sums(folder)
            told = read_description(folder)
            if "positives only" in told.left_out:
                raise EvaluationError(
                    f"{path.name} holds positives only, so that its pool cannot be made again: take a whole export, or "
                    "import its judgements.tsv to a graph. Nothing was imported."
                )
            pool_name = name or told.name
            check_name(pool_name)
            with named_once(lambda: check_name(pool_name)):
                return _restore(folder, told, pool_name, graph_name or told.graph, user, made)
    except BaseException:
        for place in made:
            shutil.rmtree(place, ignore_errors=True) if place.is_dir() else place.unlink(missing_ok=True)
        raise


@contextmanager
def _opened(path: Path) -> Iterator[Path]:
    """Give the folder with test_set.json: the one named, the only one in it, or that of a zip file, unpacked."""
    if path.is_dir():
        yield _top(path)
        return
    if not zipfile.is_zipfile(path):
        what = "is neither a folder nor a zip file" if path.exists() else "does not exist"
        raise EvaluationError(f"{path.name} {what}: give what export_test_set wrote. Nothing was imported.")
    with tempfile.TemporaryDirectory() as scratch:
        try:
            with zipfile.ZipFile(path) as packed:
                if sum(one.file_size for one in packed.infolist()) > MOST_BYTES:
                    raise EvaluationError(f"{path.name} is too large when unpacked. Nothing was imported.")
                packed.extractall(scratch)
        except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError) as error:
            raise EvaluationError(f"{path.name} cannot be unpacked: {error}. {_ADVICE}") from error
        yield _top(Path(scratch))


def _top(folder: Path) -> Path:
    inside = [one for one in folder.iterdir() if one.is_dir()]
    return inside[0] if not (folder / NAME).exists() and len(inside) == 1 else folder


def _check_sums(folder: Path) -> None:
    """Raise EvaluationError that names the files which are missing or are not those that were written."""
    path = folder / SUMS
    if not path.exists():
        raise EvaluationError(f"{folder.name} has no {SUMS}: give what export_test_set wrote. Nothing was imported.")
    told = [line.partition("  ") for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    names = {name for _, _, name in told}
    wrong = [f"{name} is missing" for name in _NEEDED if name not in names]
    for sha256, _, name in told:
        file = folder / name
        if not file.resolve().is_relative_to(folder.resolve()) or not file.is_file():
            wrong.append(f"{name} is missing")
        elif sha256_of(file) != sha256:
            wrong.append(f"{name} is not the file that was written (SHA-256 differs)")
    if wrong:
        raise EvaluationError(several(wrong, _ADVICE))


def _restore(folder: Path, told: Described, name: str, graph_name: str, user: User | None, made: list[Path]) -> Qrels:
    """Write rows and files; `made` gets the files as they are written. The caller holds the transaction."""
    graph = _graph(folder, graph_name, user, made)
    held(graph)
    arrays = open_graph(graph)
    judged = read_judgement_table(folder / "judgements.tsv", arrays)
    pool = _pool(folder, told, name, graph, judged, arrays)
    record(user, PoolingAct.POOL_IMPORTED, pool=pool, about=name)
    _labels(folder / "labels.jsonl", pool, judged, arrays)
    systems = restore_runs(folder, told, pool, judged.triples, user, made)
    pool.systems.set([system for system in systems if system.name in pool.contributors])
    frozen = facts(pool, judged.triples, judged.state)._replace(settled=judged.settled, about=told.pool)
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
    made.append(artifact_path(qrels.artifact))
    Qrels.objects.filter(pk=qrels.pk).update(created_at=told.created_at)  # topics are in the words of that time
    qrels.created_at = told.created_at
    Terms.objects.bulk_create(Terms(qrels=qrels, created_by=user, **of) for of in told.terms)
    sha256 = sha256_of(folder / SUMS)
    record(user, EvaluationAct.QRELS_IMPORTED, pool=pool, about=told.qrels, triples=len(judged.state), sha256=sha256)
    return qrels


def _graph(folder: Path, name: str, user: User | None, made: list[Path]) -> Graph:
    """Import the graph of a test set, or return the one of that name if it has the same triples."""
    with tempfile.TemporaryDirectory() as scratch:
        beside = {f"{stem}.tsv": f"{stem}.tsv" for stem in SIDE_TABLES if (folder / f"{stem}.tsv").exists()}
        for target, source in {**_SPLITS, **beside}.items():
            (Path(scratch) / target).symlink_to((folder / source).resolve())
        source_data = read_tsv(scratch)
    there = Graph.objects.filter(name=name).first()
    if there is None:
        graph = import_graph(name, source_data, options={"test_set": folder.name[:200]}, created_by=user)
        made.append(artifact_path(graph.artifact))
        return graph
    ours, theirs = open_graph(there), check_source(source_data, "keep").arrays
    same = ours.entities == theirs.entities and ours.relations == theirs.relations
    if not same or any(not np.array_equal(getattr(ours, of), getattr(theirs, of)) for of in ("train", "valid", "test")):
        raise EvaluationError(
            f"There is another graph {name} here, with other triples: give the test set's graph another name with "
            "--graph. Nothing was imported."
        )
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
        raise EvaluationError(f"pool.tsv and judgements.tsv hold other triples. {_ADVICE}")
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
        raise EvaluationError(several(wrong, _ADVICE))
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    ImportedLabel.objects.bulk_create(
        (
            ImportedLabel(
                triple_id=ids[line.triple],
                answer=line.answer,
                annotator=line.annotator,
                source_url=line.source_url,
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
    now = timezone.now()
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
