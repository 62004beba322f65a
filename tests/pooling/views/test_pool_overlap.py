"""Who found what: counts, shares for the charts, families, CSV."""

from __future__ import annotations

import pytest

from tests.page import charts, drawn, has, parse, table
from tests.pages.world import make_pool, make_system


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
    assert table(html, "together") == [["RotatE", "7", "6", "1"], ["DistMult", "6", "6", "0"]]
    assert table(html, "alone") == [["RotatE", "7", "1", "14.3 %"], ["DistMult", "6", "0", "0.0 %"]]
    assert [row[1:] for row in table(html, "families")] == [["7", "1", "RotatE"], ["6", "0", "DistMult"]]


def test_charts_have_shares_of_the_row_and_counts(shared, manager):
    page = manager.get("/pools/town-pool/overlap")
    matrix, _ = page.context["charts"]
    assert (matrix["key"], matrix["kind"]) == ("overlap", "matrix")
    assert matrix["data"]["rows"] == matrix["data"]["columns"] == ["rotate", "distmult"]
    assert matrix["data"]["values"] == [[1, 6 / 7], [1, 1]]
    shown = charts(page)
    assert list(shown) == ["overlap", "only-it"]
    titles = shown["overlap"].one(tag="svg", class_="drawing wide").texts(tag="title")
    assert titles == ["RotatE: 1.00", "RotatE, DistMult: 0.86", "DistMult, RotatE: 1.00", "DistMult: 1.00"]
    assert drawn(shown["only-it"]) == {"found by no other": ["RotatE: 1", "DistMult: 0"]}


def test_a_system_that_found_nothing_has_no_share(shared, manager):
    shared.contributors = [*shared.contributors, "=late"]
    shared.save()
    matrix, _ = manager.get("/pools/town-pool/overlap").context["charts"]
    assert matrix["data"]["values"] == [[1, 6 / 7, 0], [1, 1, 0], [None, None, None]]


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
    assert table(manager.get("/pools/town-pool/overlap"), "together")[0] == ["RotatE", "7", "6", "1"]
    shared.triples.last().delete()
    assert table(manager.get("/pools/town-pool/overlap"), "together")[0] == ["RotatE", "6", "5", "1"]
    first = shared.triples.first()
    first.provenance = b""
    first.save()
    shared.growth = [{"when": "2026-01-01T00:00:00+00:00", "what": "x", "triples": 0, "to_people": 0}]
    shared.save()
    assert table(manager.get("/pools/town-pool/overlap"), "together")[0] == ["RotatE", "5", "5", "0"]


def test_a_pool_without_provenance_says_so(graph, manager):
    pool = make_pool(graph)
    html = manager.get("/pools/town-pool/overlap").content.decode()
    assert has(html, "no-provenance")
    assert parse(html).all(tag="table") == []
    assert manager.get("/pools/town-pool/overlap.csv").content.decode() == "system,found,only_it\r\n"
    pool.triples.all().delete()
    pool.state = "building"
    pool.save()
    assert has(manager.get("/pools/town-pool/overlap"), "not-pooled")


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(count: int, graph, manager, django_assert_num_queries):
    make_pool(graph, systems=[make_system(graph, f"rotate-s{i}") for i in range(count)])
    with django_assert_num_queries(8):
        manager.get("/pools/town-pool/overlap")
    with django_assert_num_queries(6):  # what was read is kept
        manager.get("/pools/town-pool/overlap")
