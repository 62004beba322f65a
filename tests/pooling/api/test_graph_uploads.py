"""Graphs that are sent to the API: a preview first, other options, then the import."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from core.files.artifacts import artifact_path
from core.models import Job
from core.people.tokens import create_token
from pooling.layouts import uploads
from pooling.models import Graph

URL = "/api/v1/graph-uploads"
TRAIN = "r,a,b\nr,b,c\ns,c,a\ns,a,c\nr,b,a\ns,b,c\n"


@pytest.fixture
def script(world) -> Client:
    _, secret = create_token(world["manager"], "script", ["read", "manage"], 1)
    return Client(headers={"Authorization": f"Token {secret}"})


def send(script: Client, text: str = TRAIN, **options):
    return script.post(URL, {"files": [SimpleUploadedFile("graph.csv", text.encode())], **options})


def test_upload_answers_with_what_was_read(script: Client):
    sent = send(script, columns="rht", valid_share=0.2, test_share=0.2)
    assert sent.status_code == 201
    shown = sent.json()
    upload = shown.pop("upload")
    train = shown["splits"][0]
    assert {r for _, r, _ in train.pop("first")} <= {"r", "s"}
    assert train == {
        "split": "train",
        "file": "graph.csv (train)",
        "form": "separated by comma; columns relation, head, tail",
        "triples": 4,
    }
    shown["splits"] = [of["triples"] for of in shown["splits"]]
    assert shown == {
        "layout": "one file of triples",
        "drawn": ["valid", "test"],
        "splits": [4, 1, 1],
        "entities": 3,
        "relations": 2,
        "beside": [],
        "link_pattern": "",
        "ignored": [],
        "num_ignored": 0,
        "warnings": [
            "3 of 3 entities have no label: people would read names such as a. To change that, add entity_labels.tsv"
            " (a line for each entity: its name here, a tab, its label).",
            "2 of 2 relations have no readable name or label, such as r: a campaign opens only when somebody has"
            " written their questions. Add relation_labels.tsv, or write the questions later.",
        ],
    }
    assert [path.name for path in artifact_path("uploads").iterdir()] == [upload]
    assert Graph.objects.count() == 1


def test_other_options_give_another_preview_and_the_import_has_its_own(script: Client):
    shares = {"valid_share": 0.2, "test_share": 0.2}
    upload = send(script, **shares).json()["upload"]
    kind = {"content_type": "application/json"}
    again = script.post(f"{URL}/{upload}/preview", {"columns": "rht", **shares}, **kind).json()
    assert (again["upload"], again["relations"]) == (upload, 2)
    done = script.post(f"{URL}/{upload}/import", {"name": "mine", "columns": "rht", **shares}, **kind)
    assert done.status_code == 201 and done.json()["job"] is None
    assert done.json()["graph"] == script.get("/api/v1/graphs/mine").json()
    assert done.json()["graph"]["num_train"] == 4
    assert script.post(f"{URL}/{upload}/preview", {}, **kind).status_code == 404


def test_larger_graph_is_a_job(script: Client, monkeypatch):
    monkeypatch.setattr(uploads, "AT_ONCE", 5)
    upload = send(script, valid_share=0.2, test_share=0.2).json()["upload"]
    done = script.post(f"{URL}/{upload}/import", {"name": "mine"}, content_type="application/json")
    assert done.status_code == 202 and done.json()["graph"] is None
    job = Job.objects.latest("pk")
    assert (done.json()["job"]["id"], done.json()["job"]["kind"]) == (job.pk, "import-graph")


def test_what_cannot_be_read_is_refused_and_not_kept(script: Client):
    refused = send(script, "a,b\nb,c\n")
    assert (refused.status_code, refused.json()) == (
        400,
        {"error": "graph.csv: 2 columns, separated by comma: triples need three."},
    )
    assert list(artifact_path("uploads").iterdir()) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,r,b,2014-01-01\nb,r,c,2014-01-02\n", "leave times out with `ignore_time`."),
        ("a,r,b,q,v\nb,r,c,q,w\n", "leave qualifiers out with `drop_qualifiers`, or give three columns."),
    ],
)
def test_refusals_name_parameters_of_the_api(script: Client, text: str, said: str):
    refused = send(script, text).json()["error"]
    assert refused.endswith(said) and "--" not in refused


def test_warnings_name_parameters_of_the_api(script: Client):
    told = " ".join(send(script, f"kopf,art,ziel\n{TRAIN}", valid_share=0.2, test_share=0.2).json()["warnings"])
    assert "set `header` to yes" in told and "--" not in told


def test_what_grows_too_large_is_413(script: Client, monkeypatch):
    monkeypatch.setattr(uploads, "MOST_BYTES", 20)
    refused = send(script)
    assert refused.status_code == 413 and "at most 20 can be sent here" in refused.json()["error"]


@pytest.mark.parametrize(
    ("options", "field"),
    [({"columns": "xyz"}, "columns"), ({"link_pattern": "ftp://a.org/{id}"}, "link_pattern"), ({"seed": -1}, "seed")],
)
def test_option_that_cannot_be_is_named(script: Client, options: dict, field: str):
    refused = send(script, **options)
    assert refused.status_code == 400 and set(refused.json()["fields"]) == {field}


def test_name_that_is_taken_is_refused_and_the_files_stay(script: Client):
    shares = {"valid_share": 0.2, "test_share": 0.2}
    upload = send(script, **shares).json()["upload"]
    refused = script.post(f"{URL}/{upload}/import", {"name": "town", **shares}, content_type="application/json")
    assert refused.status_code == 400 and "There is a graph town already" in refused.json()["error"]
    assert script.post(f"{URL}/{upload}/preview", shares, content_type="application/json").status_code == 200
