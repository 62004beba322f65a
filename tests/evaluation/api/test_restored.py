"""An exported test set comes back by the API: for managers, whole or not at all."""

from __future__ import annotations

import io
import json
import zipfile
from importlib.metadata import PackageNotFoundError

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from core.files.artifacts import artifact_path
from evaluation.labels.qrels import freeze_qrels
from evaluation.models import Export, Qrels
from evaluation.sections.metrics import metrics
from evaluation.test_sets import restore
from evaluation.test_sets.export import request_export, write_zip, zip_path
from evaluation.test_sets.files import ExportOptions
from pooling.models import Graph, Pool, Run

URL = "/api/v1/test-sets"


@pytest.fixture
def content(labelled: Pool) -> bytes:
    """The zip file of a test set that this site has."""
    export, _ = request_export(freeze_qrels(labelled, "v1"), ExportOptions(), None)
    write_zip(export)
    path = zip_path(Export.objects.get())
    assert path is not None
    return path.read_bytes()


def send(client: Client, content: bytes, **names: str):
    return client.post(URL, {"archive": SimpleUploadedFile("mine.zip", content), **names})


def test_a_manager_sends_what_an_export_is(sign_in, content: bytes):
    made = send(sign_in("manager"), content, pool="q", graph="other")
    first, back = Qrels.objects.get(pool__name="p"), Qrels.objects.get(pool__name="q")
    assert made.status_code == 201
    assert made.json() == sign_in("researcher").get("/api/v1/pools/q/qrels/v1").json()
    assert (made.json()["origin"], made.json()["created_by"]) == ("frozen", "manager")
    assert back.pool.graph.name == "other"
    assert (
        metrics(back.pool, "qrels:v1", ["micro_mrr", "bpref"])["systems"]
        == (metrics(first.pool, "qrels:v1", ["micro_mrr", "bpref"])["systems"])
    )


def test_a_graph_with_the_same_triples_is_used_unless_it_has_the_systems(sign_in, content: bytes):
    manager = sign_in("manager")
    taken = send(manager, content, pool="q")
    told = "Graph town already has systems complex, distmult, transe, and a graph has one run of each name."
    assert taken.status_code == 400 and taken.json()["error"].startswith(told)
    export, _ = request_export(Qrels.objects.get(), ExportOptions(with_runs=False), None)
    write_zip(export)
    assert (path := zip_path(export)) and send(manager, path.read_bytes(), pool="q").status_code == 201
    assert (Graph.objects.count(), Pool.objects.count()) == (1, 2)


def test_a_site_without_torch_takes_it_and_writes_the_report(sign_in, content: bytes, monkeypatch):
    """As after `pip install triplepool[site]`, which has no part that trains."""

    def version(name: str) -> str:
        if name in ("torch", "pykeen"):
            raise PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr("core.libraries.version", version)
    manager = sign_in("manager")
    assert send(manager, content, pool="q", graph="other").status_code == 201
    run = artifact_path(Run.objects.filter(system__graph__name="other")[0].artifact) / "run.json"
    assert json.loads(run.read_text())["libraries"] == {"numpy": "1.0"}
    report = manager.get("/pools/q/evaluation/report/download")
    said = b"".join(report) if report.streaming else report.content
    assert report.status_code == 200 and b"numpy 1.0, scipy 1.0, Django 1.0." in said


def test_a_researcher_sends_none(sign_in, content: bytes):
    assert send(sign_in("researcher"), content, pool="q").status_code == 403
    assert Pool.objects.count() == 1


def bomb() -> bytes:
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("train.tsv", b"\0" * 100_000)
    return kept.getvalue()


@pytest.mark.parametrize(
    ("sent", "names", "status", "words"),
    [
        (None, {}, 400, "There is a pool 'p' already"),
        (None, {"pool": "a b"}, 400, 'pool: Enter a valid "slug"'),
        (None, {"pool": "new"}, 400, "choose another name"),
        (b"x", {}, 400, "mine.zip is neither a folder nor a zip file"),
        (b"", {}, 400, "archive: The submitted file is empty."),
        (b"x" * 20_200_000, {}, 413, "send at most 20 MB"),
        (bomb(), {}, 413, "mine.zip has more than 99,999 bytes when it is unpacked"),
    ],
)
def test_what_cannot_be_taken_is_said(sign_in, content: bytes, monkeypatch, sent, names, status: int, words: str):
    if status == 413:
        monkeypatch.setattr(restore, "MOST_SENT_BYTES", 99_999)
    answer = send(sign_in("manager"), content if sent is None else sent, **names)
    assert (answer.status_code, words in answer.json()["error"]) == (status, True), answer.json()
    assert (Graph.objects.count(), Pool.objects.count(), Qrels.objects.count()) == (1, 1, 1)


def test_without_a_file_it_asks_for_one(sign_in):
    answer = sign_in("manager").post(URL, {})
    assert (answer.status_code, answer.json()["error"]) == (400, "archive: No file was submitted.")
