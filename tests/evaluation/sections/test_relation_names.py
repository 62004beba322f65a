"""Labels of relations: pages, commands and charts show them, CSV keeps the keys."""

from __future__ import annotations

import csv
from dataclasses import asdict

import pytest
from django.test import Client

from evaluation.analyses.relations import ANALYSIS as RELATIONS
from evaluation.open_world.sections import ANALYSIS as OPEN_WORLD
from evaluation.planning.sections import ANALYSIS as PLANNING
from evaluation.sections.cell_text import cell_text
from evaluation.sections.csv_text import csv_text
from evaluation.sections.relation_names import named_relations, relation_axis
from evaluation.sections.section import Analysis, Column, Table
from evaluation.templatetags.cells import cell
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from tests.evaluation.cases import context_of, sections_of
from tests.factories import make_person


def label_of(key: str) -> str:
    return f"has <{key}>"


@pytest.fixture
def with_labels(labelled: Pool, monkeypatch: pytest.MonkeyPatch) -> Pool:
    monkeypatch.setattr(GraphArrays, "relation_name", lambda graph, relation: label_of(graph.relations[relation]))
    return labelled


def test_label_is_shown_with_its_key_on_hover_and_files_keep_the_key(with_labels: Pool):
    graph = open_graph(with_labels.graph)
    key = graph.relations[1]
    columns = [Column("relation", "Relation", "text"), Column("n", "n", "count")]
    table = named_relations(Table("t", "T", columns, [["all relations", 3], [key, 2]]), graph)
    assert table.rows == [["all relations", 3], [{"value": key, "label": label_of(key)}, 2]]
    shown = table.rows[1][0]
    assert cell(shown, "text") == f'<span title="{key}">has &lt;{key}&gt;</span>'
    assert cell_text(shown, "text") == label_of(key)
    assert list(csv.reader(csv_text(asdict(table)).splitlines())) == [
        ["relation", "n"],
        ["all relations", "3"],
        [key, "2"],
    ]
    axis = relation_axis([1], graph)
    assert (axis["tickvals"], axis["ticktext"]) == ([key], [label_of(key)])


def test_graph_without_labels_has_plain_keys(labelled: Pool):
    graph = open_graph(labelled.graph)
    table = Table("t", "T", [Column("relation", "Relation", "text")], [[key] for key in graph.relations])
    assert named_relations(table, graph).rows == [[key] for key in graph.relations]


@pytest.mark.parametrize(
    ("analysis", "tables"),
    [
        (RELATIONS, {"by-relation-labels", "by-relation-against", "shares"}),
        (PLANNING, {"relations-next", "yield-relations"}),
        (OPEN_WORLD, {"share"}),
    ],
    ids=["relations", "planning", "open-world"],
)
def test_tables_of_relations_show_labels(with_labels: Pool, analysis: Analysis, tables: set[str]):
    sections = sections_of(analysis, context_of(with_labels))
    keys = set(open_graph(with_labels.graph).relations)
    found = {table.key: table for section in sections.values() for table in section.tables}
    assert tables <= found.keys()
    named = {
        key
        for key, table in found.items()
        if any(isinstance(row[0], dict) and row[0].get("label") == label_of(str(row[0]["value"])) for row in table.rows)
    }
    assert named == tables
    assert not [
        key for key, table in found.items() if any(row[0] in keys for row in table.rows if isinstance(row[0], str))
    ]


def test_page_of_seeds_shows_labels_and_its_csv_keys(with_labels: Pool, client: Client):
    client.force_login(make_person("boss", "manager"))
    key = open_graph(with_labels.graph).relations[0]
    html = client.get(f"/pools/{with_labels.name}/seeds").content.decode()
    assert f'<th scope="row" title="{key}">has &lt;{key}&gt;</th>' in html
    assert f"\n{key}," in client.get(f"/pools/{with_labels.name}/seeds.csv").content.decode().replace("\r", "")
