"""Lists of the API: pages by cursor, filters, constant queries, one form of error."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from core.models import Job
from pooling.models import Graph, Pool, System
from tests.pages.world import make_graph, make_job, make_pool, make_system


@pytest.fixture
def researcher(sign_in) -> Client:
    return sign_in("researcher")


def names(response) -> list[str]:
    return [row["name"] for row in response.json()["results"]]


def test_pages_follow_each_other_and_new_rows_move_none(world, researcher):
    graph = System.objects.first().graph
    for i in range(5):
        make_system(graph, f"more-{i}", run=False)
    every = names(researcher.get("/api/v1/systems"))
    first = researcher.get("/api/v1/systems", {"page_size": 3})
    make_system(graph, "later", run=False)
    second = researcher.get(first.json()["next"])
    assert names(first) + names(second) == every[:6]
    assert names(researcher.get(second.json()["previous"])) == every[:3]


def test_filters_are_those_of_the_list(world, researcher):
    make_system(System.objects.first().graph, "gone", archived=True, run=False)
    assert names(researcher.get("/api/v1/systems", {"archived": "true"})) == ["gone"]
    assert names(researcher.get("/api/v1/systems", {"graph": "elsewhere"})) == []
    wrong = researcher.get("/api/v1/systems", {"password": "x"})
    assert wrong.status_code == 400
    assert wrong.json()["fields"] == {
        "password": "This list has no such parameter: it has archived, cursor, graph, kind, page_size, state."
    }


def test_pools_tell_their_rule_and_are_listed_by_it(world, researcher):
    pool = Pool.objects.get()
    Pool.objects.filter(pk=pool.pk).update(rule="raw", diagnosis={"k": 10})
    (row,) = researcher.get("/api/v1/pools", {"rule": "raw"}).json()["results"]
    assert (row["name"], row["rule"], row["diagnosis"]) == (pool.name, "raw", {"k": 10})
    assert names(researcher.get("/api/v1/pools", {"rule": "filtered"})) == []


@pytest.mark.parametrize(("what", "model"), [("graphs", Graph), ("pools", Pool)])
def test_archive_is_told_and_can_be_left_out(world, researcher, tmp_path, what, model):
    kept = model.objects.get().name
    gone = make_graph(tmp_path / "gone", "gone") if model is Graph else make_pool(Graph.objects.get(), "gone")
    model.objects.filter(pk=gone.pk).update(archived=True)
    seen = {
        query: {row["name"]: row["archived"] for row in researcher.get(f"/api/v1/{what}{query}").json()["results"]}
        for query in ("", "?archived=false", "?archived=true")
    }
    assert seen == {"": {kept: False, "gone": True}, "?archived=false": {kept: False}, "?archived=true": {"gone": True}}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"archived": "perhaps"}, "archived"), ({"page_size": "0"}, "page_size"), ({"page_size": "1001"}, "page_size"),
        ({"page_size": "²"}, "page_size"), ({"cursor": "nonsense"}, "cursor"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_named(world, researcher, query, field):
    response = researcher.get("/api/v1/systems", query)
    assert response.status_code == 400
    assert list(response.json()["fields"]) == [field]
    assert response.json()["error"].startswith(f"{field}: ")


@pytest.mark.parametrize("what", ["graphs", "systems", "runs", "pools", "jobs"])
def test_queries_do_not_grow_with_the_page(world, researcher, what):
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            assert researcher.get(f"/api/v1/{what}").status_code == 200
        return len(found)

    few = queries()
    graph = System.objects.first().graph
    for i in range(10):
        system = make_system(graph, f"more-{i}")
        make_job(graph=graph, system=system)
    assert queries() == few


def test_one_by_name(world, researcher):
    system = researcher.get("/api/v1/graphs/town/systems/rotate").json()
    assert (system["graph"], system["name"], system["validation_mrr"]) == ("town", "rotate", 0.37)
    job = Job.objects.first()
    assert researcher.get(f"/api/v1/jobs/{job.pk}").json()["kind"] == job.kind
    assert researcher.get("/api/v1/pools/town-pool").json()["graph"] == "town"
    missing = researcher.get("/api/v1/graphs/none")
    assert (missing.status_code, missing.json()) == (404, {"error": "There is nothing here that you can see."})
