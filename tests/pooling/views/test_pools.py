"""Pools, their triples and their filter; the form that builds one; graphs."""

from __future__ import annotations

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from core.enums import JobState
from core.models import Job
from pooling.enums import SystemState
from pooling.models import Pool
from pooling.pools.kernels.filters import FILTERS
from tests.pages.world import make_graph, make_pool, make_system

FORM = {
    "graph": "town", "name": "fresh", "systems": ["rotate"], "depth": "10", "sample": "0.5", "seed": "1",
    "filters": ["types"],
}  # fmt: skip


@pytest.fixture
def rotate(graph):
    return make_system(graph, "rotate")


def test_building_makes_a_pool_and_its_job(rotate, manager):
    assert manager.post("/pools/new", FORM)["Location"] == "/pools/fresh"
    pool = Pool.objects.get()
    assert (pool.seed_source, pool.filters, pool.depth) == ("sample 0.5 of test, seed 1", ["types"], 10)
    assert list(pool.systems.all()) == [rotate]
    assert list(Job.objects.values_list("kind", "pool__name", "state")) == [("build-pool", "fresh", JobState.QUEUED)]


@pytest.mark.parametrize("share", ["0.5", ""])
def test_a_number_of_seeds_counts_instead_of_the_share(share: str, rotate, manager):
    asked = {"sample": share, "count": "2", "stratify": "relation,popularity"}
    assert manager.post("/pools/new", FORM | asked).status_code == 302
    source = "sample of 2 test triples, stratified by relation and popularity, seed 1"
    assert Pool.objects.get().seed_source == source


def test_form_starts_with_the_usual_filters_and_no_stratification(rotate, manager):
    form = manager.get("/pools/new").context["form"]
    assert form["filters"].value() == ["category-head", "category-tail", "types"]
    assert [name for name, _ in form.fields["filters"].choices] == list(FILTERS)
    assert (form["stratify"].value(), form["count"].value()) == (None, None)


def test_seed_file_is_read_and_named(rotate, manager):
    file = SimpleUploadedFile("my seeds.tsv", b"p0\tknows\tp3\n")
    assert manager.post("/pools/new", FORM | {"sample": "", "seeds_file": file}).status_code == 302
    pool = Pool.objects.get()
    assert (pool.seed_source, pool.seeds.count()) == ("my seeds.tsv", 1)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"name": "no spaces"}, "Enter a valid “slug”"),
        ({"name": "taken"}, "There is a pool &#x27;taken&#x27; already"),
        ({"systems": []}, "Choose at least one trained system."),
        ({"systems": ["conve"]}, "conve is not one of the available choices"),
        ({"depth": "101"}, "Depth 101: a run holds the first 100 candidates of a question; give 1 to 100."),
        ({"depth": "1001"}, "less than or equal to 1000"),
        ({"sample": ""}, "Give a share above 0, a number, or a seed file."),
        ({"sample": "0"}, "Give a share above 0, a number, or a seed file."),
        ({"count": "0"}, "greater than or equal to 1"),
        ({"count": "3"}, "Count 3: give 1 to 2, since there are so many test triples"),
        ({"stratify": "colour"}, "colour is not one of the available choices"),
        ({"sample": "2"}, "less than or equal to 1"),
        ({"filters": ["all"]}, "all is not one of the available choices"),
        ({"seeds_file": SimpleUploadedFile("mine.tsv", b"p0\tknows\tnobody\n")}, "mine.tsv:1"),
        ({"seeds_file": SimpleUploadedFile("s.tsv", b"x" * 5_000_001)}, "5,000,001 bytes"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_refusals_are_shown_at_the_form_and_make_nothing(changed: dict, message: str, rotate, manager):
    make_system(rotate.graph, "conve", state=SystemState.TRAINING)
    make_pool(rotate.graph, "taken")
    html = manager.post("/pools/new", FORM | changed).content.decode()
    assert message in html
    assert (Pool.objects.count(), Job.objects.count()) == (1, 0)


def test_form_starts_on_a_graph_with_trained_systems(rotate, manager, tmp_path):
    make_graph(tmp_path / "second", "a-graph-first-by-name")
    html = manager.get("/pools/new").content.decode()
    assert "<option selected>town</option>" in html
    assert "has no trained system" in manager.get("/pools/new?graph=a-graph-first-by-name").content.decode()
    assert "No such graph" in manager.get("/pools/new?graph=none").content.decode()


def test_form_ticks_the_first_system_of_each_kind_that_is_not_archived(graph, manager):
    make_system(graph, "rotate", archived=True)  # the best of its seeds was the next one
    make_system(graph, "rotate-s1")
    make_system(graph, "rotate-s2")
    make_system(graph, "complex", state=SystemState.TRAINING)
    make_system(graph, "complex-mine")
    make_system(graph, "complex-s1")
    html = manager.get("/pools/new").content.decode()
    boxes = re.findall(r'<input type="checkbox" name="systems" value="([^"]*)"[^>]*?( checked)?>', html)
    assert [name for name, _ in boxes] == ["rotate-s1", "rotate-s2", "complex-mine", "complex-s1"]
    form = manager.get("/pools/new").context["form"]
    assert form["systems"].value() == ["rotate-s1", "complex-mine"]
    assert [name for name, checked in boxes if checked] == ["rotate-s1", "complex-mine"]


def rows(html: str) -> list[list[str]]:
    body = re.search(r"<tbody>(.*?)</tbody>", html, re.S)
    cells = [
        re.findall(r"<td[^>]*>(.*?)</td>", row, re.S) for row in re.findall(r"<tr>(.*?)</tr>", body.group(1), re.S)
    ]
    return [[re.sub(r"<[^>]+>|\s+", " ", cell).strip() for cell in row] for row in cells]


def test_triples_with_depth_reason_and_provenance(rotate, manager):
    make_pool(rotate.graph, systems=[rotate])
    first = rows(manager.get("/pools/town-pool/triples").content.decode())[0]
    assert [re.sub(r" +", " ", cell) for cell in first] == ["ada", "knows", "emil", "1", "to people", "rotate tail 1"]


@pytest.mark.parametrize(
    ("reason", "count"), [("", 7), ("people", 4), ("filtered", 3), ("types", 1), ("category-head", 1), ("nonsense", 7)]
)
def test_triples_by_reason(reason: str, count: int, rotate, manager):
    make_pool(rotate.graph, systems=[rotate])
    html = manager.get("/pools/town-pool/triples", {"reason": reason}).content.decode()
    assert len(rows(html)) == count


def test_imported_pool_without_provenance_says_so(graph, manager):
    make_pool(graph)
    html = manager.get("/pools/town-pool/triples").content.decode()
    assert rows(html)[0][5] == "not known"
    assert "Overlap of systems" not in html


@pytest.mark.parametrize("url", ["/pools", "/graphs", "/systems", "/jobs", "/pools/new", "/"])
def test_empty_site_says_what_to_do_first(url: str, manager):
    assert '<div class="empty">' in manager.get(url).content.decode()


def test_graph_page_tells_relations_and_degrees(graph, manager):
    html = manager.get("/graphs/town").content.decode()
    assert "<dt>entities</dt><dd>7</dd>" in html
    assert "<dt>mean</dt><dd>5.1</dd>" in html
    assert rows(html) == [["N-N", "–", "–", "12", "2"], ["N-1", "–", "–", "6", "0"]]
    assert rows(manager.get("/graphs/town?category=N-1").content.decode()) == [["N-1", "–", "–", "6", "0"]]
    assert "No relation is like that" in manager.get("/graphs/town?q=hates").content.decode()


def test_graph_page_without_its_files_shows_the_rows(graph, manager, artifact_root):
    from pooling.graphs import opening

    opening._opened.clear()
    artifact_root.rename(artifact_root.with_name("away"))
    html = manager.get("/graphs/town").content.decode()
    assert "missing or damaged" in html
    assert "<dt>entities</dt><dd>7</dd>" in html


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(count: int, graph, manager, tmp_path, django_assert_num_queries):
    systems = [make_system(graph, f"rotate-s{i}") for i in range(count)]
    for i in range(count):
        make_pool(graph, f"pool-{i}", systems=systems)
        make_graph(tmp_path / f"more{i}", f"more-{i}")
    for url, queries in (("/pools", 6), ("/graphs", 6), ("/pools/pool-0/triples", 6)):
        with django_assert_num_queries(queries):
            manager.get(url)


def test_pages_of_a_long_list(graph, manager):
    for i in range(60):
        make_system(graph, f"rotate-s{i}", run=False)
    html = manager.get("/graphs/town/systems?page=2").content.decode()
    assert "51–60 of 60" in html
    assert 'rel="prev" href="?page=1"' in html
    assert "51–60 of 60" in manager.get("/graphs/town/systems?page=99").content.decode()
    assert "1–50 of 60" in manager.get("/graphs/town/systems?page=x").content.decode()
