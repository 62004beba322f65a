"""Runs in parts: what is kept, resumed, refused and swept, and the job that imports them."""

from __future__ import annotations

import gzip
import hashlib
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core.enums import JobState
from core.files import bucket
from core.files.storage import publish
from core.jobs import lifecycle
from core.jobs.execution import execute
from core.models import Job
from pooling.models import Graph, Pool, System
from pooling.runs import parts, parts_import
from pooling.runs.export import get_run, whole_run
from pooling.runs.files import read_ranks
from pooling.runs.parts import (
    UploadError,
    create_upload,
    drop,
    finish,
    get_upload,
    put_part,
    refused_uploads,
    sweep_uploads,
)
from pooling.runs.trec_read import TrecError
from pooling.training.train import SystemError_
from tests import stores
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
    assert "large" not in job.log + job.stage and "them.run" not in job.log + job.stage  # others watch jobs


def ended(upload: parts.Upload, owner: User) -> Job:
    """Finish an upload of one part and return its job after it ran."""
    job = finish(upload, 1, owner)
    execute(job.pk, "test")
    job.refresh_from_db()
    return job


def test_a_refused_file_is_told_to_its_owner_alone(town: Graph, owner: User):
    upload = create_upload(town, owner, name="secret", file_name="secret.run", **OPTIONS)
    put(upload, 1, b"tail:hidden:knows Q0 hidden 1 0.5 x\na b\n")
    job = ended(upload, owner)
    assert (job.state, job.error) == (JobState.FAILED, parts_import.REFUSED.format(upload.id))
    assert not any(word in job.error + job.log + job.stage + str(job.params) for word in ("secret", "hidden", ":2:"))
    end = get_upload(upload.id, owner).outcome()
    assert end is not None and "the upload:2: has 2 columns" in end.refused and "hidden" in end.refused
    assert sorted(path.name for path in upload.folder.iterdir()) == ["about.json", "outcome.json"]
    assert [(one.id, reason) for one, reason in refused_uploads(town, owner)] == [(upload.id, end.refused)]
    assert refused_uploads(town, make_person("other", "researcher")) == []


def test_an_upload_that_is_over_takes_nothing_more(town: Graph, owner: User):
    upload = create_upload(town, owner, name="x", file_name="x", **OPTIONS)
    put(upload, 1, b"a b\n")
    again = ended(upload, owner)
    for act in (
        lambda: put(upload, 2, b"abc"),
        lambda: parts.put_topics(upload, b"abc", hashlib.sha256(b"abc").hexdigest()),
        lambda: finish(upload, 1, owner),
    ):
        with pytest.raises(UploadError, match="This upload is over"):
            act()
    lifecycle.retry_job(again, owner)
    assert execute(again.pk, "test")
    again.refresh_from_db()
    assert again.error == parts_import.REFUSED.format(upload.id)


def test_an_upload_that_is_finished_twice_has_one_job(town: Graph, owner: User):
    upload = create_upload(town, owner, name="x", file_name="x", **OPTIONS)
    put(upload, 1, b"a b\n")
    assert finish(upload, 1, owner) == finish(upload, 1, owner)


def test_an_error_of_the_program_tells_nothing_of_the_file_and_keeps_the_parts(town: Graph, owner: User, monkeypatch):
    def broken(*_, **__):
        raise ValueError("hidden line")

    monkeypatch.setattr(parts_import, "import_run", broken)
    upload = create_upload(town, owner, name="x", file_name="x", **OPTIONS)
    put(upload, 1, b"a b\n")
    job = ended(upload, owner)
    assert job.error == parts_import.BROKE.format("ValueError") and "hidden" not in job.log
    assert upload.outcome() is None and [part.number for part in upload.parts()] == [1]


def test_parts_are_checked_and_bounded(town: Graph, owner: User, monkeypatch):
    upload = create_upload(town, owner, name="x", file_name="x", **OPTIONS)
    with pytest.raises(UploadError, match="arrived with SHA-256"):
        put_part(upload, 1, b"abc", "0" * 64)
    with pytest.raises(UploadError, match="without its SHA-256: send it in the header X-Checksum-SHA256"):
        put_part(upload, 1, b"abc", "")
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
    put(first, 1, b"a b\n")
    ended(first, owner)  # a refused upload counts no more
    create_upload(town, owner, name="d", file_name="x", **OPTIONS)
    begun = parts._root() / "begun"  # another request is about to write about.json
    begun.mkdir()
    assert (sweep_uploads(), begun.exists()) == (0, True)
    later = timezone.now() + parts.KEPT + timedelta(minutes=1)
    monkeypatch.setattr(parts.clock, "now", lambda: later)
    assert (sweep_uploads(), list(parts.uploads())) == (5, [])


@pytest.mark.django_db(transaction=True)
def test_uploads_begun_at_the_same_time_are_counted_one_by_one(trained: Graph, owner: User, monkeypatch):
    seen, original = [], parts.uploads

    def counted():
        seen.append(connection.in_atomic_block)
        return original()

    monkeypatch.setattr(parts, "sweep_uploads", lambda: None)
    monkeypatch.setattr(parts, "uploads", counted)
    with CaptureQueriesContext(connection) as queries:
        create_upload(trained, owner, name="one", file_name="them.run", **OPTIONS)
    begun, locked = (next(n for n, q in enumerate(queries) if word in q["sql"]) for word in ("BEGIN", "auth_user"))
    assert seen == [True] and begun < locked


def test_a_dropped_upload_is_gone(town: Graph, owner: User):
    upload = create_upload(town, owner, name="a", file_name="x", **OPTIONS)
    drop(upload)
    with pytest.raises(UploadError, match="There is no such upload of yours"):
        get_upload(upload.id, owner)


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
    ended(upload, owner)
    assert [reason[:16] for _, reason in refused_uploads(pool.graph, owner)] == ["There is no pool"]


def test_a_name_that_was_taken_meanwhile_is_not_told_to_who_watches_jobs(trained: Graph, owner: User):
    upload = create_upload(trained, owner, name="secret", file_name="x", **OPTIONS)
    put(upload, 1, b"a")
    job = finish(upload, 1, owner)
    System.every.create(graph=trained, name="secret", kind="imported", private=True)
    execute(job.pk, "test")
    job.refresh_from_db()
    assert job.state == JobState.FAILED and "secret" not in job.error + job.log
    assert ["has a system secret already" in reason for _, reason in refused_uploads(trained, owner)] == [True]


# -- with a store: a machine is an artifact folder --------------------------------------------------------------


@pytest.mark.parametrize("kind", stores.KINDS[1:])
def test_parts_that_reach_several_web_machines_are_imported_by_a_worker(
    kind: str, pool: Pool, owner: User, settings, tmp_path: Path, monkeypatch
):
    content = b"".join(whole_run(get_run(pool.graph, "transe")))
    own = [row.artifact for row in (pool.graph, *(system.run for system in pool.graph.systems.all()))]
    stores.use(kind, settings, tmp_path, monkeypatch)
    for name in own:
        publish(name)
    web, other, worker = (tmp_path / name for name in ("web", "other", "worker"))
    settings.ARTIFACT_ROOT = web
    upload = create_upload(pool.graph, owner, name="large", file_name="them.run", **OPTIONS | {"pool": pool.name})
    put(upload, 1, content[:300])
    settings.ARTIFACT_ROOT = other
    again = get_upload(upload.id, owner)
    put(again, 2, b"x" * (len(content) - 300))
    put(again, 2, content[300:])  # sent again
    assert [one.id for one in parts.uploads()] == [upload.id]
    assert not (other / "run-uploads" / upload.id / "part-0001").exists()  # only a worker needs it
    settings.ARTIFACT_ROOT = web
    found = get_upload(upload.id, owner)
    assert [(part.number, part.bytes) for part in found.parts()] == [(1, 300), (2, len(content) - 300)]
    job = finish(found, 2, owner)
    settings.ARTIFACT_ROOT = worker
    assert execute(job.pk, "test")
    job.refresh_from_db()
    assert (job.state, job.error) == (JobState.DONE, "")
    settings.ARTIFACT_ROOT = other
    outcome = get_upload(upload.id, owner).outcome()
    assert outcome is not None and outcome.refused == "" and get_upload(upload.id, owner).parts() == []
    ours, theirs = read_ranks(get_run(pool.graph, "transe")), read_ranks(System.every.get(name="large").run)
    assert theirs.ranks.tolist() == ours.ranks.tolist()
    assert sorted(key.rpartition("/")[2] for key in stores.objects() if "uploads" in key) == [
        "about.json",
        "outcome.json",
    ]
    drop(get_upload(upload.id, owner))
    settings.ARTIFACT_ROOT = web
    with pytest.raises(UploadError):
        get_upload(upload.id, owner)
    assert [key for key in stores.objects() if "uploads" in key] == []


def test_a_part_that_is_here_is_not_fetched_again(pool: Pool, owner: User, settings, tmp_path, monkeypatch):
    stores.use("s3", settings, tmp_path, monkeypatch)
    upload = create_upload(pool.graph, owner, name="large", file_name="them.run", **OPTIONS)
    put(upload, 1, b"1")
    monkeypatch.setattr(bucket, "read", lambda key: pytest.fail("it is here"))
    parts.fetch_parts(upload)
    assert get_upload(upload.id, owner).parts() == upload.parts()


def test_what_is_over_is_swept_from_the_store(pool: Pool, owner: User, settings, tmp_path, monkeypatch):
    stores.use("file", settings, tmp_path, monkeypatch)
    upload = create_upload(pool.graph, owner, name="large", file_name="them.run", **OPTIONS)
    put(upload, 1, b"1")
    settings.ARTIFACT_ROOT = tmp_path / "other"
    later = timezone.now() + timedelta(hours=25)
    monkeypatch.setattr(parts.clock, "now", lambda: later)
    assert sweep_uploads() == 1 and stores.objects() == []
