"""Qrels by the API: frozen and imported by managers, read by researchers."""

from __future__ import annotations

import gzip

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evaluation.labels.qrels import freeze_qrels
from evaluation.models import Qrels
from evaluation.test_sets.trec import trec_lists
from pooling.models import Pool
from tests.factories import names_of

URL, IMPORT = "/api/v1/pools/p/qrels", "/api/v1/pools/p/imported-qrels"


def judged(pool: Pool, label: str = "Y") -> bytes:
    triple = pool.triples.order_by("pk").values_list("head", "relation", "tail").first()
    return "\t".join([*names_of(pool.graph, triple), label]).encode() + b"\n"


def file(content: bytes, name: str = "their.tsv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def test_frozen_by_a_manager_read_by_a_researcher(sign_in, labelled: Pool):
    body = {"name": "v1", "licence": "CC-BY-4.0"}
    made = sign_in("manager").post(URL, body, content_type="application/json")
    qrels = Qrels.objects.get()
    assert made.status_code == 201
    assert made.json() | {"created_at": "", "systems": []} == {
        "pool": "p",
        "name": "v1",
        "origin": "frozen",
        "num_positive": qrels.num_positive,
        "num_negative": qrels.num_negative,
        "num_assumed_negative": qrels.num_assumed_negative,
        "num_unjudged": qrels.num_unjudged,
        "notes": [],
        "licence": "CC-BY-4.0",
        "citation": "",
        "creators": [],
        "url": "",
        "terms_version": 1,
        "systems": [],
        "sha256": qrels.sha256,
        "created_at": "",
        "created_by": "manager",
    }
    researcher = sign_in("researcher")
    assert researcher.get(f"{URL}/v1").json() == made.json()
    assert researcher.get(URL).json()["results"] == [made.json()]
    assert researcher.get(URL, {"origin": "imported"}).json()["results"] == []


def test_a_researcher_who_is_signed_in_freezes_nothing(sign_in, labelled: Pool):
    """Without a token, whose scopes would refuse it before."""
    answer = sign_in("researcher").post(URL, {"name": "v1"}, content_type="application/json")
    assert (answer.status_code, Qrels.objects.exists()) == (403, False)


def test_names_are_used_once_and_checked(sign_in, labelled: Pool):
    freeze_qrels(labelled, "v1")
    manager = sign_in("manager")
    for name, words in (
        ("v1", "Pool p has qrels 'v1' already; frozen qrels never change: choose a new name."),
        ("a b", 'name: Enter a valid "slug"'),
        ("", "name: This field may not be blank."),
        ("x" * 81, "name: Ensure this field has no more than 80 characters."),
    ):
        answer = manager.post(URL, {"name": name}, content_type="application/json")
        assert answer.status_code == 400 and words in answer.json()["error"]
    assert Qrels.objects.count() == 1


def test_a_licence_that_spdx_does_not_know_is_refused(sign_in, labelled: Pool):
    body = {"name": "v1", "licence": "MIT License"}
    answer = sign_in("manager").post(URL, body, content_type="application/json")
    assert (answer.status_code, "Did you mean MIT?" in answer.json()["error"]) == (400, True)
    assert not Qrels.objects.exists()


def test_terms_are_edited_by_a_manager_and_read_by_a_researcher(sign_in, labelled: Pool):
    qrels = freeze_qrels(labelled, "v1", licence="MIT", citation="Ada, 2026")
    ada = {"name": "Lovelace, Ada", "orcid": "0000-0002-1825-0097"}
    body = {"licence": "cc0-1.0", "creators": [ada], "changed": "A licence"}
    manager, researcher = sign_in("manager"), sign_in("researcher")
    assert researcher.post(f"{URL}/v1/terms", body, content_type="application/json").status_code == 403
    made = manager.post(f"{URL}/v1/terms", body, content_type="application/json")
    assert (made.status_code, made.json() | {"created_at": ""}) == (201, {
        "version": 2, "licence": "CC0-1.0", "citation": "Ada, 2026", "creators": [ada], "url": "",
        "changed": "A licence", "created_at": "", "created_by": "manager",
    })  # fmt: skip
    found = researcher.get(f"{URL}/v1/terms").json()["results"]
    assert [one["version"] for one in found] == [2, 1] and found[0] == made.json()
    now = researcher.get(f"{URL}/v1").json()
    assert (now["licence"], now["creators"], now["terms_version"]) == ("CC0-1.0", [ada], 2)
    again = manager.post(f"{URL}/v1/terms", body, content_type="application/json")
    assert (again.status_code, qrels.terms.count()) == (400, 2)
    assert researcher.get(f"{URL}/v2/terms").status_code == 404


@pytest.mark.parametrize("packed", [False, True])
def test_imported_by_a_manager(sign_in, labelled: Pool, packed):
    content = judged(labelled)
    sent = {"name": "theirs", "file": file(gzip.compress(content) if packed else content)}
    made = sign_in("manager").post(IMPORT, sent).json()
    assert (made["name"], made["origin"]) == ("theirs", "imported")
    assert made["notes"] == Qrels.objects.get().notes and len(made["notes"]) == 2


@pytest.mark.parametrize(("threshold", "positive"), [(2, 1), (3, 0)])
def test_grades_by_the_api(sign_in, labelled: Pool, threshold: int, positive: int):
    sent = {"name": "theirs", "threshold": threshold, "file": file(judged(labelled, "2"))}
    made = sign_in("manager").post(IMPORT, sent).json()
    assert made["num_positive"] - labelled.seeds.count() == positive


def test_what_is_no_qrels_is_refused_whole(sign_in, labelled: Pool):
    manager = sign_in("manager")
    good = judged(labelled)
    for content, status, words in (
        (b"a\tb\n", 400, "their.tsv:1: has 2 columns"),
        (judged(labelled, "maybe"), 400, "label 'maybe' is not one of"),
        (good + judged(labelled, "N"), 400, "their.tsv:2: says negative of the triple"),
        ("näme\tx\ty\tY\n".encode(), 400, "their.tsv:1: the graph does not have head 'näme'"),
        (good + b"\xff\n", 400, "is not UTF-8"),
        (gzip.compress(b"\0" * 300_000_000, 1), 413, "unpacks to more than 100 times its size"),
        (gzip.compress(good)[:-5], 400, "is a damaged .gz file"),
        (b"x" * 20_200_000, 413, "send at most 20 MB"),
    ):
        answer = manager.post(IMPORT, {"name": "theirs", "file": file(content)})
        assert (answer.status_code, words in answer.json()["error"]) == (status, True), answer.json()
    assert not Qrels.objects.exists()


def test_queries_do_not_grow_with_the_page(sign_in, labelled: Pool):
    researcher = sign_in("researcher")

    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            assert researcher.get(URL).status_code == 200
        return len(found)

    freeze_qrels(labelled, "v1")
    few = queries()
    freeze_qrels(labelled, "v2")
    freeze_qrels(labelled, "v3")
    assert queries() == few


def test_trec_lists_are_those_of_the_page(sign_in, labelled: Pool):
    researcher = sign_in("researcher")
    for name in trec_lists(labelled):
        url = f"/api/v1/pools/p/trec/{name}"
        answer = researcher.get(url, headers={"Accept": "text/plain"})
        page = researcher.get(f"/pools/p/export/trec/{name}")
        assert b"".join(answer.streaming_content) == b"".join(page.streaming_content)
        assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert researcher.get("/api/v1/pools/p/trec/runs").status_code == 404
