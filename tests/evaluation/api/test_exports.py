"""Test sets by the API: asked for, polled, taken away whole or taken up where a download broke off."""

from __future__ import annotations

import hashlib
import urllib.request

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from core.files.storage import delete
from core.models import Job
from evaluation.api import test_sets as exports
from evaluation.keeping.removal import remove
from evaluation.labels.qrels import freeze_qrels
from evaluation.models import Export, Qrels
from evaluation.test_sets.export import request_export, write_zip
from evaluation.test_sets.files import ExportOptions
from pooling.models import Pool
from tests import stores

URL = "/api/v1/pools/p/exports"


@pytest.fixture
def qrels(labelled: Pool) -> Qrels:
    return freeze_qrels(labelled, "v1")


def written(qrels: Qrels, **options: bool) -> Export:
    export, _ = request_export(qrels, ExportOptions(**options), None)
    write_zip(export)
    return export


def test_asked_for_written_and_taken_away(sign_in, qrels: Qrels):
    researcher = sign_in("researcher")
    asked = researcher.post(URL, {"qrels": "v1", "strict": True}, content_type="application/json")
    job, export = Job.objects.get(kind="export"), Export.objects.get()
    assert asked.status_code == 202
    assert (asked.json()["job"]["id"], asked.json()["export"]["id"]) == (job.pk, export.pk)
    one = f"/api/v1/exports/{export.pk}"
    before = researcher.get(one).json()
    assert (before["is_written"], before["download"], before["strict"]) == (False, None, True)
    early = researcher.get(f"{one}/download")
    assert (early.status_code, early.json()) == (
        409,
        {"error": "This zip file is not written: wait for its job, or ask for it again."},
    )
    write_zip(export)
    after = researcher.get(one).json()
    assert (after["is_written"], after["download"]) == (True, f"http://testserver{one}/download")
    content = b"".join(researcher.get(after["download"]).streaming_content)
    assert (len(content), hashlib.sha256(content).hexdigest()) == (after["num_bytes"], after["sha256"])
    again = researcher.post(URL, {"qrels": "v1", "strict": True}, content_type="application/json")
    assert (again.status_code, again.json()) == (200, {"export": after, "job": None})


def test_a_pool_that_is_deleted_at_that_moment_is_not_found(sign_in, qrels: Qrels, monkeypatch):
    def gone_meanwhile(*asked):
        remove(qrels.pool, None, with_labels=True)
        return request_export(*asked)

    monkeypatch.setattr(exports, "request_export", gone_meanwhile)
    answer = sign_in("researcher").post(URL, {"qrels": "v1"}, content_type="application/json")
    assert (answer.status_code, answer.json()) == (
        404,
        {"error": "Pool p was deleted in the meantime, so nothing was changed."},
    )


def test_download_is_taken_up_where_it_broke_off(sign_in, qrels: Qrels):
    export = written(qrels)
    researcher, url = sign_in("researcher"), f"/api/v1/exports/{export.pk}/download"
    whole = researcher.get(url)
    content = b"".join(whole.streaming_content)
    rest = researcher.get(url, headers={"Range": "bytes=1000-", "If-Range": whole["ETag"]})
    assert (rest.status_code, b"".join(rest.streaming_content)) == (206, content[1000:])
    assert rest["Content-Range"] == f"bytes 1000-{len(content) - 1}/{len(content)}"
    changed = researcher.get(url, headers={"Range": "bytes=1000-", "If-Range": '"another"'})
    assert (changed.status_code, b"".join(changed.streaming_content)) == (200, content)
    assert researcher.get(url, headers={"Range": f"bytes={len(content)}-"}).status_code == 416
    assert researcher.get(url, headers={"If-None-Match": whole["ETag"]}).status_code == 304
    assert researcher.get(url, headers={"Accept": "application/zip"}).status_code == 200


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "qrels: This field is required."),
        ({"qrels": "none"}, "Pool p has no qrels 'none'. Qrels: v1."),
        ({"qrels": "a b 'ü'\""}, "Pool p has no qrels"),
        ({"qrels": "v1", "strict": "perhaps"}, "strict: Must be a valid boolean."),
        ([], "Invalid data. Expected a dictionary, but got list."),
    ],
)
def test_what_cannot_be_exported_is_said(sign_in, qrels: Qrels, body, words):
    answer = sign_in("researcher").post(URL, body, content_type="application/json")
    assert answer.status_code == 400 and words in answer.json()["error"]
    assert not Export.objects.exists()


def test_list_and_its_queries(sign_in, qrels: Qrels):
    researcher = sign_in("researcher")

    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            assert researcher.get(URL).status_code == 200
        return len(found)

    written(qrels)
    few = queries()
    written(qrels, strict=True)
    written(freeze_qrels(qrels.pool, "v2"))
    assert queries() == few
    rows = researcher.get(URL).json()["results"]
    assert [(row["qrels"], row["strict"]) for row in rows] == [("v2", False), ("v1", True), ("v1", False)]
    assert [row["qrels"] for row in researcher.get(URL, {"qrels": "v2"}).json()["results"]] == ["v2"]


@pytest.mark.parametrize("kind", stores.KINDS[1:])
def test_a_test_set_in_a_store_is_fetched_there_after_the_site_was_asked(
    client, sign_in, qrels: Qrels, kind: str, settings, tmp_path, monkeypatch
):
    stores.use(kind, settings, tmp_path, monkeypatch)
    export = written(qrels)
    places = [reverse("export-download", args=["p", "v1", export.pk]), f"/api/v1/exports/{export.pk}/download"]
    assert all(client.get(place).status_code in (302, 401) for place in places)
    assert not any("X-Amz" in client.get(place).headers.get("Location", "") for place in places)
    settings.ARTIFACT_ROOT = tmp_path / "web"
    researcher = sign_in("researcher")
    for place in places:
        answer = researcher.get(place)
        if kind == "s3":
            assert answer.status_code == 302
            with urllib.request.urlopen(answer["Location"]) as sent:
                content, named = sent.read(), sent.headers["Content-Disposition"]
            assert not (tmp_path / "web" / export.artifact).exists()
        else:
            content, named = b"".join(answer.streaming_content), answer["Content-Disposition"]
        assert hashlib.sha256(content).hexdigest() == export.sha256
        assert named == 'attachment; filename="p-v1.zip"'
    assert researcher.get(f"/api/v1/exports/{export.pk}").json()["is_written"]


def test_a_test_set_that_the_store_has_lost_is_written_again(sign_in, qrels: Qrels, settings, tmp_path, monkeypatch):
    stores.use("s3", settings, tmp_path, monkeypatch)
    export = written(qrels)
    delete(export.artifact)
    researcher = sign_in("researcher")
    assert researcher.get(f"/api/v1/exports/{export.pk}/download").status_code == 409
    asked = researcher.post(URL, {"qrels": "v1"}, content_type="application/json")
    assert (asked.status_code, asked.json()["job"] is None) == (202, False)
    before = export.sha256
    write_zip(export)
    assert export.sha256 == before and researcher.get(f"/api/v1/exports/{export.pk}/download").status_code == 302
