"""Who found what: counts, shares for the charts, families, CSV."""

from __future__ import annotations

import json
import re

import pytest

from tests.pages.world import make_pool, make_system
from tests.pooling.views.test_pools import rows


@pytest.fixture
def shared(graph):
    """Seven triples that rotate found, of which distmult found six."""
    systems = [make_system(graph, name) for name in ("rotate", "distmult")]
    pool = make_pool(graph, systems=systems)
    first = pool.triples.first()
    first.provenance = first.provenance[:4]
    first.save()
    return pool


def test_tables_count_what_systems_share_and_what_is_theirs_alone(shared, manager):
    html = manager.get("/pools/town-pool/overlap").content.decode()
    together, _, rest = html.partition('id="only-title"')
    alone, _, families = rest.partition("Families of systems")
    assert rows(together) == [["7", "6", "1"], ["6", "6", "0"]]
    assert rows(alone) == [["7", "1", "14.3 %"], ["6", "0", "0.0 %"]]
    assert rows(families) == [["7", "1", "rotate"], ["6", "0", "distmult"]]


def test_charts_have_shares_of_the_row_and_counts(shared, manager):
    html = manager.get("/pools/town-pool/overlap").content.decode()
    data = re.search(r'<script id="chart-data" type="application/json">(.*?)</script>', html, re.S)
    matrix, bars = json.loads(data[1])
    assert (matrix["key"], matrix["kind"], matrix["data"]["range"]) == ("overlap", "matrix", [0, 1])
    assert matrix["data"]["rows"] == matrix["data"]["columns"] == ["rotate", "distmult"]
    assert matrix["data"]["values"] == [[1, 6 / 7], [1, 1]]
    assert (bars["key"], bars["kind"]) == ("only-it", "bars")
    assert bars["data"]["series"] == [{"name": "found by no other", "x": ["rotate", "distmult"], "y": [1, 0]}]


def test_a_system_that_found_nothing_has_no_share(shared, manager):
    shared.contributors = [*shared.contributors, "=late"]
    shared.save()
    html = manager.get("/pools/town-pool/overlap").content.decode()
    data = re.search(r'<script id="chart-data" type="application/json">(.*?)</script>', html, re.S)
    assert json.loads(data[1])[0]["data"]["values"] == [[1, 6 / 7, 0], [1, 1, 0], [None, None, None]]


def test_csv_has_the_same_and_no_formula(shared, manager):
    shared.contributors = ["rotate", "=distmult"]
    shared.save()
    answer = manager.get("/pools/town-pool/overlap.csv")
    assert answer["Content-Disposition"] == 'attachment; filename="town-pool-overlap.csv"'
    assert answer.content.decode().splitlines() == [
        "system,found,only_it,with_rotate,with_=distmult",
        "rotate,7,1,7,6",
        "'=distmult,6,0,6,6",
    ]


def test_what_is_kept_is_made_anew_when_the_pool_grows(shared, manager):
    assert rows(manager.get("/pools/town-pool/overlap").content.decode())[0] == ["7", "6", "1"]
    shared.triples.last().delete()
    assert rows(manager.get("/pools/town-pool/overlap").content.decode())[0] == ["6", "5", "1"]
    first = shared.triples.first()
    first.provenance = b""
    first.save()
    shared.growth = [{"when": "2026-01-01T00:00:00+00:00", "what": "x", "triples": 0, "to_people": 0}]
    shared.save()
    assert rows(manager.get("/pools/town-pool/overlap").content.decode())[0] == ["5", "5", "0"]


def test_a_pool_without_provenance_says_so(graph, manager):
    pool = make_pool(graph)
    html = manager.get("/pools/town-pool/overlap").content.decode()
    assert "its file does not name the systems" in html
    assert "<table" not in html
    assert manager.get("/pools/town-pool/overlap.csv").content.decode() == "system,found,only_it\r\n"
    pool.triples.all().delete()
    pool.state = "building"
    pool.save()
    assert "Nothing is pooled yet" in manager.get("/pools/town-pool/overlap").content.decode()


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(count: int, graph, manager, django_assert_num_queries):
    make_pool(graph, systems=[make_system(graph, f"rotate-s{i}") for i in range(count)])
    with django_assert_num_queries(7):
        manager.get("/pools/town-pool/overlap")
    with django_assert_num_queries(5):  # what was read is kept
        manager.get("/pools/town-pool/overlap")
