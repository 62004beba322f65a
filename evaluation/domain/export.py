"""The test set as people take it away: triples, judgements, TREC files, numbers, checksums."""

import hashlib
import shutil
import uuid
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaluation.domain import figures
from evaluation.domain.qrels import STATE_NAMES, read_qrels, state_counts
from evaluation.domain.table import EvaluationError
from evaluation.domain.trec import evaluated, is_among, pool_run, qrels_lines, topics, trec_files
from evaluation.kernels.state import LabelState
from evaluation.models import Qrels
from pooling.artifacts import ArtifactError
from pooling.domain.graph import open_graph
from pooling.domain.trec import write_lines
from pooling.kernels.graph import GraphArrays
from pooling.kernels.questions import questions_of
from pooling.models import Pool


class ExportOptions(NamedTuple):
    """What a test set holds; each field is a column of Export."""

    with_runs: bool = True
    with_evidence: bool = True
    positives_only: bool = False
    strict: bool = False


EVERYTHING = ExportOptions()


def export_test_set(qrels: Qrels, folder: Path, options: ExportOptions = EVERYTHING) -> list[Path]:
    """Write the test set of frozen qrels to a new or empty folder; the same bytes each time.

    train, valid and test.tsv make a graph folder again: test holds the positives. `strict` leaves assumed negatives
    unjudged (-1) in the TREC qrels.
    """
    triples, state = read_qrels(qrels)
    return _write(folder, _files(qrels, open_graph(qrels.pool.graph), triples, state, options.strict))


def export_trec(pool: Pool, folder: Path, qrels: Qrels | None = None, strict: bool = False) -> list[Path]:
    """Write topics, pool, qrels and runs in TREC form to a new or empty folder; the labels of now, or of `qrels`."""
    check_folder(folder)
    return _write(folder, trec_files(pool, qrels, strict).items())


def _write(folder: Path, files: Iterable[tuple[str, Iterable[str]]]) -> list[Path]:
    """Write the files aside, with their checksums, then rename the folder."""
    check_folder(folder)
    aside = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        aside.mkdir(parents=True)
        for name, lines in files:
            write_lines(aside / name, lines)
        sums = [f"{_sha256(path)}  {path.name}" for path in sorted(aside.iterdir())]
        (aside / "SHA256SUMS").write_text("\n".join(sums) + "\n")
        if folder.exists():
            folder.rmdir()
        aside.replace(folder)
    except OSError as error:
        raise ArtifactError(
            f"{folder} could not be written: {error.strerror or error}. Nothing was left there."
        ) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return sorted(folder.iterdir())


def check_folder(folder: Path) -> None:
    """Raise EvaluationError unless a test set can be written there."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise EvaluationError(
            f"{folder} exists and is not an empty folder: name a new one; nothing was written."
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files(
    qrels: Qrels, graph: GraphArrays, triples: np.ndarray, state: np.ndarray, strict: bool
) -> Iterator[tuple[str, Iterable[str]]]:
    pool = qrels.pool
    positive = triples[state == LabelState.POSITIVE]
    questions, _, _ = questions_of(triples)
    yield "train.tsv", _triples(graph.train, graph)
    yield "valid.tsv", _triples(graph.valid, graph)
    yield "test.tsv", _triples(_ordered(positive), graph)
    yield "entity_labels.tsv", (f"{k}\t{v}" for k, v in zip(graph.entities, graph.labels, strict=True) if v)
    yield "judgements.tsv", _judgements(qrels, graph, triples, state)
    yield "topics.tsv", topics(pool, questions, qrels.created_at)
    yield "qrels.txt", qrels_lines(graph, triples, state, strict)
    yield "known_test.tsv", _triples(_ordered(graph.test[~is_among(graph.test, triples, graph)]), graph)
    for system in evaluated(pool):
        yield f"run-{system}.txt", pool_run(pool, system, triples)
    yield "README.md", _readme(qrels, len(questions.side), state, strict)


def _ordered(triples: np.ndarray) -> np.ndarray:
    return triples[np.lexsort((triples[:, 2], triples[:, 0], triples[:, 1]))]


def _triples(triples: np.ndarray, graph: GraphArrays) -> Iterator[str]:
    for h, r, t in triples.tolist():
        yield f"{graph.entities[h]}\t{graph.relations[r]}\t{graph.entities[t]}"


def _judgements(qrels: Qrels, graph: GraphArrays, triples: np.ndarray, state: np.ndarray) -> Iterator[str]:
    """head, relation, tail, state, and why: seed, filter, people or import."""
    pooled = {
        row[:3]: (row[3], row[4])
        for row in qrels.pool.triples.values_list("head", "relation", "tail", "depth", "reason")
    }
    yield "head\trelation\ttail\tstate\tdepth\tfilter"
    for (h, r, t), value in zip(triples.tolist(), state.tolist(), strict=True):
        depth, reason = pooled.get((h, r, t), (0, ""))
        keys = f"{graph.entities[h]}\t{graph.relations[r]}\t{graph.entities[t]}"
        yield f"{keys}\t{STATE_NAMES[LabelState(value)]}\t{depth}\t{reason}"


def _readme(qrels: Qrels, num_questions: int, state: np.ndarray, strict: bool) -> Iterator[str]:
    pool = qrels.pool
    counts, frozen = state_counts(state), qrels.created_at.replace(microsecond=0)
    yield f"# Test set {pool.name}, qrels {qrels.name}"
    yield ""
    yield f"Graph {pool.graph.name}; pool of depth {pool.depth} from {', '.join(pool.contributors) or 'elsewhere'}; "
    yield f"seeds: {pool.seed_source}. Filters: {', '.join(pool.filters) or 'none'}. Qrels SHA-256 {qrels.sha256}."
    yield ""
    if any(datetime.fromisoformat(entry["when"]) >= frozen for entry in pool.growth):
        yield "The pool has grown since: depth, systems and source of the seeds, here and in judgements.tsv, are those"
        yield "of now. Triples, states, questions, known facts and lists are those of the qrels."
        yield ""
    yield "| triples | number |"
    yield "|---|---|"
    for name, label in (
        ("positive", "positive (seed triples included)"), ("negative", "negative (people or an import)"),
        ("assumed_negative", "assumed negative (filtered, no human)"), ("unjudged", "pooled and unjudged"),
    ):  # fmt: skip
        yield f"| {label} | {counts[name]:,} |"
    yield f"| all | {len(state):,} |"
    yield ""
    yield f"{num_questions:,} questions. Assumed negatives are {'-1 (unjudged)' if strict else '0'} in qrels.txt."
    yield ""
    yield from _metrics_table(pool, qrels)
    yield ""
    yield "| file | what |"
    yield "|---|---|"
    yield "| train.tsv, valid.tsv, test.tsv | head, relation, tail; test.tsv holds the positives |"
    yield "| known_test.tsv | test triples that were not sampled: known facts, in no list and not judged |"
    yield "| judgements.tsv | every seed and pooled triple with its state, smallest depth and filter |"
    yield "| topics.tsv | question id, side, entity, relation, text |"
    yield "| qrels.txt | TREC: question id, 0, entity, 1 positive / 0 negative / -1 unjudged |"
    yield (
        "| run-*.txt | TREC: question id, Q0, entity, rank, -rank, system; train, valid and known_test answers "
        "removed |"
    )
    yield "| SHA256SUMS | checksums of all of these |"


def _metrics_table(pool: Pool, qrels: Qrels) -> Iterator[str]:
    if not evaluated(pool):
        yield "No system of this graph has a complete run for this pool, so there are no measures."
        return
    content = figures.metrics(pool, f"qrels:{qrels.name}")
    names = list(content["n"])
    yield "| system | " + " | ".join(names) + " |"
    yield "|---" * (len(names) + 1) + "|"
    for system, row in content["systems"].items():
        cells = ["undefined" if row[name] is None else f"{row[name]:.4f}" for name in names]
        yield f"| {system} | " + " | ".join(cells) + " |"
