"""Files without a row go after a day, and never those of a row or of a job under way."""

from __future__ import annotations

import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.apps import apps
from django.utils import timezone

from core.enums import JobState
from core.files import bucket
from core.files.artifacts import artifact_path
from core.files.storage import publish
from core.jobs.registry import BEATS
from core.later import Later
from core.models import Job
from evaluation.keeping import sweep as module
from evaluation.keeping.sweep import sweep_now_and_then, sweep_orphans
from evaluation.labels.qrels import freeze_qrels
from evaluation.models import Export
from pooling.models import Pool, Run, System
from tests import stores
from tests.factories import make_job

TWO_DAYS = timedelta(days=2)


def make(name: str, age: timedelta = TWO_DAYS) -> Path:
    path = artifact_path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"?")
    when = (timezone.now() - age).timestamp()
    for one in (path, path.parent):
        os.utime(one, (when, when))
    return path


def swept() -> list[str]:
    return sorted(path.relative_to(artifact_path("")).as_posix() for path in sweep_orphans())


def files() -> set[str]:
    root = artifact_path("")
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def age_everything() -> None:
    when = (timezone.now() - TWO_DAYS).timestamp()
    for path in artifact_path("").rglob("*"):
        os.utime(path, (when, when))


def test_files_of_rows_stay_and_orphans_go(labelled: Pool):
    """A private run, and folders with something after the number of their system, are of rows too."""
    System.every.filter(name="transe").update(kind="imported", private=True)
    system = System.every.first()
    shutil.rmtree(artifact_path(system.artifact), ignore_errors=True)
    make("systems/77-abc/best.pt")
    System.every.filter(pk=system.pk).update(artifact="systems/77-abc")
    export = Export.objects.create(qrels=freeze_qrels(labelled, "v1"), artifact="exports/1.zip")
    make("exports/1.zip")
    age_everything()
    kept = files()
    orphans = {"runs/9-aaa/topk.parquet", "systems/99/best.pt", "systems/77-abc.2/best.pt", "exports/.2.zip.part"}
    orphans |= {"exports/9.zip", "studies/9/1.npz", "graphs/99/triples.npz", "qrels/9.parquet", ".fetching/0f/x"}
    for name in orphans:
        make(name)
    make("uploads/x/upload.json")  # others look after these
    assert swept() == [
        ".fetching/0f", "exports/.2.zip.part", "exports/9.zip", "graphs/99", "qrels/9.parquet", "runs/9-aaa",
        "studies/9", "systems/77-abc.2", "systems/99",
    ]  # fmt: skip
    assert files() == kept | {"uploads/x/upload.json"}
    assert swept() == [] and Export.objects.get() == export and Run.every.exists()


def test_a_file_beside_one_of_a_row_goes(labelled: Pool):
    Export.objects.create(qrels=freeze_qrels(labelled, "v1"), artifact="studies/5/1.npz")
    kept = make("studies/5/1.npz")
    make("studies/5/2.npz")
    assert swept() == ["studies/5/2.npz"] and kept.exists()


def test_what_is_younger_than_a_day_stays(db):
    make("runs/9-new/topk.parquet", timedelta(hours=23))
    make("runs/9-old/topk.parquet", timedelta(hours=25))
    young = make("runs/9-half/later/topk.parquet", timedelta(hours=1))  # in an old folder
    when = (timezone.now() - TWO_DAYS).timestamp()
    for folder in (young.parent, young.parent.parent):
        os.utime(folder, (when, when))
    assert swept() == ["runs/9-old"]


@pytest.mark.parametrize(("state", "gone"), [
    (JobState.RUNNING, []), (JobState.QUEUED, []), (JobState.DONE, ["runs/9-slow"]), (JobState.FAILED, ["runs/9-slow"]),
])  # fmt: skip
def test_what_a_long_job_may_still_be_writing_stays(db, state: str, gone: list[str]):
    job = make_job("train")
    Job.objects.filter(pk=job.pk).update(state=state, created_at=timezone.now() - timedelta(days=3))
    make("runs/9-slow/topk.parquet")
    make("runs/9-before/topk.parquet", timedelta(days=4))
    assert swept() == sorted(["runs/9-before", *gone])


def test_a_link_goes_and_what_it_leads_to_stays(db, tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x").write_text("?")
    artifact_path("runs").mkdir(parents=True)
    link = artifact_path("runs/9-link")
    link.symlink_to(tmp_path / "elsewhere")
    when = (timezone.now() - TWO_DAYS).timestamp()
    os.utime(link, (when, when), follow_symlinks=False)
    assert swept() == ["runs/9-link"]
    assert (tmp_path / "elsewhere" / "x").exists() and not link.is_symlink()


def test_a_worker_sweeps_once_an_hour(db, monkeypatch):
    assert Later("evaluation.keeping.sweep.sweep_now_and_then") in BEATS and apps.ready
    now, calls = [0.0], []
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(module, "_next", float("-inf"))
    monkeypatch.setattr(module, "sweep_orphans", lambda: calls.append(now[0]))
    for second in (0, 5, 3599, 3600, 3605, 7200):
        now[0] = float(second)
        sweep_now_and_then()
    assert calls == [0, 3600, 7200]


@pytest.mark.parametrize("kind", stores.KINDS[1:])
def test_orphans_of_the_store_go_too(labelled: Pool, kind: str, settings, tmp_path: Path, monkeypatch):
    stores.use(kind, settings, tmp_path, monkeypatch)
    for row in (labelled.graph, *System.every.all(), *Run.every.all()):
        publish(row.artifact)
    Export.objects.create(qrels=freeze_qrels(labelled, "v1"), artifact="studies/5/1.npz")
    make("studies/5/1.npz")
    publish("studies/5/1.npz")
    kept = stores.objects()
    for name in ("runs/9-aaa", "studies/5/2.npz", "graphs/9"):
        make(f"{name}/x" if name != "studies/5/2.npz" else name)
        publish(name)
    bucket.put("runs/8-half/0123/ranks.parquet", b"half")  # its process was killed
    young, old = set(stores.objects()) - set(kept), timezone.now() - TWO_DAYS
    assert swept() == ["graphs/9", "runs/9-aaa", "studies/5/2.npz"]  # of this machine, which are old
    assert set(stores.objects()) == young | set(kept)
    real = bucket.objects
    monkeypatch.setattr(bucket, "objects", lambda folder: (one._replace(changed_at=old) for one in real(folder)))
    swept()
    assert stores.objects() == kept and len(young) == 7


def test_a_worker_with_a_store_sweeps_in_another_process(migrated: Path, settings, tmp_path: Path, monkeypatch):
    """Its own process forks others, which would hang once it has used the store."""
    stores.use("file", settings, tmp_path, monkeypatch)
    make("runs/9-old/x")
    monkeypatch.setattr(module, "_next", float("-inf"))
    monkeypatch.setattr(bucket, "objects", lambda folder: pytest.fail("used here"))
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{shutil.copy(migrated, tmp_path / 'db.sqlite3')}")
    monkeypatch.setenv("ARTIFACT_ROOT", str(settings.ARTIFACT_ROOT))
    sweep_now_and_then()
    assert not artifact_path("runs/9-old").exists()
    make("runs/9-old/x")
    sweep_now_and_then()  # within six hours
    assert artifact_path("runs/9-old").exists()
