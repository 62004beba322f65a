"""Backup and restore: what comes back is what went in, and nothing else is ever written."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import shutil
import stat
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection

from annotation.models import Label
from core.files.artifacts import artifact_path
from evaluation.keeping import backup as backup_module
from evaluation.keeping.backup import MANIFEST, BackupError, write_backup
from evaluation.keeping.restore import read_manifest, restore
from evaluation.keeping.tables import Table, TableSum, tables
from evaluation.labels.qrels import freeze_qrels
from evaluation.models import Export, Qrels
from evaluation.test_sets.export import export_test_set, request_export, write_zip, zip_path
from evaluation.test_sets.files import ExportOptions
from pooling.models import Graph, Run, System
from tests.annotation.factories import World, label_item, make_graph, make_world
from tests.factories import make_job, make_person, make_pool, make_systems, make_town
from tests.postgres import own_database


def silent(stage: str, done: int, total: int) -> None: ...


def rows() -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, by primary key."""
    return {
        table.name: list(table.model._base_manager.order_by("pk").values_list(*table.columns)) for table in tables()
    }


def files() -> dict[str, bytes]:
    root = Path(settings.ARTIFACT_ROOT)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def empty() -> None:
    for table in tables():
        if not table.comes_with_migrations:
            table.model._base_manager.all()._raw_delete("default")
    shutil.rmtree(settings.ARTIFACT_ROOT)


@pytest.fixture
def full(db, tmp_path: Path) -> World:
    """A site with something of everything: graphs, systems, runs, a pool, people, labels, qrels, a job."""
    world = make_world(tmp_path / "graph")
    label_item(world, world.campaign.items.first(), ann="Y", ben="N")
    town = make_town(tmp_path / "town")
    make_systems(town, ["transe"])
    pool = make_pool(town)
    freeze_qrels(pool, "v1")
    make_job("train", graph=town, log="ü\u2028\x85\n", params={"a": [1.0, 0.5, None, "é"], "b": {"c": 1e-7}})
    return world


def test_a_round_trip_changes_no_row_and_no_file(full: World, tmp_path: Path):
    before, kept = rows(), files()
    assert sum(map(bool, before.values())) > 20 and len(kept) > 10
    target = tmp_path / "b.tar.zst"
    written = write_backup(target, silent)
    assert (written.rows, written.files) == (sum(map(len, before.values())), len(kept))
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    empty()
    restored = restore(target, silent)
    assert (restored.rows, restored.files) == (written.rows, written.files)
    connection.check_constraints()
    assert rows() == before
    assert files() == kept
    made = Graph.objects.create(
        name="next", source="tsv", num_entities=1, num_relations=1, num_train=1, num_valid=0, num_test=0
    )
    assert made.pk > max(row[0] for row in before["pooling.Graph"])
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.parametrize("ending", [".tar", ".tar.gz", ".tar.zst"])
def test_however_it_is_packed(db, tmp_path: Path, ending: str):
    make_graph(tmp_path / "graph")
    before, kept = rows(), files()
    write_backup(tmp_path / f"b{ending}", silent)
    empty()
    restore(tmp_path / f"b{ending}", silent)
    assert rows() == before and files() == kept
    start = {".tar": b"data", ".tar.gz": b"\x1f\x8b", ".tar.zst": b"\x28\xb5\x2f\xfd"}[ending]
    assert (tmp_path / f"b{ending}").read_bytes().startswith(start)


def test_files_that_no_row_names_are_left_out(full: World, tmp_path: Path):
    kept = files()
    for name in ("systems/999/best.pt", "graphs/.half.part/triples.npz", "runs/.x.1.part"):
        path = artifact_path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"?")
    write_backup(tmp_path / "b.tar", silent)
    empty()
    restore(tmp_path / "b.tar", silent)
    assert files() == kept


class Broken:
    """A file on a broken disk, or one that ends before its size."""

    def __init__(self, harm: str) -> None:
        self.harm = harm

    def read(self, size: int = -1) -> bytes:
        if self.harm == "unreadable":
            raise OSError(errno.EIO, "Input/output error")
        return b""


@pytest.mark.parametrize("harm", ["missing", "changed", "unreadable", "shorter"])
def test_a_damaged_file_is_named_and_the_backup_goes_on(full: World, tmp_path: Path, monkeypatch, harm: str):
    run = Run.objects.get()
    path = artifact_path(run.artifact) / "run.json"
    if harm == "missing":
        shutil.rmtree(path.parent)
    elif harm == "changed":
        path.write_text("{}")
    else:
        begin = backup_module._Source.__init__

        def broken(self, file, which: str) -> None:
            begin(self, Broken(harm) if which == f"artifacts/{run.artifact}/run.json" else file, which)

        monkeypatch.setattr(backup_module._Source, "__init__", broken)
    lost = set() if harm in ("missing", "changed") else {path}
    kept = {file: content for file, content in files().items() if artifact_path(file) not in lost}
    written = write_backup(tmp_path / "b.tar", silent)
    assert written.damaged == {run.artifact: f"run {run.pk}"}
    assert read_manifest(tmp_path / "b.tar", silent)["damaged"] == written.damaged
    empty()
    monkeypatch.undo()
    restored = restore(tmp_path / "b.tar", silent)
    assert (files(), restored.damaged) == (kept, written.damaged)
    assert (
        restored.notes[1:]
        == written.notes
        == [
            f"Damaged when the backup was made: the files of run {run.pk} in {run.artifact} are missing or differ from "
            "their checksum. The backup has what is left of them. Put them back from an earlier backup, or delete what "
            "they belong to."
        ]
    )


def test_the_archive_of_a_test_set_that_somebody_deleted_is_named_and_comes_again(full: World, tmp_path: Path):
    """It is written again from its qrels; the backup and its restore say which it is."""
    export, _ = request_export(Qrels.objects.get(), ExportOptions(), None)
    path = write_zip(export)
    before = path.read_bytes()
    path.unlink()
    kept, file = files(), f"exports/{path.name}"
    written = write_backup(tmp_path / "b.tar", silent)
    assert written.missing == {file: f"export {export.pk} of p/v1"}
    assert read_manifest(tmp_path / "b.tar", silent)["missing"] == written.missing
    empty()
    restored = restore(tmp_path / "b.tar", silent)
    assert (files(), restored.missing) == (kept, written.missing)
    assert restored.notes[1:] == [
        f"Not in the backup, since it was missing: {file} of export {export.pk} of p/v1. It is written again, with "
        "the same bytes, when somebody asks for it on the page Export."
    ]
    again = Export.objects.get()
    assert zip_path(again) is None
    assert write_zip(again).read_bytes() == before


def test_a_damaged_archive_of_a_test_set_may_be_deleted(full: World, tmp_path: Path):
    export, _ = request_export(Qrels.objects.get(), ExportOptions(), None)
    path = write_zip(export)
    path.write_bytes(b"?")
    written = write_backup(tmp_path / "b.tar", silent)
    assert written.damaged == {f"exports/{path.name}": f"export {export.pk} of p/v1"}
    assert written.notes[0].endswith(
        "Delete the file: it is written again when somebody asks for it on the page Export."
    )


def test_a_file_that_a_job_has_just_replaced_is_read_again(full: World, tmp_path: Path, monkeypatch):
    """The run of the rows is gone when its files are read: the backup begins again with the rows of now."""
    run, system = Run.objects.get(), System.objects.get()
    new, add = f"{run.artifact}-next", backup_module._add_files
    begun = []

    def grown(members, owned, skipped):
        if not begun and owned.reference == run.artifact:
            begun.append(owned)
            artifact_path(run.artifact).rename(artifact_path(new))
            Run.objects.filter(system=system).update(artifact=new)
        return add(members, owned, skipped)

    monkeypatch.setattr(backup_module, "_add_files", grown)
    write_backup(tmp_path / "b.tar", silent)
    names = {name.split("/")[2] for name in read_manifest(tmp_path / "b.tar", silent)["members"] if "/runs/" in name}
    assert len(begun) == 1 and names == {Path(new).name}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("b.zip", "b.zip: end the name in .tar, .tar.gz, .tar.zst."),
        ("there.tar", "{} exists: name a new file; nothing was written."),
    ],
)
def test_a_name_that_cannot_be_used(db, tmp_path: Path, name: str, message: str):
    (tmp_path / "there.tar").write_text("mine")
    with pytest.raises(BackupError) as caught:
        write_backup(tmp_path / name, silent)
    assert str(caught.value) == message.format(tmp_path / name)
    assert (tmp_path / "there.tar").read_text() == "mine"


def test_a_failed_trial_leaves_no_backup(full: World, tmp_path: Path):
    def refuse(archive: Path) -> None:
        assert archive.stat().st_size > 10_000
        raise BackupError("no")

    with pytest.raises(BackupError, match="no"):
        write_backup(tmp_path / "b.tar.gz", silent, refuse)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == []


# -- what is refused before anything is written -----------------------------------------------------------------


@pytest.fixture(scope="module")
def packed() -> dict[str, bytes]:
    """Archives by their ending, written once."""
    return {}


def backed_up(request: pytest.FixtureRequest, packed: dict[str, bytes], ending: str) -> Path:
    """A backup of a site that is gone: the database and the artifact folder are empty."""
    path = request.getfixturevalue("tmp_path") / f"b{ending}"
    if ending not in packed:
        request.getfixturevalue("full")
        write_backup(path, silent)
        packed[ending] = path.read_bytes()
        empty()
    path.write_bytes(packed[ending])
    return path


@pytest.fixture
def archive(db, request: pytest.FixtureRequest, packed: dict[str, bytes]) -> Path:
    return backed_up(request, packed, ".tar")


def refused(path: Path) -> str:
    """The message of a restore that is refused; the database and the artifact folder are as empty as before."""
    before, kept = rows(), files()
    with pytest.raises(BackupError) as caught:
        restore(path, silent)
    assert rows() == before and files() == kept
    return str(caught.value)


def rewritten(archive: Path, change) -> Path:
    """The archive again, each member as `change(name, content)` gives it; None leaves it away."""
    target = archive.with_name("changed.tar")
    with tarfile.open(archive) as old, tarfile.open(target, "w") as new:
        for member in old:
            content = old.extractfile(member).read()
            if (kept := change(member.name, content)) is not None:
                info = tarfile.TarInfo(kept[0])
                info.size = len(kept[1])
                new.addfile(info, io.BytesIO(kept[1]))
    return target


def test_one_changed_byte_is_found(archive: Path):
    raw = bytearray(archive.read_bytes())
    at = raw.index(b"ISO") if b"ISO" in raw else raw.index(b'"ann"')
    raw[at] ^= 1
    archive.write_bytes(raw)
    assert refused(archive).startswith("b.tar is damaged: ")


def test_an_archive_that_was_cut_off_is_refused(archive: Path):
    raw = archive.read_bytes()
    archive.write_bytes(raw[: len(raw) // 2 // 512 * 512])
    assert refused(archive) in (
        "b.tar is not a complete backup: its manifest is missing. Nothing was restored.",
        "b.tar is damaged, or no backup: unexpected end of data. Nothing was restored.",
    )


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_packed_archive_that_was_cut_off_is_refused(db, request, packed, ending: str):
    path = backed_up(request, packed, f".tar{ending}")
    path.write_bytes(path.read_bytes()[:-2000])
    assert refused(path).endswith("Nothing was restored.")


def test_a_member_that_is_missing_or_too_many_is_found(archive: Path):
    label = "database/annotation.Label/000000.jsonl"
    gone = rewritten(archive, lambda name, content: None if name == label else (name, content))
    assert refused(gone).startswith(f"changed.tar is damaged: {label} missing or changed")
    more = rewritten(archive, lambda name, content: ("artifacts/more", content) if name == label else (name, content))
    assert refused(more).startswith("changed.tar is damaged: artifacts/more and 1 more missing or changed")


@pytest.mark.parametrize(
    "name", ["artifacts/.restore-1/x", "artifacts/more", "artifacts/graphs/more/x", "artifacts/\udcff"]
)
def test_a_file_that_no_row_names_is_refused_even_if_the_manifest_lists_it(archive: Path, name: str):
    listed = {"bytes": 1, "sha256": hashlib.sha256(b"x").hexdigest()}
    path = changed_manifest(archive, lambda manifest: manifest["members"].update({name: listed}))
    with tarfile.open(path, "a") as more:
        info = tarfile.TarInfo(name)
        info.size = 1
        more.addfile(info, io.BytesIO(b"x"))
    shown = name.replace("\udcff", "\\udcff")
    assert refused(path).startswith(f"changed.tar holds {shown}, which no row of it names")


@pytest.mark.parametrize("name", ["database/annotation.Label/000000.jsonl", MANIFEST])
def test_a_member_that_is_there_twice_is_refused(archive: Path, name: str):
    with tarfile.open(archive) as old, tarfile.open(archive, "a") as more:
        content = old.extractfile(name).read()
        info = tarfile.TarInfo(name)
        info.size = len(content)
        more.addfile(info, io.BytesIO(content))
    assert refused(archive) == f"b.tar holds {name} twice. Nothing was restored."


@pytest.mark.parametrize(
    "name",
    ["../evil", "artifacts/../../evil", "/etc/evil", "artifacts", "other/evil", "artifacts//evil", "artifacts/a\\b"],
)
def test_a_path_that_leads_elsewhere_is_refused(archive: Path, name: str):
    label = "database/annotation.Label/000000.jsonl"
    path = rewritten(archive, lambda old, content: (name if old == label else old, content))
    assert refused(path) == f"The backup holds {name!r}, which no backup has. Nothing was restored."


def test_a_link_is_refused(tmp_path: Path, db):
    with tarfile.open(tmp_path / "b.tar", "w") as archive:
        info = tarfile.TarInfo("artifacts/link")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc"
        archive.addfile(info)
    assert refused(tmp_path / "b.tar").startswith("The backup holds 'artifacts/link'")


def test_what_is_no_archive_is_refused(tmp_path: Path, db):
    (tmp_path / "text.tar").write_text("hello" * 1000)
    assert refused(tmp_path / "text.tar").startswith("text.tar is damaged, or no backup: ")
    assert refused(tmp_path / "none.tar") == (
        f"{tmp_path / 'none.tar'} cannot be read: No such file or directory. Nothing was restored."
    )


def changed_manifest(archive: Path, change) -> Path:
    def of(name: str, content: bytes) -> tuple[str, bytes]:
        if name != "manifest.json":
            return name, content
        manifest = json.loads(content)
        change(manifest)
        return name, json.dumps(manifest).encode()

    return rewritten(archive, of)


def test_another_version_is_refused(archive: Path):
    path = changed_manifest(archive, lambda manifest: manifest["migrations"].append("pooling.9999_future"))
    assert refused(path) == (
        "The backup is of another version of the program (pooling.9999_future is on one side only): restore it with "
        "that version, then update and run migrate. Nothing was restored."
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda manifest: manifest.update(format=1), (
            "changed.tar has format 1, and this version of the program reads 2: it was made by a version with another "
            "database. Restore it with the version that made it, export its test sets there, and import them here. "
            "Nothing was restored."
        )),
        (lambda manifest: manifest.pop("tables"), (
            "changed.tar is not a complete backup: its manifest has no tables. Nothing was restored; "
            "take another backup."
        )),
        (lambda manifest: manifest["tables"].update({"pooling.Future": manifest["tables"]["pooling.Pool"]}), (
            "The backup is of another version of the program (table pooling.Future is on one side only): restore it "
            "with that version, then update and run migrate. Nothing was restored."
        )),
    ],
)  # fmt: skip
def test_a_manifest_of_another_form_is_refused(archive: Path, change, message: str):
    assert refused(changed_manifest(archive, change)) == message


@pytest.mark.parametrize("member", ["database/pooling.Future/000000.jsonl", "database/Future"])
def test_rows_of_a_table_that_nobody_knows_are_refused(archive: Path, member: str):
    """The manifest lists them, so that nothing is damaged."""
    label = "database/annotation.Label/000000.jsonl"

    def change(manifest: dict[str, Any]) -> None:
        manifest["members"][member] = manifest["members"].pop(label)

    renamed = rewritten(archive, lambda name, content: (member if name == label else name, content))
    renamed = renamed.rename(renamed.with_name("renamed.tar"))
    assert refused(changed_manifest(renamed, change)) == (
        f"The backup holds {member}, and the program has no table {member.split('/')[1]}: it was changed by hand, or "
        "comes from another program. Nothing was restored; take another backup."
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda row: row | {"created_at": 7}, lambda row: row | {"created_at": "long ago"},
        lambda row: row | {"client_id": "no id"}, lambda row: {"id": row["id"]},
    ],
)  # fmt: skip
def test_a_row_that_no_table_can_hold_is_named(archive: Path, change):
    """The manifest lists it as it is, so that nothing is damaged."""
    member, columns = "database/annotation.Label/000000.jsonl", Table(Label).columns
    with tarfile.open(archive) as old:
        row = dict(zip(columns, json.loads(old.extractfile(member).readline()), strict=True))
    content = json.dumps([*change(row).values()]).encode() + b"\n"
    listed = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    path = rewritten(archive, lambda name, old: (name, content if name == member else old))
    path = path.rename(archive.with_name("by-hand.tar"))
    path = changed_manifest(path, lambda manifest: manifest["members"].update({member: listed}))
    words = refused(path)
    assert words.startswith(f"{member} has a row that table annotation.Label cannot hold: "), words
    assert words.endswith("comes from another program. Nothing was restored; take another backup.")


def test_what_the_database_gives_back_is_compared(archive: Path):
    def change(manifest: dict[str, Any]) -> None:
        manifest["tables"]["annotation.Label"]["sha256"] = "0" * 64

    assert refused(changed_manifest(archive, change)) == (
        "What was restored is not what the backup holds: annotation.Label: 2 rows of 2. Nothing was kept."
    )


def test_a_place_that_is_not_empty_is_refused(full: World, tmp_path: Path):
    write_backup(tmp_path / "b.tar", silent)
    assert refused(tmp_path / "b.tar").startswith("The database is not empty (it has ")
    for table in tables():
        if not table.comes_with_migrations:
            table.model._base_manager.all()._raw_delete("default")
    assert refused(tmp_path / "b.tar").startswith(f"The artifact folder {settings.ARTIFACT_ROOT} is not empty (")


def test_what_a_killed_restore_left_is_in_nobodys_way(archive: Path):
    left = Path(settings.ARTIFACT_ROOT) / ".restore-1234" / "graphs"
    left.mkdir(parents=True)
    assert restore(archive, silent).rows > 100
    assert Label.objects.count() == 2


def test_the_order_of_rows_does_not_change_a_checksum(db):
    make_person("ann"), make_person("ben")
    table = Table(User)
    one, other = TableSum(), TableSum()
    lines = list(table.lines(one))
    for line in reversed(lines):
        other.add(line)
    assert len(lines) == 2 and lines[0] != lines[1]
    assert one == other and one.sha256 != TableSum().sha256


# -- the commands, and the other database -----------------------------------------------------------------------


def run(environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=settings.BASE_DIR,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )


def place(folder: Path, database: str) -> dict[str, str]:
    return {
        "DATABASE_URL": database,
        "TRIPLEPOOL_VAR": str(folder / "var"),
        "ARTIFACT_ROOT": str(folder / "artifacts"),
        "OMP_NUM_THREADS": "1",
    }


def sums(archive: Path) -> dict[str, Any]:
    """What an archive says of its tables and artifacts."""
    manifest = read_manifest(archive, silent)
    members = {name: of for name, of in manifest["members"].items() if name.startswith("artifacts/")}
    return {"tables": manifest["tables"], "members": members}


def test_a_test_set_is_the_same_bytes_from_a_restored_place_and_another_process(full: World, tmp_path: Path):
    """With another secret key, time zone and order of sets."""
    freeze_qrels(full.pool, "v2", licence="CC-BY-4.0")
    for qrels in Qrels.objects.all():
        export_test_set(qrels, tmp_path / "here" / qrels.name)
    write_backup(tmp_path / "b.tar", silent)
    there = place(tmp_path / "there", f"sqlite:///{tmp_path}/there.sqlite3")
    there |= {"PYTHONHASHSEED": "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2", "TZ": "Asia/Tokyo"}
    done = [run(there, "restore", str(tmp_path / "b.tar"))]
    for qrels in Qrels.objects.all():
        folder = str(tmp_path / "again" / qrels.name)
        done.append(run(there, "export_test_set", qrels.pool.name, folder, "--qrels", qrels.name))
    assert [one.returncode for one in done] == [0, 0, 0], done
    here, again = (
        {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (tmp_path / "here", tmp_path / "again")
    )
    assert {"v1/trec/runs/transe.txt.gz", "v2/labels.jsonl"} <= set(here) and here["v2/labels.jsonl"]
    assert again == here


@pytest.mark.postgres
def test_from_sqlite_to_postgresql_and_back(full: World, tmp_path: Path):
    """The same rows and files in each; the backup from PostgreSQL is checked by the command itself, in SQLite."""
    import psycopg

    first, second = tmp_path / "first.tar.zst", tmp_path / "second.tar"
    write_backup(first, silent)
    User.objects.filter(username="ann").update(first_name="x" * 151)  # SQLite takes it
    write_backup(tmp_path / "long.tar", silent)
    with own_database("backup") as url:
        there = place(tmp_path / "there", url)
        refused = run(there, "restore", str(tmp_path / "long.tar"))
        assert "The database refused long.tar: value too long for type character varying(150)" in refused.stderr
        assert (refused.returncode, "Traceback" in refused.stderr) == (1, False)
        done = run(there, "restore", str(first))
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("Restored first.tar.zst: ")
        done = run(there, "backup", str(second))
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip().endswith("; restored in an empty place and found equal")
        again = run(there, "restore", str(first))
        assert (again.returncode, "The database is not empty" in again.stderr) == (1, True)
        with psycopg.connect(url) as database:
            row = database.execute("SELECT nextval(pg_get_serial_sequence('annotation_label', 'id'))").fetchone()
            assert row is not None and row[0] > Label.objects.latest("id").pk
    assert sums(second) == sums(first)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
