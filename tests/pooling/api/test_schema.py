"""The OpenAPI document: complete, valid, and each operation says how it can fail."""

from __future__ import annotations

import warnings

import pytest
from django.core.management import call_command
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator

from core.api.schema import ERRORS


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
            if method == "post" and "requestBody" not in operation and not path.endswith(("cancel", "retry")):
                wrong.append((path, method, "no body"))
            said = f"{operation['summary']}. {operation.get('description', '')}"
            if any(word in said for word in ("subclass", "->", "GET", "POST")):
                wrong.append((path, method, "words for programmers of the site, or of another method"))
    assert wrong == []
    assert len(document["paths"]) == 39


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
        Client().get("/api/v1/schema", headers={"Accept": accept}),
        client.post("/api/v1/schema", headers={"Accept": accept}),
    ]
    told = [(answer.status_code, answer["Content-Type"], set(answer.json())) for answer in wrong]
    assert told == [(401, "application/json", {"error"}), (405, "application/json", {"error"})]
