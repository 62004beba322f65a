"""Write a test set to a folder, and in a job to one zip file, the same bytes each time (docs/formats.md)."""

import shutil
import tempfile
import uuid
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from core.database import held
from core.files.artifacts import ArtifactError, artifact_path, sha256_of, writing
from core.files.file_names import file_stem
from core.files.storage import exists, local, publish
from core.jobs.fencing import fenced
from core.jobs.lifecycle import live_jobs, start_job
from core.jobs.progress import Progress
from core.models import Job
from evaluation.enums import EvaluationJob
from evaluation.labels.pool_table import EvaluationError, evaluated
from evaluation.labels.qrels import pooled_state, read_frozen, read_qrels
from evaluation.labels.terms import terms_of
from evaluation.models import Export, Qrels
from evaluation.test_sets.card import card
from evaluation.test_sets.citation import bibtex, citation_lines, datacite
from evaluation.test_sets.croissant import croissant
from evaluation.test_sets.files import EVERYTHING, Content, ExportOptions, exported_files
from evaluation.test_sets.labels import label_columns, label_figures
from evaluation.test_sets.ro_crate import ro_crate
from evaluation.test_sets.tables import positives
from evaluation.test_sets.trec import trec_files
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from pooling.runs.lacking import beyond_scoring
from pooling.runs.trec_write import pieces, write_pieces

Files = Iterable[tuple[str, Iterable[bytes]]]
Describe = Callable[[Path, Mapping[str, str]], Iterable[str]]  # from a folder and its checksums to lines


def export_test_set(
    qrels: Qrels, folder: Path, options: ExportOptions = EVERYTHING, terms_version: int | None = None
) -> list[Path]:
    """Write the test set of frozen qrels to a new or empty folder; the same bytes each time.

    train, valid and test.tsv make a graph folder again: test holds the positives. `with_runs` False leaves out what
    systems returned and all that is measured of it; `positives_only` every line about a triple that is not positive;
    `strict` leaves assumed negatives unjudged (-1) in the TREC qrels. EvaluationError where a run is gone.
    terms_version: of the terms on the card, the last one if none is named.
    """
    check_folder(folder)
    whole = read_frozen(qrels)
    frozen = whole.keep(positives(whole)) if options.positives_only else whole
    systems = _systems(qrels) if options.with_runs else []
    labels = label_columns(whole)
    graph = open_graph(qrels.pool.graph)
    terms = terms_of(qrels, terms_version)
    content = Content(qrels, graph, whole, frozen, systems, labels, label_figures(whole, labels), options, terms)
    describe: dict[str, Describe] = {
        "README.md": lambda aside, sums: card(content, aside, list(sums)),
        "CITATION.cff": lambda aside, sums: citation_lines(qrels, terms),
        "CITATION.bib": lambda aside, sums: [bibtex(qrels, terms)],
        "datacite.json": lambda aside, sums: [datacite(qrels, terms)],
        "croissant.json": lambda aside, sums: [croissant(qrels, terms, aside, sums)],
        "ro-crate-metadata.json": lambda aside, sums: [ro_crate(qrels, terms, aside, sums)],
    }
    return _write(folder, exported_files(content), describe)


def _systems(qrels: Qrels) -> list[str]:
    """Those that had complete runs when the qrels were frozen, so that a system of later changes no bytes."""
    if qrels.systems == []:
        return []
    now = evaluated(qrels.pool)
    if qrels.systems is None:
        return now
    if gone := [name for name in qrels.systems if name not in now]:
        score = f"run score_runs {qrels.pool.name}, " if len(beyond_scoring(qrels.pool, gone)) < len(gone) else ""
        raise EvaluationError(
            f"The runs of {', '.join(gone)} are not complete any more, or the systems are archived: {score}take the "
            "systems back, or export without runs. Nothing was written."
        )
    return list(qrels.systems)


def export_trec(pool: Pool, folder: Path, qrels: Qrels | None = None, strict: bool = False) -> list[Path]:
    """Write topics, pool, qrels and runs in TREC form to a new or empty folder; the labels of now, or of `qrels`."""
    check_folder(folder)
    triples, state = read_qrels(qrels) if qrels else pooled_state(pool)
    return _write(folder, trec_files(pool, evaluated(pool), triples, state, qrels, strict).items())


def _write(folder: Path, files: Files, describe: Mapping[str, Describe] = MappingProxyType({})) -> list[Path]:
    """Write the files aside, then those that describe them, in order, then checksums, and rename the folder."""
    check_folder(folder)
    aside = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        aside.mkdir(parents=True)
        sums: dict[str, str] = {}
        for name, content in files:
            (aside / name).parent.mkdir(parents=True, exist_ok=True)
            write_pieces(aside / name, content)
            sums[name] = sha256_of(aside / name)
        for name, lines_of in describe.items():
            write_pieces(aside / name, pieces(lines_of(aside, sums)))
            sums[name] = sha256_of(aside / name)
        lines = [f"{sha256}  {name}" for name, sha256 in sorted(sums.items())]
        write_pieces(aside / "CHECKSUMS.sha256", pieces(lines))
        if folder.exists():
            folder.rmdir()
        aside.replace(folder)
    except OSError as error:
        words = f"{folder} could not be written: {error.strerror or error}. Nothing was left there."
        raise ArtifactError(words) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def check_folder(folder: Path) -> None:
    """Raise EvaluationError unless a test set can be written there."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise EvaluationError(f"{folder} exists and is not an empty folder: name a new one; nothing was written.")


EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that zip knows: the file names no time of writing


def request_export(qrels: Qrels, options: ExportOptions, user: User | None) -> tuple[Export, Job | None]:
    """Return the export of qrels with these options, and the job that writes it; None where it is written already."""
    with transaction.atomic():
        export = export_of(qrels, options, user)  # holds the pool: nobody else starts a job meanwhile
        asked: dict[str, Any] = {"pool": qrels.pool, "params": {"qrels": qrels.name, "export": export.pk}}
        if not is_there(export):
            if live := live_jobs(Q(kind=EvaluationJob.EXPORT, **asked)):
                return export, live[0]
            export.refresh_from_db()  # a job that ended since the first look has written it
        job = start_job(EvaluationJob.EXPORT, user=user, **asked) if not is_there(export) else None
        return export, job


def export_of(qrels: Qrels, options: ExportOptions, user: User | None = None) -> Export:
    """Return the export of qrels with these options and the present terms; it may not be written yet."""
    with transaction.atomic():
        held(qrels.pool)
        asked = {"terms_version": terms_of(qrels).version, **options._asdict()}
        return Export.objects.get_or_create(qrels=qrels, **asked, defaults={"created_by": user})[0]


def is_there(export: Export) -> bool:
    """Tell whether the zip file can be downloaded."""
    return export.is_written and exists(export.artifact)


def zip_path(export: Export) -> Path | None:
    """Return the path of the zip file on this machine, None while there is none."""
    path = local(export.artifact) if export.is_written else None
    return path if path and path.exists() else None


def zip_name(export: Export) -> str:
    """Return the file name of a download."""
    words = [word.replace(" ", "-") for word in options_of(export).left_out]
    version = [f"terms-{export.terms_version}"] if export.terms_version > 1 else []
    return "-".join([file_stem(export.qrels.pool.name, export.qrels.name), *words, *version]) + ".zip"


def options_of(export: Export) -> ExportOptions:
    return ExportOptions(*(getattr(export, name) for name in ExportOptions._fields))


def write_zip(export: Export) -> Path:
    """Write the test set aside and pack it; an existing zip file stays as it is."""
    if (there := zip_path(export)) is not None:
        return there
    relative = f"exports/{export.pk}-{uuid.uuid4().hex[:12]}.zip"
    path = artifact_path(relative)
    name = file_stem(export.qrels.pool.name, export.qrels.name)
    with tempfile.TemporaryDirectory() as scratch, writing(path) as aside:
        folder = Path(scratch) / name
        files = export_test_set(export.qrels, folder, options_of(export), export.terms_version)
        with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as packed:
            for file in files:
                _add(packed, file, f"{name}/{file.relative_to(folder).as_posix()}")
    export.artifact, export.sha256, export.num_bytes = relative, sha256_of(path), path.stat().st_size
    publish(relative, file_name=zip_name(export))
    with fenced():
        export.save(update_fields=["artifact", "sha256", "num_bytes"])
    return path


def _add(packed: zipfile.ZipFile, file: Path, name: str) -> None:
    """Add a file in pieces, without its time."""
    info = zipfile.ZipInfo(name, EPOCH)
    info.external_attr = 0o644 << 16  # whoever unpacks it can share it
    info.compress_type = zipfile.ZIP_STORED if file.suffix == ".gz" else zipfile.ZIP_DEFLATED
    with file.open("rb") as source, packed.open(info, "w", force_zip64=True) as target:
        shutil.copyfileobj(source, target, 1 << 20)


def run_export(job: Job, progress: Progress) -> None:
    """Write the zip file of an export as a job."""
    export = Export.objects.select_related("qrels__pool__graph").filter(pk=job.params["export"]).first()
    if export is None:
        raise EvaluationError("This export is no longer there: ask for it again on the page of the test set.")
    progress.report("writing the test set", 0, 1)
    write_zip(export)
    progress.report("writing the test set", 1, 1)
