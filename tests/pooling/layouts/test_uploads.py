"""Uploads of graphs: kept aside for one person, bounded, swept, and imported at once or by a job."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.template.loader import render_to_string
from django.utils import timezone

from core.files.artifacts import artifact_path
from core.jobs.progress import Progress
from core.models import Job
from pooling.enums import PoolingJob
from pooling.graphs.source_data import GraphError
from pooling.layouts import uploads
from pooling.layouts.layout import LayoutOptions
from pooling.layouts.preview import preview_of
from pooling.layouts.uploads import (
    KEPT,
    NOT_KEPT,
    drop_upload,
    find_upload,
    import_upload,
    keep_upload,
    read_upload,
    run_import,
    sweep_uploads,
)
from pooling.models import Graph

pytestmark = pytest.mark.django_db
TRAIN = "a\tlikes\tb\nb\tlikes\tc\nc\tknows\ta\na\tknows\tc\nb\tlikes\ta\n"
FILES = {"train.tsv": TRAIN, "valid.tsv": "a\tlikes\tc\n", "test.tsv": "b\tknows\ta\n"}


def sent(files: dict[str, str | bytes]) -> list[SimpleUploadedFile]:
    return [SimpleUploadedFile(name, of if isinstance(of, bytes) else of.encode()) for name, of in files.items()]


def zipped(files: dict[str, str]) -> bytes:
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return kept.getvalue()


def tarred(files: dict[str, bytes]) -> bytes:
    kept = io.BytesIO()
    with tarfile.open(fileobj=kept, mode="w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return kept.getvalue()


@pytest.fixture
def boss(db) -> User:
    return User.objects.create_user("boss")


def folders() -> list[str]:
    return sorted(path.name for path in artifact_path("uploads").iterdir())


def test_upload_is_its_persons_alone(boss: User):
    kept = keep_upload(sent(FILES), boss)
    assert find_upload(kept.token, boss) == kept
    assert find_upload(kept.token, User.objects.create_user("other")) is None
    assert folders() == [kept.token] and kept.folder.stat().st_mode & 0o077 == 0
    assert not Graph.objects.exists()


def test_upload_that_another_import_deleted_is_refused_and_does_not_come_back(boss: User):
    kept = keep_upload(sent(FILES), boss)
    drop_upload(kept)
    with pytest.raises(GraphError, match=NOT_KEPT):
        read_upload(kept, LayoutOptions())
    assert folders() == [] and find_upload(kept.token, boss) is None


@pytest.mark.parametrize(
    "files",
    [FILES, {"g.zip": zipped({f"g/{name}": text for name, text in FILES.items()})},
     {"g.tar.gz": tarred({f"g/{name}": text.encode() for name, text in FILES.items()})}],
)  # fmt: skip
def test_small_graph_is_imported_at_once_and_its_files_go(files, boss: User):
    kept = keep_upload(sent(files), boss)
    graph = import_upload(kept, "g", LayoutOptions(), "keep", boss)
    assert isinstance(graph, Graph)
    assert (graph.num_train, graph.num_valid, graph.num_test, graph.created_by) == (5, 1, 1, boss)
    assert graph.options["files"] == list(files) and folders() == []
    assert not Job.objects.exists()


def test_names_in_an_archive_that_are_not_utf_8_are_shown_by_their_bytes(boss: User):
    """The page of the preview was an error of the server."""
    packed = tarred({f"caf\udce9/{name}": text.encode() for name, text in FILES.items()})
    kept = keep_upload(sent({"g.tar.gz": packed}), boss)
    page = preview_of(read_upload(kept, LayoutOptions()))
    assert str(page).encode() and r"caf\\xe9/train.tsv" in repr(page)
    assert isinstance(import_upload(kept, "g", LayoutOptions(), "keep", boss), Graph)


def test_upload_that_goes_while_others_are_swept_stops_nobody(boss: User, monkeypatch):
    """It was an error of the server for the one that was sent meanwhile."""
    gone = keep_upload(sent(FILES), boss)
    monkeypatch.setattr(uploads.Path, "glob", lambda place, _: iter([gone.folder]))
    drop_upload(gone)
    assert sweep_uploads() == 0


def test_larger_graph_is_imported_by_a_job(boss: User, monkeypatch):
    monkeypatch.setattr(uploads, "AT_ONCE", 6)
    kept = keep_upload(sent(FILES | {"train.tsv": TRAIN.replace("\t", ",")}), boss)
    job = import_upload(kept, "g", LayoutOptions(link_pattern="https://a.org/{id}"), "drop", boss)
    assert isinstance(job, Job) and job.kind == PoolingJob.IMPORT_GRAPH and not Graph.objects.exists()
    assert str(job) == "import graph g"
    run_import(job, Progress(job))
    job.refresh_from_db()
    assert (job.graph.name, job.graph.num_train, job.graph.created_by) == ("g", 5, boss)
    assert job.graph.options["link_pattern"] == "https://a.org/{id}" and job.graph.options["unseen"] == "drop"
    assert folders() == []


def test_job_that_had_stored_the_graph_before_it_died_is_done(boss: User, monkeypatch):
    monkeypatch.setattr(uploads, "AT_ONCE", 6)
    job = import_upload(keep_upload(sent(FILES), boss), "g", LayoutOptions(), "keep", boss)
    run_import(job, Progress(job))
    Job.objects.filter(pk=job.pk).update(graph=None)
    run_import(job, Progress(job))
    job.refresh_from_db()
    assert (job.graph.name, Graph.objects.count()) == ("g", 1)


def test_job_whose_files_were_swept_says_so(boss: User, monkeypatch):
    monkeypatch.setattr(uploads, "AT_ONCE", 6)
    kept = keep_upload(sent(FILES), boss)
    job = import_upload(kept, "g", LayoutOptions(), "keep", boss)
    uploads.drop_upload(kept)
    with pytest.raises(GraphError, match="The uploaded files are not kept any more"):
        run_import(job, Progress(job))


def test_uploads_are_swept_after_a_day(boss: User):
    old, new = (keep_upload(sent(FILES), boss) for _ in range(2))
    before = (timezone.now() - KEPT).timestamp() - 60
    os.utime(old.folder, (before, before))
    assert sweep_uploads() == 1
    assert folders() == [new.token] and find_upload(old.token, boss) is None


def test_upload_that_is_looked_at_is_kept_longer(boss: User):
    kept = keep_upload(sent(FILES), boss)
    before = (timezone.now() - KEPT).timestamp() - 60
    os.utime(kept.folder, (before, before))
    read_upload(kept, LayoutOptions())
    assert sweep_uploads() == 0


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([], "No file was sent"),
        ([("a.tsv", b"x")] * 2, "a.tsv was sent twice"),
        ([(f"{i}.tsv", b"x") for i in range(51)], "51 files were sent, at most 50 are taken"),
        ([(".hidden", b"x")], "'.hidden' cannot be the name of a file here"),
        ([("a" * 197 + ".tsv", b"x")], "rename it, to at most 200 bytes and with no dot in front"),
        ([("a.tsv", b"x" * 101)], "The files have 101 bytes, at most 100 can be sent here."),
    ],
)
def test_what_cannot_be_kept_is_refused_and_nothing_stays(files, message: str, boss: User, monkeypatch):
    monkeypatch.setattr(uploads, "MOST_BYTES", 100)
    with pytest.raises(GraphError) as caught:
        keep_upload([SimpleUploadedFile(name, of) for name, of in files], boss)
    assert message in str(caught.value)
    assert not artifact_path("uploads").exists() or folders() == []


def test_names_of_files_never_leave_the_folder(boss: User):
    files = sent({"train.tsv": TRAIN})
    files[0]._name = "..\\..\\train.tsv"
    kept = keep_upload(files, boss)
    assert kept.names == ["train.tsv"]
    assert [path.name for path in (kept.folder / "files").iterdir()] == ["train.tsv"]


BOMBS = {
    "zip": lambda size: {"g.zip": zipped({"train.tsv": "a\tr\tb\n" * (size // 6)})},
    "two files of a zip": lambda size: {
        "g.zip": zipped({f"{name}.tsv": "a\tr\tb\n" * (size // 10) for name in ("train", "valid", "test")})
    },
    "gz in a zip": lambda size: {"g.zip": zipped({"train.tsv": "x" * size})},
    "tar.gz": lambda size: {"g.tar.gz": tarred({"train.tsv": b"a\tr\tb\n" * (size // 6)})},
    "tar.gz of a file that nobody reads": lambda size: {"g.tar.gz": tarred({"big.bin": bytes(size)})},
}


@pytest.mark.parametrize("kind", BOMBS)
def test_what_grows_when_unpacked_is_refused_in_words(kind: str, boss: User, monkeypatch):
    monkeypatch.setattr(uploads, "MOST_BYTES", 20_000)
    kept = keep_upload(sent(BOMBS[kind](100_000)), boss)
    with pytest.raises(GraphError, match=r"is larger than the [\d,]+ bytes that are left for unpacked files"):
        read_upload(kept, LayoutOptions())


def test_refusal_names_the_upload_and_no_folder_of_the_server(boss: User):
    kept = keep_upload(sent({"notes.docx": "x"}), boss)
    with pytest.raises(GraphError, match="has no triples in a layout that is known") as caught:
        read_upload(kept, LayoutOptions())
    assert str(caught.value).startswith("notes.docx has no triples")
    assert str(artifact_path("uploads")) not in str(caught.value)


@pytest.mark.parametrize(
    ("names", "suggested"), [(["CoDEx S.v1.zip"], "codex-s"), (["ü.zip"], ""), (["train.tsv", "test.tsv"], "")]
)
def test_suggested_name_is_that_of_the_only_file(names: list[str], suggested: str):
    assert uploads.Upload("t", Path("x"), names).suggested_name == suggested


def test_preview_counts_what_was_read(boss: User):
    shown = preview_of(read_upload(keep_upload(sent(FILES | {"a.docx": "x"}), boss), LayoutOptions()))
    assert (shown.entities, shown.relations, shown.triples) == (3, 2, 7)
    assert shown.splits[0].first == [("a", "likes", "b"), ("b", "likes", "c"), ("c", "knows", "a")]
    assert (shown.ignored, shown.num_ignored, shown.more_ignored) == (["a.docx"], 1, 0)


def test_job_names_its_graph_before_there_is_one(boss: User, monkeypatch):
    monkeypatch.setattr(uploads, "AT_ONCE", 6)
    job = import_upload(keep_upload(sent(FILES), boss), "g", LayoutOptions(), "keep", boss)
    assert render_to_string("pooling/jobs/subject.html", {"job": job}).strip() == "g"


def test_a_small_archive_of_many_lines_is_refused(boss: User, monkeypatch):
    """Each line costs memory as a row: 20 bytes a line are usual."""
    monkeypatch.setattr(uploads, "MOST_BYTES", 1_000_000)
    files = {**FILES, "train.tsv": TRAIN + "a\tb\tc\n" * 60_000}
    kept = keep_upload(sent({"g.zip": zipped(files)}), boss)
    with pytest.raises(GraphError, match=r"train\.tsv has more lines than the 12,500 that are read"):
        read_upload(kept, LayoutOptions())
