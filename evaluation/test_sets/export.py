"""Write a test set to a folder, the same bytes each time (docs/formats.md)."""

import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from core.files.artifacts import ArtifactError, sha256_of
from evaluation.labels.pool_table import EvaluationError, evaluated
from evaluation.labels.qrels import read_frozen
from evaluation.models import Qrels
from evaluation.test_sets.card import CardNumbers, card
from evaluation.test_sets.content import EVERYTHING, Content, ExportOptions
from evaluation.test_sets.croissant import croissant
from evaluation.test_sets.files import exported_files
from evaluation.test_sets.labels import agreement_of, days_of, label_columns
from evaluation.test_sets.tables import positives
from evaluation.test_sets.trec import trec_files
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from pooling.questions.kernel import distinct_questions
from pooling.runs.trec_write import pieces, write_pieces

Files = Iterable[tuple[str, Iterable[bytes]]]


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
    labels = label_columns(whole)
    graph = open_graph(qrels.pool.graph)
    content = Content(qrels, graph, whole, frozen, systems, labels, agreement_of(labels), options)
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
    """Write the files aside, with their checksums, then rename the folder. `describe` makes their croissant.json."""
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


def _files(content: Content) -> Iterator[tuple[str, Iterable[bytes]]]:
    names: list[str] = []
    for name, lines in exported_files(content):
        names.append(name)
        yield name, lines
    yield "README.md", pieces(card(content.qrels, content.whole, _numbers(content), content.options.left_out, names))


def _numbers(content: Content) -> CardNumbers:
    """Return the numbers of all judgements, also where the export leaves some out."""
    whole, measures = content.whole, content.measures
    agreement, doubles = content.agreement
    systems: dict[str, list[float]] = {}
    if measures:
        table, sums = measures
        means = np.array([of.mean() for of in sums.values()])
        systems = {name: means[:, table.systems.index(name)].tolist() for name in content.systems}
    return CardNumbers(
        len(distinct_questions(whole.triples).side),
        len(distinct_questions(whole.triples[positives(whole)]).side),
        agreement,
        doubles,
        len(np.unique(content.all_labels.person)),
        days_of(whole),
        list(measures[1]) if measures else [],
        systems,
    )
