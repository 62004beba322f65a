"""The test set of frozen qrels as one zip file, made by a job; the same bytes each time."""

import tempfile
import zipfile
from pathlib import Path

from evaluation.domain.export import export_test_set
from evaluation.domain.qrels import get_qrels
from evaluation.models import Qrels
from pooling.artifacts import artifact_path, writing
from pooling.domain.job import Progress, handles
from pooling.enums import JobKind
from pooling.models import Job

EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that zip knows: an archive holds no clock


def _path(qrels: Qrels) -> Path:
    return artifact_path(f"exports/{qrels.pk}.zip")


def archive_of(qrels: Qrels) -> Path | None:
    """The archive's path, None while there is none."""
    path = _path(qrels)
    return path if path.exists() else None


def write_archive(qrels: Qrels) -> Path:
    """Write the test set aside and pack it; an archive that is there stays as it is."""
    path = _path(qrels)
    if path.exists():
        return path
    with tempfile.TemporaryDirectory() as scratch, writing(path) as aside:
        name = f"{qrels.pool.name}-{qrels.name}"
        files = export_test_set(qrels, Path(scratch) / name)
        with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in files:
                archive.writestr(
                    zipfile.ZipInfo(f"{name}/{file.name}", EPOCH), file.read_bytes(), zipfile.ZIP_DEFLATED
                )
    return path


@handles(JobKind.EXPORT)
def run_export(job: Job, progress: Progress) -> None:
    assert job.pool is not None
    progress.report("writing the test set", 0, 1)
    write_archive(get_qrels(job.pool, job.params["qrels"]))
    progress.report("writing the test set", 1, 1)
