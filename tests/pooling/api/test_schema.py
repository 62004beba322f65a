"""The OpenAPI document: complete, valid, and each operation says how it can fail."""

from __future__ import annotations

import re
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView

from config.proxies import read_proxies
from core.api import throttle
from core.api.schema import ERRORS
from core.api.views import Schema
from core.people.tokens import create_token, scopes_for

ID = "00000000-0000-0000-0000-000000000000"


def test_document_is_valid_without_a_warning(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GENERATOR_STATS.reset()
        call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yml"))


def test_every_operation_tells_its_errors_and_what_it_answers():
    document = SchemaGenerator().get_schema(public=True)
    wrong = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            told = set(operation["responses"])
            good = {code for code in told if code < "300"}
            if not set(ERRORS) <= told or not good or not operation.get("summary"):
                wrong.append((path, method))
            if (
                method == "post"
                and "requestBody" not in operation
                and not path.endswith(("cancel", "retry", "publish"))
            ):
                wrong.append((path, method, "no body"))
            said = f"{operation['summary']}. {operation.get('description', '')}"
            if any(word in said for word in ("subclass", "->", "GET", "POST")):
                wrong.append((path, method, "words for programmers of the site, or of another method"))
    assert wrong == []
    assert len(document["paths"]) >= 46


def test_summary_is_the_first_sentence_about_the_method():
    runs = SchemaGenerator().get_schema(public=True)["paths"]["/api/v1/graphs/{graph}/runs"]
    assert runs["get"]["summary"] == "The runs of a graph"
    assert runs["post"]["summary"] == "A run that was made elsewhere: it becomes a system without a model"


@pytest.mark.parametrize(
    ("accept", "kind"),
    [("application/json", "application/json"), ("*/*", "application/vnd.oai.openapi; charset=utf-8")],
)
def test_document_comes_as_yaml_or_json(world, sign_in, accept, kind):
    answer = sign_in("annotator").get("/api/v1/schema", headers={"Accept": accept})
    assert answer["Content-Type"] == kind
    assert b"/api/v1/pools/{pool}/evaluations" in answer.content


@pytest.mark.parametrize("accept", ["*/*", "application/json", "application/yaml"])
def test_errors_are_json_whatever_is_asked_for(world, sign_in, accept):
    client = sign_in("annotator")
    wrong = [
        Client().get("/api/v1/schema", headers={"Accept": accept, "Authorization": "Bearer tp_unknown"}),
        client.post("/api/v1/schema", headers={"Accept": accept}),
    ]
    told = [(answer.status_code, answer["Content-Type"], set(answer.json())) for answer in wrong]
    assert told == [(401, "application/json", {"error"}), (405, "application/json", {"error"})]


def test_document_is_open_and_reads_nothing_that_is_on_the_site(world):
    with CaptureQueriesContext(connection) as queries:
        answer = Client().get("/api/v1/schema")
    assert (answer.status_code, list(queries)) == (200, [])
    for name in ("town", "town-pool"):
        assert name.encode() not in answer.content


def test_who_is_not_signed_in_reads_the_document_sixty_times_a_minute(world, monkeypatch, settings):
    settings.TRUSTED_PROXIES = read_proxies("127.0.0.1")
    monkeypatch.setattr(throttle, "OPEN_RATE", "2/min")
    made_up = [{"X-Forwarded-For": f"9.9.9.{i}, 198.51.100.1"} for i in range(3)]  # the left one, by the client
    statuses = [Client(headers=one).get("/api/v1/schema").status_code for one in made_up]
    elsewhere = Client(REMOTE_ADDR="10.1.2.3").get("/api/v1/schema").status_code
    assert (statuses, elsewhere) == ([200, 200, 429], 200)


def test_every_operation_answers_413_as_it_says(world):
    token = create_token(world["manager"], "all", [scope.value for scope in scopes_for(world["manager"])], 1)[1]
    client = Client(headers={"Authorization": f"Bearer {token}"})
    seen = {}
    for path, methods in SchemaGenerator().get_schema(public=True)["paths"].items():
        url = re.sub(
            r"\{(\w+)\}", lambda m: {"export": "1", "job": "1", "label": ID, "upload": ID}.get(m[1], "town"), path
        )
        for method in methods:
            answer = client.generic(method.upper(), url, b"{}", CONTENT_LENGTH="200000000")
            seen[method, path] = (answer.status_code, set(answer.json()))
    assert seen == dict.fromkeys(seen, (413, {"error"})) and len(seen) > 40


def test_fields_beside_a_file_may_not_be_large(world, sign_in, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 3_000_000
    answer = sign_in("researcher").post("/api/v1/graphs/town/runs", {"system": "x" * 3_100_000})
    assert (answer.status_code, answer.json()) == (
        413,
        {"error": "What the form holds beside its file is too large: send at most 3 MB."},
    )


def test_document_is_written_by_one_thread_at_a_time(monkeypatch) -> None:
    """After a start, several who asked for it at once got 500: drf-spectacular was looking for other libraries."""
    writing, seen = [], []

    def write(*_: Any) -> None:
        writing.append(1)
        seen.append(len(writing))
        time.sleep(0.02)
        writing.pop()

    monkeypatch.setattr(SpectacularAPIView, "_get_schema_response", write)
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(lambda _: Schema()._get_schema_response(None), range(3)))
    assert seen == [1, 1, 1]
