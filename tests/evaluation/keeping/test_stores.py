"""Backup, restore and deletion with artifacts in a store; a site moves from its folder to a store and back."""

# ruff: noqa: F811 - a fixture of another file

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from core.files import bucket
from core.files.artifacts import artifact_path
from core.files.bucket import StoreError
from core.files.storage import local
from core.models import Job
from evaluation.keeping.backup import BackupError, write_backup
from evaluation.keeping.removal import preview, remove
from evaluation.keeping.restore import restore
from evaluation.keeping.tables import owners_of_artifacts
from evaluation.models import Export, Qrels
from evaluation.test_sets.export import is_there, request_export, write_zip
from evaluation.test_sets.files import ExportOptions
from pooling.models import Graph, Run, System
from tests import stores
from tests.annotation.factories import World
from tests.evaluation.keeping.test_backup import empty, files, full, rows, silent  # noqa: F401 - a fixture


def names() -> set[str]:
    return {name for model in owners_of_artifacts() for name in model._base_manager.values_list("artifact", flat=True)}


def artifacts() -> dict[str, bytes]:
    """The files of all rows as another machine reads them."""
    found = {}
    for path in (local(name) for name in names() - {""}):
        for file in path.rglob("*") if path.is_dir() else [path]:
            if file.is_file():
                found[file.relative_to(artifact_path("")).as_posix()] = file.read_bytes()
    return found


def move(kind: str, backup: Path, settings, tmp_path: Path, monkeypatch) -> None:
    """Restore a backup into an empty site with a store of this kind, then look at it from another machine."""
    empty()
    place = tmp_path / f"to-{kind}"
    place.mkdir()
    settings.ARTIFACT_ROOT = place / "artifacts"
    stores.use(kind, settings, place, monkeypatch)
    restore(backup, silent)
    if kind != "local":
        settings.ARTIFACT_ROOT = place / "another machine"
        settings.ARTIFACT_ROOT.mkdir()


def test_a_site_moves_from_its_folder_to_s3_to_a_shared_folder_and_back(full: World, settings, tmp_path, monkeypatch):
    write_zip(request_export(Qrels.objects.get(), ExportOptions(), None)[0])
    before, kept = rows(), artifacts()
    assert kept == files() and len(kept) > 10
    for number, kind in enumerate(("s3", "file", "local")):
        backup = tmp_path / f"{number}.tar"
        written = write_backup(backup, silent)
        assert (written.missing, written.damaged, written.files) == ({}, {}, len(kept))
        if kind != "s3":  # what is read from a store for a backup does not stay
            assert files() == {}
        move(kind, backup, settings, tmp_path, monkeypatch)
        assert rows() == before
        if kind == "local":
            assert files() == kept
        else:
            assert is_there(Export.objects.get()) and files() == {}
            assert artifacts() == kept
            shutil.rmtree(settings.ARTIFACT_ROOT)
            settings.ARTIFACT_ROOT.mkdir()


@pytest.mark.parametrize("kind", stores.KINDS[1:])
def test_what_the_store_has_lost_is_listed_and_a_store_that_is_away_ends_the_backup(
    full: World, kind: str, settings, tmp_path, monkeypatch
):
    write_backup(tmp_path / "a.tar", silent)
    move(kind, tmp_path / "a.tar", settings, tmp_path, monkeypatch)
    run = Run.objects.get()
    bucket.delete([key for key in stores.objects() if key.startswith(run.artifact) and key.endswith("ranks.parquet")])
    assert write_backup(tmp_path / "b.tar", silent).damaged == {run.artifact: f"run {run.pk}"}

    def away(*given):
        raise StoreError("away")

    monkeypatch.setattr(bucket, "pieces", away)
    with pytest.raises(StoreError):
        write_backup(tmp_path / "c.tar", silent)
    assert not (tmp_path / "c.tar").exists()


@pytest.mark.parametrize("kind", stores.KINDS[1:])
def test_a_restore_that_fails_leaves_nothing_in_the_store(full: World, kind: str, settings, tmp_path, monkeypatch):
    write_backup(tmp_path / "a.tar", silent)
    real, sent = bucket.put, []

    def refused(key, *given, **named):
        sent.append(key)
        if len(sent) == 12:
            raise StoreError("full")
        return real(key, *given, **named)

    monkeypatch.setattr(bucket, "put", refused)
    with pytest.raises(StoreError):
        move(kind, tmp_path / "a.tar", settings, tmp_path, monkeypatch)
    assert len(sent) >= 12 and stores.objects() == [] and not Graph.objects.exists()
    monkeypatch.setattr(bucket, "put", real)
    restore(tmp_path / "a.tar", silent)
    assert Graph.objects.exists() and stores.objects()


def test_a_restore_into_a_store_that_holds_something_is_refused(full: World, settings, tmp_path, monkeypatch):
    write_backup(tmp_path / "a.tar", silent)
    empty()
    stores.use("file", settings, tmp_path, monkeypatch)
    bucket.put("runs/1-a/manifest.json", b"{}")
    with pytest.raises(BackupError) as caught:
        restore(tmp_path / "a.tar", silent)
    assert str(caught.value) == (
        f"The store of ARTIFACT_STORE ({settings.ARTIFACT_STORE}) is not empty (runs/1-a/manifest.json). Restore into "
        "a new one: set ARTIFACT_STORE to another bucket or prefix."
    )


@pytest.mark.parametrize("kind", stores.KINDS[1:])
def test_what_is_removed_goes_from_the_store_too(
    full: World, kind: str, settings, tmp_path, monkeypatch, django_capture_on_commit_callbacks
):
    before = preview(Graph.objects.get(name="town"), with_labels=True)
    write_backup(tmp_path / "a.tar", silent)
    move(kind, tmp_path / "a.tar", settings, tmp_path, monkeypatch)
    Job.objects.all().delete()
    town = Graph.objects.get(name="town")
    shown = preview(town, with_labels=True)  # without fetching
    assert (shown.files, shown.bytes) == (before.files, before.bytes) and files() == {}
    gone = [town.artifact, System.objects.get().artifact, Run.objects.get().artifact, Qrels.objects.get().artifact]
    with django_capture_on_commit_callbacks(execute=True):
        remove(town, None, with_labels=True)
    left = stores.objects()
    assert left and not [key for key in left if key.startswith(tuple(gone))]


@pytest.mark.parametrize("kind", stores.KINDS[1:])
def test_a_transaction_that_fails_leaves_no_artifact(full: World, kind: str, settings, tmp_path, monkeypatch):
    """Of a run: its files were published before its row, which another job has changed."""
    from pooling.graphs.opening import open_graph
    from pooling.runs import score

    stores.use(kind, settings, tmp_path, monkeypatch)
    monkeypatch.setattr(score, "point_at", lambda *given: 1 / 0)
    system = System.objects.get()
    with pytest.raises(ZeroDivisionError):
        facts = open_graph(system.graph).test
        score.score_system(system, seeds=facts, triples=facts[:, [2, 1, 0]])
    assert stores.objects() == []
