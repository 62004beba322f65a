"""Write the test set of frozen qrels as one zip file in a job, the same bytes each time."""

import shutil
import tempfile
import zipfile
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction

from core.database.row_locks import held
from core.files.artifacts import artifact_path, sha256_of, writing
from core.jobs.lifecycle import start_job
from core.jobs.progress import Progress
from core.models import Job
from evaluation.enums import EvaluationJob
from evaluation.labels.pool_table import EvaluationError
from evaluation.models import Export, Qrels
from evaluation.test_sets.content import ExportOptions
from evaluation.test_sets.export import export_test_set

EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that zip knows: the file names no time of writing


def request_export(qrels: Qrels, options: ExportOptions, user: User | None) -> tuple[Export, Job | None]:
    """Return the export of qrels with these options, and the job that writes it; None where it is written already."""
    with transaction.atomic():
        held(qrels.pool)
        export, _ = Export.objects.get_or_create(qrels=qrels, **options._asdict(), defaults={"created_by": user})
    if zip_path(export) is not None:
        return export, None
    params = {"qrels": qrels.name, "export": export.pk}
    return export, start_job(EvaluationJob.EXPORT, pool=qrels.pool, params=params, user=user)


def zip_path(export: Export) -> Path | None:
    """Return the path of the zip file, None while there is none."""
    path = artifact_path(export.artifact) if export.is_written else None
    return path if path and path.exists() else None


def zip_name(export: Export) -> str:
    """Return the file name of a download."""
    words = [word.replace(" ", "-") for word in options_of(export).left_out]
    return "-".join([export.qrels.pool.name, export.qrels.name, *words]) + ".zip"


def options_of(export: Export) -> ExportOptions:
    return ExportOptions(*(getattr(export, name) for name in ExportOptions._fields))


def write_zip(export: Export) -> Path:
    """Write the test set aside and pack it; an existing zip file stays as it is."""
    if (there := zip_path(export)) is not None:
        return there
    relative = f"exports/{export.pk}.zip"
    path = artifact_path(relative)
    name = f"{export.qrels.pool.name}-{export.qrels.name}"
    with tempfile.TemporaryDirectory() as scratch, writing(path) as aside:
        folder = Path(scratch) / name
        files = export_test_set(export.qrels, folder, options_of(export))
        with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as packed:
            for file in files:
                _add(packed, file, f"{name}/{file.relative_to(folder).as_posix()}")
    export.artifact, export.sha256, export.num_bytes = relative, sha256_of(path), path.stat().st_size
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
