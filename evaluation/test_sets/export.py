"""The test set as people take it away: one writer of a folder, the same bytes each time (docs/formats.md)."""

import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from annotation.quality.kernel import Agreement
from core.files.artifacts import ArtifactError, sha256_of
from evaluation.labels.frozen import Frozen
from evaluation.labels.pool_table import EvaluationError, PoolTable, evaluated
from evaluation.labels.qrels import read_frozen
from evaluation.models import Qrels
from evaluation.test_sets.card import Numbers, card
from evaluation.test_sets.croissant import croissant
from evaluation.test_sets.labels import Asked, agreement_of, asked, days_of, evidence_of, label_lines, question_lines
from evaluation.test_sets.tables import (
    Sums,
    judgement_lines,
    measured,
    ordered,
    pool_lines,
    positives,
    triple_lines,
    value_lines,
)
from evaluation.test_sets.trec import is_among, pool_runs, qrels_lines, topics, trec_files
from pooling.graphs.imports import open_graph
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.models import Pool
from pooling.questions.kernel import distinct_questions
from pooling.runs.trec_write import pieces, write_pieces

Files = Iterable[tuple[str, Iterable[bytes]]]


class ExportOptions(NamedTuple):
    """What a test set holds; each field is a column of Export."""

    with_runs: bool = True
    with_evidence: bool = True
    positives_only: bool = False
    strict: bool = False

    @property
    def left_out(self) -> list[str]:
        """What was asked to be left out or taken otherwise, in words."""
        words = {
            "without runs": not self.with_runs,
            "without evidence": not self.with_evidence,
            "positives only": self.positives_only,
            "strict": self.strict,
        }
        return [word for word, holds in words.items() if holds]


EVERYTHING = ExportOptions()


class _Content(NamedTuple):
    """What the files are written from. `whole`: all triples; `frozen`: those that the archive holds."""

    qrels: Qrels
    graph: GraphArrays
    whole: Frozen
    frozen: Frozen
    systems: list[str]
    labels: Asked  # of the whole
    agreed: tuple[Agreement, int]  # likewise; first of all, while little else stands in memory
    options: ExportOptions


def export_test_set(qrels: Qrels, folder: Path, options: ExportOptions = EVERYTHING) -> list[Path]:
    """Write the test set of frozen qrels to a new or empty folder; the same bytes each time.

    train, valid and test.tsv make a graph folder again: test holds the positives. `with_runs` False leaves out what
    systems returned and all that is measured of it; `positives_only` every line about a triple that is not positive;
    `strict` leaves assumed negatives unjudged (-1) in the TREC qrels. EvaluationError where a run is gone.
    """
    check_folder(folder)
    whole = read_frozen(qrels)
    frozen = whole.keep(positives(whole)) if options.positives_only else whole
    systems = _systems(qrels) if options.with_runs else []
    labels = asked(whole)
    graph = open_graph(qrels.pool.graph)
    content = _Content(qrels, graph, whole, frozen, systems, labels, agreement_of(labels), options)
    return _write(folder, _files(content), lambda aside, sums: croissant(qrels, aside, sums))


def _systems(qrels: Qrels) -> list[str]:
    """Those that had complete runs when the qrels were frozen, so that a system of later changes no bytes."""
    if qrels.systems == []:
        return []
    now = evaluated(qrels.pool)
    if qrels.systems is None:
        return now
    if gone := [name for name in qrels.systems if name not in now]:
        raise EvaluationError(
            f"The runs of {', '.join(gone)} are not complete any more, or the systems are archived: run score_runs "
            f"{qrels.pool.name}, take the systems back, or export without runs. Nothing was written."
        )
    return list(qrels.systems)


def export_trec(pool: Pool, folder: Path, qrels: Qrels | None = None, strict: bool = False) -> list[Path]:
    """Write topics, pool, qrels and runs in TREC form to a new or empty folder; the labels of now, or of `qrels`."""
    check_folder(folder)
    return _write(folder, trec_files(pool, qrels, strict).items())


def _write(folder: Path, files: Files, describe: Callable[[Path, Mapping[str, str]], str] | None = None) -> list[Path]:
    """Write the files aside, with their checksums, then rename the folder. `describe`: croissant.json of them."""
    check_folder(folder)
    aside = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        aside.mkdir(parents=True)
        sums: dict[str, str] = {}
        for name, content in files:
            (aside / name).parent.mkdir(exist_ok=True)
            write_pieces(aside / name, content)
            sums[name] = sha256_of(aside / name)
        if describe:
            write_pieces(aside / "croissant.json", pieces([describe(aside, sums)]))
            sums["croissant.json"] = sha256_of(aside / "croissant.json")
        lines = [f"{sha256}  {name}" for name, sha256 in sorted(sums.items())]
        write_pieces(aside / "CHECKSUMS.sha256", pieces(lines))
        if folder.exists():
            folder.rmdir()
        aside.replace(folder)
    except OSError as error:
        raise ArtifactError(
            f"{folder} could not be written: {error.strerror or error}. Nothing was left there."
        ) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def check_folder(folder: Path) -> None:
    """Raise EvaluationError unless a test set can be written there."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise EvaluationError(f"{folder} exists and is not an empty folder: name a new one; nothing was written.")


def _files(content: _Content) -> Iterator[tuple[str, Iterable[bytes]]]:
    names: list[str] = []
    for name, lines in _texts(content):
        names.append(name)
        yield name, pieces(lines)
    qrels, frozen = content.qrels, content.frozen
    for system, run in pool_runs(qrels.pool, content.systems, frozen.triples).items():
        names.append(f"runs/{system}.txt.gz")
        yield names[-1], run
    measures = measured(qrels) if content.systems else None
    if measures:
        names.append("per_question.tsv.gz")
        yield names[-1], pieces(value_lines(*measures, content.systems))
    numbers = _numbers(content, measures)
    yield "README.md", pieces(card(qrels, content.whole, numbers, content.options.left_out, names))


def _texts(content: _Content) -> Iterator[tuple[str, Iterable[str]]]:
    """Name and lines of the files that hold no runs."""
    qrels, graph, whole, frozen, _, labels, _, options = content
    if options.positives_only:
        labels = labels.keep(positives(whole))
    yield "train.tsv", triple_lines(graph.train, graph)
    yield "valid.tsv", triple_lines(graph.valid, graph)
    yield "test.tsv", triple_lines(ordered(frozen.triples[positives(frozen)]), graph)
    yield ("known_test.tsv", triple_lines(ordered(graph.test[~is_among(graph.test, whole.triples, graph)]), graph))
    yield "entity_labels.tsv", (f"{k}\t{v}" for k, v in zip(graph.entities, graph.labels, strict=True) if v)
    evidence = evidence_of(frozen) if options.with_evidence else None
    yield "judgements.tsv", judgement_lines(frozen, graph, evidence)
    yield "labels.jsonl", label_lines(qrels, frozen, graph, evidence=options.with_evidence)
    yield "questions.tsv", question_lines(labels, frozen, graph)
    yield "pool.tsv", pool_lines(frozen, graph)
    yield "topics.tsv", topics(qrels.pool, distinct_questions(frozen.triples), qrels.created_at)
    yield "qrels.txt", qrels_lines(graph, frozen.triples, frozen.state, options.strict)


def _numbers(content: _Content, measures: tuple[PoolTable, Sums] | None) -> Numbers:
    """Of the whole, whatever the archive leaves out."""
    whole, labels = content.whole, content.labels
    agreement, doubles = content.agreed
    systems: dict[str, list[float]] = {}
    if measures:
        table, sums = measures
        means = np.array([of.mean() for of in sums.values()])
        systems = {name: means[:, table.systems.index(name)].tolist() for name in content.systems}
    return Numbers(
        len(distinct_questions(whole.triples).side),
        len(distinct_questions(whole.triples[positives(whole)]).side),
        agreement,
        doubles,
        len(np.unique(labels.person)),
        days_of(whole),
        list(measures[1]) if measures else [],
        systems,
    )
