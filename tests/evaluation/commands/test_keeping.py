"""archive, remove, backup, restore and import_test_set in the shell."""

from __future__ import annotations

import json
import subprocess
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from core.enums import JobState
from core.models import AuditEntry
from evaluation.keeping.backup import BackupError, BackupSummary
from evaluation.labels.qrels import freeze_qrels
from evaluation.management.commands import backup, restore
from evaluation.models import Export
from pooling.enums import PoolingJob
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool, System
from tests.factories import make_job, names_of
from tests.pages.world import make_pool, make_system


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out, stderr=out, no_color=True)
    return out.getvalue()


def test_remove_shows_first_and_deletes_when_told(town: Graph):
    make_pool(town, "old")
    out = run("remove", "pool", "old")
    assert out.splitlines()[0] == "With pool old go:"
    assert "           7 pooled triples" in out.splitlines()
    assert out.splitlines()[-1] == "Nothing was deleted: --yes deletes it."
    asked = json.loads(run("remove", "pool", "old", "--json"))
    assert asked == {
        "kind": "pool",
        "name": "old",
        "rows": {"pools": 1, "seed triples": 2, "pooled triples": 7},
        "files": 0,
        "bytes": 0,
        "refused": [],
        "held_by": [],
        "deleted": False,
    }
    assert Pool.objects.count() == 1
    assert run("remove", "pool", "old", "--yes").splitlines()[-1] == "old is deleted."
    assert Pool.objects.count() == 0


def test_remove_refuses_with_an_error(town: Graph):
    make_pool(town, "old", systems=[make_system(town, "transe", run=False)])
    out = run("remove", "system", "town/transe")
    assert out.splitlines()[-2:] == ["It stays: Pool old uses it: archive it instead.", "Nothing was deleted."]
    with pytest.raises(CommandError) as caught:
        run("remove", "system", "town/transe", "--yes")
    assert str(caught.value) == "town/transe stays. Pool old uses it: archive it instead."


@pytest.mark.parametrize(
    ("kind", "name", "model", "there", "back"),
    [
        ("graph", "town", Graph, "graph-archived", "graph-restored"),
        ("system", "town/transe", System, "system-archived", "system-restored"),
        ("pool", "old", Pool, "pool-archived", "pool-restored"),
    ],
)
def test_archive_and_back(town: Graph, kind, name, model, there, back):
    make_pool(town, "old", systems=[make_system(town, "transe", run=False)])
    assert run("archive", kind, name) == f"{name} is archived: lists no longer show it; --back restores it.\n"
    assert [row.archived for row in model.objects.all()] == [True]
    assert run("archive", kind, name, "--back") == f"{name} is restored.\n"
    assert [row.archived for row in model.objects.all()] == [False]
    acts = AuditEntry.objects.exclude(act="graph-imported").order_by("id").values_list("act", "person")
    assert list(acts) == [(there, None), (back, None)]


def test_archive_refuses_with_an_error(town: Graph):
    job = make_job(PoolingJob.TRAIN, JobState.RUNNING, system=make_system(town, "transe", run=False))
    with pytest.raises(CommandError) as caught:
        run("archive", "system", "town/transe")
    assert str(caught.value) == (f"Job {job.pk} is at work on transe: cancel it first, or wait for its end.")
    with pytest.raises(CommandError, match=r"There is no system 'town/none'\. Systems of town: town/transe\."):
        run("archive", "system", "town/none")
    assert System.objects.get().archived is False


def test_backup_says_what_it_did(town: Graph, tmp_path: Path):
    target = tmp_path / "b.tar.gz"
    out = run("backup", str(target), "--no-check")
    assert out.startswith(f"{target}: ") and out.rstrip().endswith("; not checked")
    with pytest.raises(CommandError, match="exists: name a new file; nothing was written"):
        run("backup", str(target), "--no-check")


def test_backup_and_restore_name_what_is_missing(town: Graph, tmp_path: Path, monkeypatch):
    """A test set whose archive was deleted."""
    pool = make_pool(town, "p")
    qrels = freeze_qrels(pool, "v1")
    Export.objects.create(qrels=qrels, artifact="exports/1.zip", sha256="0" * 64)
    lines = run("backup", str(tmp_path / "b.tar"), "--no-check").splitlines()
    note = "Not in the backup, since it was missing: exports/1.zip of export 1 of p/v1. It is written again, with the "
    assert [line.startswith(note) for line in lines if "%" not in line][-1:] == [True]
    found = BackupSummary(1, 2, 3, {"exports/1.zip": "export 1 of p/v1"}, {})
    monkeypatch.setattr(restore, "restore", lambda path, tell: found)
    assert run("restore", str(tmp_path / "b.tar")).splitlines() == [
        "Restored b.tar: 1 rows, 2 files, all as in the backup.",
        *found.notes,
    ]


def test_the_trial_restore_is_of_the_archive(tmp_path: Path):
    (tmp_path / "bad.tar").write_text("no archive")
    with pytest.raises(BackupError) as caught:
        backup._restorable(tmp_path / "bad.tar")
    assert str(caught.value) == "The trial restore failed, so that no backup was kept."
    assert [path.name for path in tmp_path.iterdir() if path.name != "artifacts"] == ["bad.tar"]


def test_the_trial_restore_leaves_the_store_of_the_site_alone(tmp_path: Path, monkeypatch):
    """Which is never empty: a restore into it is refused, and so every backup would be."""
    shared = tmp_path / "shared"
    (shared / "graphs").mkdir(parents=True)
    (shared / "graphs" / "a").write_text("of the site")
    monkeypatch.setenv("ARTIFACT_STORE", f"file://{shared}")
    given = {}

    def done(command, *, env, **rest):
        given.update(env)
        return subprocess.CompletedProcess(command, 0, "")

    monkeypatch.setattr(backup.subprocess, "run", done)
    backup._restorable(tmp_path / "a.tar")
    assert given["ARTIFACT_STORE"] == "" and given["ARTIFACT_ROOT"].startswith(str(tmp_path))


def test_import_test_set_prints_counts_and_what_comes_next(town: Graph, tmp_path: Path):
    arrays = open_graph(town)
    rows = [(arrays.test[0].tolist(), "1"), (arrays.train[0].tolist(), "1"), ((3, 1, 21), "0")]
    file = tmp_path / "t.tsv"
    file.write_text("".join("\t".join([*names_of(town, t), label]) + "\n" for t, label in rows))
    lines = run("import_test_set", "town", str(file), "--name", "theirs").splitlines()
    assert lines[:2] == ["left out, known fact (train): 1 lines", f"  t.tsv:2: {' '.join(names_of(town, rows[1][0]))}"]
    assert lines[2] == ("theirs: 1 seeds, 1 pooled triples; 1 positive, 1 negative, 0 assumed negative, 0 unjudged")
    assert lines[-1] == "Next: score_runs theirs, then evaluate theirs --labels imported:theirs"
    with pytest.raises(CommandError, match=r"none\.tsv: No such file or directory"):
        run("import_test_set", "town", str(tmp_path / "none.tsv"), "--name", "other")
