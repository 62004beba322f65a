"""Runs in parts: what is kept, resumed, refused and swept, and the job that imports them."""

from __future__ import annotations

import gzip
import hashlib
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from core.enums import JobState
from core.jobs import lifecycle
from core.jobs.execution import execute
from core.models import Job
from pooling.models import Graph, Pool, System
from pooling.runs import parts
from pooling.runs.export import get_run, whole_run
from pooling.runs.files import read_ranks
from pooling.runs.parts import UploadError, create_upload, drop, finish, get_upload, put_part, sweep_uploads
from pooling.runs.trec_read import TrecError
from pooling.training.train import SystemError_
from tests.factories import make_person, make_town

OPTIONS = {"family": "not known", "pool": "", "form": "auto", "scores_decide": False}


@pytest.fixture
def owner(db) -> User:
    return make_person("owner", "researcher")


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(lifecycle, "_send", lambda job_id, kind: None)


def put(upload: parts.Upload, number: int, content: bytes) -> parts.Part:
    return put_part(upload, number, content, hashlib.sha256(content).hexdigest())


def test_parts_become_the_run_that_they_are_pieces_of(pool: Pool, owner: User):
    content = gzip.compress(b"".join(whole_run(get_run(pool.graph, "transe"))))
    options = OPTIONS | {"pool": pool.name}
    upload = create_upload(pool.graph, owner, name="large", file_name="them.run.gz", **options)
    third = len(content) // 3
    pieces = [content[:third], content[third : 2 * third], content[2 * third :]]
    for number in (3, 1):
        put(upload, number, pieces[number - 1])
    with pytest.raises(UploadError, match=r"Parts are missing: 2\. Send them"):
        finish(upload, 3, owner)
    assert [part.number for part in get_upload(upload.id, owner).parts()] == [1, 3]  # sending goes on from here
    put(upload, 2, pieces[1])
    job = finish(upload, 3, owner)
    assert execute(job.pk, "test")
    job.refresh_from_db()
    assert (job.state, job.error) == (JobState.DONE, "")
    system = System.every.get(name="large")
    assert (system.private, system.owner, system.settings["file"]) == (True, owner, "them.run.gz")
    ours, theirs = read_ranks(get_run(pool.graph, "transe")), read_ranks(system.run)
    assert (theirs.keys.tolist(), theirs.ranks.tolist()) == (ours.keys.tolist(), ours.ranks.tolist())
    assert not upload.folder.exists()
    assert "large" not in job.log + job.stage and "them.run" not in job.log + job.stage  # others watch jobs


def test_a_wrong_file_names_no_private_thing(town: Graph, owner: User):
    upload = create_upload(town, owner, name="secret", file_name="secret.run", **OPTIONS)
    put(upload, 1, b"a b\n")
    job = finish(upload, 1, owner)
    execute(job.pk, "test")
    job.refresh_from_db()
    assert job.state == JobState.FAILED and job.error.startswith("the upload:1: has 2 columns")
    assert "secret" not in job.error + job.log + str(job.params)
    assert not upload.folder.exists()  # the same file would be refused again


def test_parts_are_checked_and_bounded(town: Graph, owner: User, monkeypatch):
    upload = create_upload(town, owner, name="x", file_name="x", **OPTIONS)
    with pytest.raises(UploadError, match="arrived with SHA-256"):
        put_part(upload, 1, b"abc", "0" * 64)
    for number in (0, parts.MOST_PARTS + 1):
        with pytest.raises(UploadError, match="give 1 to 256"):
            put(upload, number, b"abc")
    monkeypatch.setattr(parts, "PART_BYTES", 2)
    for content in (b"", b"abc"):
        with pytest.raises(UploadError, match="send 1 to 2"):
            put(upload, 1, content)
    assert upload.parts() == []


def test_uploads_are_own_few_and_swept(town: Graph, owner: User, monkeypatch):
    first = create_upload(town, owner, name="a", file_name="x", **OPTIONS)
    for number in (first.id, "../" + first.id, "none"):
        with pytest.raises(UploadError, match="There is no such upload of yours"):
            get_upload(number, make_person(f"other {number}"[:30], "researcher"))
    for name in "bc":
        create_upload(town, owner, name=name, file_name="x", **OPTIONS)
    with pytest.raises(UploadError, match="You have 3 uploads that are not finished"):
        create_upload(town, owner, name="d", file_name="x", **OPTIONS)
    drop(first)
    create_upload(town, owner, name="d", file_name="x", **OPTIONS)
    begun = parts._root() / "begun"  # another request is about to write about.json
    begun.mkdir()
    assert (sweep_uploads(), begun.exists()) == (0, True)
    later = timezone.now() + parts.KEPT + timedelta(minutes=1)
    monkeypatch.setattr(parts.timezone, "now", lambda: later)
    assert (sweep_uploads(), list(parts.uploads())) == (4, [])


def test_a_name_that_is_taken_is_refused_before_anything_is_sent(trained: Graph, owner: User):
    with pytest.raises(SystemError_, match="has a system transe already"):
        create_upload(trained, owner, name="transe", file_name="x", **OPTIONS)
    assert list(parts.uploads()) == [] and Job.objects.count() == 0


def test_a_pool_of_another_graph_is_refused_before_anything_is_sent(pool: Pool, owner: User, tmp_path: Path):
    other = make_town(tmp_path / "other", "village")
    with pytest.raises(TrecError, match=f"Pool {pool.name} is of graph town, not of village"):
        create_upload(other, owner, name="x", file_name="x", **OPTIONS | {"pool": pool.name})
    assert list(parts.uploads()) == []
    upload = create_upload(pool.graph, owner, name="x", file_name="x", **OPTIONS | {"pool": pool.name})
    put(upload, 1, b"a")
    pool.delete()
    job = finish(upload, 1, owner)
    execute(job.pk, "test")
    job.refresh_from_db()
    assert job.error.startswith("There is no pool 'p'") and not upload.folder.exists()


def test_a_name_that_was_taken_meanwhile_is_not_told_to_who_watches_jobs(trained: Graph, owner: User):
    upload = create_upload(trained, owner, name="secret", file_name="x", **OPTIONS)
    put(upload, 1, b"a")
    job = finish(upload, 1, owner)
    System.every.create(graph=trained, name="secret", kind="imported", private=True)
    execute(job.pk, "test")
    job.refresh_from_db()
    assert job.error.startswith("The name of the run was taken meanwhile") and "secret" not in job.error + job.log
