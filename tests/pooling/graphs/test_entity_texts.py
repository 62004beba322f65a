"""Descriptions, aliases, links and relation labels: kept with the graph, checked, and absent from older graphs."""

import json
from pathlib import Path

import pytest
from django.conf import settings

from core.files.artifacts import sha256_of
from pooling.graphs.entity_texts import EntityText, link_of, link_problem, pattern_problem
from pooling.graphs.imports import import_graph
from pooling.graphs.opening import entity_texts, open_graph
from pooling.graphs.source_data import GraphError
from pooling.graphs.tsv import read_tsv
from pooling.layouts.layout import LayoutOptions
from pooling.layouts.recognise import read_layout
from pooling.models import Graph

TRIPLES = {
    "train.tsv": "Q1\tP1\tQ2\nQ2\tP1\tQ3\nQ3\tP2\tQ1\nQ1\tP2\tQ3\n",
    "valid.tsv": "Q1\tP1\tQ3\n",
    "test.tsv": "Q2\tP2\tQ1\n",
}
TEXTS = {
    "relation_labels.tsv": "P1\tlocated in\n",
    "entity_descriptions.tsv": "Q1\ta city on a river\nQ9\tnowhere\n",
    "entity_aliases.tsv": "Q1\tOld Town\nQ1\tThe City\nQ1\tOld Town\nQ2\tSecond\n",
    "entity_links.tsv": "Q3\thttps://example.org/three\n",
}
WIKIDATA = "https://www.wikidata.org/wiki/{id}"


def write(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def imported(tmp_path: Path, files: dict[str, str], pattern: str = "") -> Graph:
    reading = read_layout(write(tmp_path / "source", files), LayoutOptions(link_pattern=pattern))
    return import_graph("g", reading.source_data(), options={})


@pytest.mark.django_db
def test_texts_come_back_by_entity_and_relation(tmp_path):
    graph = imported(tmp_path, {**TRIPLES, **TEXTS})
    arrays, texts = open_graph(graph), entity_texts(graph)
    q1, q2, q3 = (arrays.entity_index[key] for key in ("Q1", "Q2", "Q3"))
    assert texts[q1] == EntityText("a city on a river", ("Old Town", "The City"), "")
    assert texts[q2] == EntityText("", ("Second",), "")
    assert texts[q3] == EntityText("", (), "https://example.org/three")
    assert [entity for entity, _ in texts.given()] == sorted((q1, q2, q3))
    assert [arrays.relation_name(r) for r in range(2)] == ["located in", "P2"]
    assert {row.key: row.name for row in graph.relations.all()} == {"P1": "located in", "P2": "P2"}
    assert [entry["message"] for entry in graph.report if entry["kind"] == "unknown-entities"] == [
        "1 line of entity_descriptions.tsv on an entity that no triple has; ignored."
    ]


@pytest.mark.django_db
def test_texts_read_from_a_plain_folder_too(tmp_path):
    graph = import_graph("g", read_tsv(write(tmp_path / "source", {**TRIPLES, **TEXTS})), options={})
    assert entity_texts(graph)[open_graph(graph).entity_index["Q1"]].aliases == ("Old Town", "The City")


@pytest.mark.django_db
def test_pattern_links_entities_without_a_link_of_their_own(tmp_path):
    graph = imported(tmp_path, {**TRIPLES, **TEXTS}, WIKIDATA)
    index, texts = open_graph(graph).entity_index, entity_texts(graph)
    assert texts[index["Q2"]].link == "https://www.wikidata.org/wiki/Q2"
    assert texts[index["Q3"]].link == "https://example.org/three"
    assert dict(texts.given())[index["Q2"]].link == ""


@pytest.mark.django_db
def test_graph_without_texts_has_the_files_it_always_had(tmp_path):
    graph = imported(tmp_path, TRIPLES)
    folder = settings.ARTIFACT_ROOT / graph.artifact
    assert sorted(path.name for path in folder.iterdir()) == [
        "entities.parquet", "graph.json", "relations.parquet", "triples.npz",
    ]  # fmt: skip
    assert "link_pattern" not in json.loads((folder / "graph.json").read_text())
    assert open_graph(graph).relation_labels == []
    assert entity_texts(graph)[0] == EntityText() and list(entity_texts(graph).given()) == []


@pytest.mark.django_db
def test_changed_file_of_texts_is_refused(tmp_path):
    graph = imported(tmp_path, {**TRIPLES, **TEXTS})
    file = settings.ARTIFACT_ROOT / graph.artifact / "entity_texts.parquet"
    index = json.loads((file.parent / "graph.json").read_text())
    assert index["files"]["entity_texts.parquet"] == sha256_of(file)
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(GraphError, match="The texts of graph g cannot be opened"):
        entity_texts(graph)


@pytest.mark.django_db
def test_links_that_cannot_be_shown_are_refused_with_their_lines(tmp_path):
    bad = "Q1\tjavascript:alert(1)\nQ2\thttps://ok.org/\nQ3\thttps://me@bank.org/\n"
    with pytest.raises(GraphError) as caught:
        imported(tmp_path, {**TRIPLES, "entity_links.tsv": bad})
    assert str(caught.value).split("\n") == [
        "entity_links.tsv:1: the link javascript:alert(1) does not begin with https:// or http://: correct the line or"
        " remove it.",
        "entity_links.tsv:3: the link https://me@bank.org/ has a user name in its host: correct the line or remove it.",
    ]
    assert not Graph.objects.exists()


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("https://example.org/a?b=c#d", ""),
        ("http://example.org", ""),
        ("//example.org/", "does not begin with https:// or http://"),
        ("data:text/html,x", "does not begin with https:// or http://"),
        ("https:///path", "has no host name"),
        ("https://a b.org/", "has a space, a backslash or a control character"),
        ("https://a.org\\@b.org/", "has a space, a backslash or a control character"),
        ("https://[1/", "is not a web address"),
        ("https://a.org:x/", "is not a web address"),
        ("https://a.org/" + "x" * 2000, "has 2,014 characters, more than 2,000"),
    ],
)
def test_link_problem(link: str, problem: str):
    assert link_problem(link) == problem


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        (WIKIDATA, ""),
        ("{id}", ""),
        ("https://a.org/", "needs {id} once, where the id of the entity goes"),
        ("https://a.org/{id}/{id}", "needs {id} once, where the id of the entity goes"),
        ("https://{id}.a.org/", "has {id} in its host: put it after the host"),
        ("ftp://a.org/{id}", "does not begin with https:// or http://"),
    ],
)
def test_pattern_problem(pattern: str, problem: str):
    assert pattern_problem(pattern) == problem


def test_link_of_a_pattern_quotes_the_id():
    assert link_of(WIKIDATA, 'Q1"><b>?x#') == "https://www.wikidata.org/wiki/Q1%22%3E%3Cb%3E%3Fx%23"
    assert link_of("https://g.co/kg{id}", "/m/0abc") == "https://g.co/kg/m/0abc"
    assert link_of("{id}", "http://a.org/b") == "http://a.org/b"
    assert link_of("{id}", "javascript:alert(1)") == ""


def test_pattern_that_cannot_be_taken_is_refused_before_files_are_read(tmp_path):
    with pytest.raises(GraphError, match=r"The link pattern https://a.org/ needs \{id\} once"):
        read_layout(write(tmp_path / "source", TRIPLES), LayoutOptions(link_pattern="https://a.org/"))
