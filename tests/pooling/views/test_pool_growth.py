"""The growth page: what was added when, the form that extends a pool, freezing."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from core.models import AuditEntry, Job
from pooling.models import Pool
from tests.page import element, fields, has, posts, refusals, table
from tests.pages.world import make_person, make_pool, make_system

URL = "/pools/town-pool/growth"
GROWTH = [
    {"when": "2026-02-03T04:05:06+00:00", "what": "depth 5 to 10", "triples": 2, "to_people": 1},
    {"when": "2026-03-04T05:06:07+00:00", "what": "system <conve>", "triples": 1, "to_people": 1},
]


@pytest.fixture
def pool(graph) -> Pool:
    """A pool of rotate at depth 10; complex is trained too. The graph has two test triples, one of them a seed."""
    made = make_pool(graph, systems=[make_system(graph, "rotate")])
    make_system(graph, "complex")
    made.seeds.last().delete()
    return made


def extensions() -> list[dict]:
    return list(Job.objects.filter(kind="extend-pool").values_list("params", flat=True))


def test_what_was_added_when_begins_with_what_was_first(pool, manager):
    Pool.objects.update(growth=GROWTH)
    page = manager.get(URL)
    grown = table(page, "grown")
    first = pool.get_origin_display()
    assert [row[1:] for row in grown] == [[first, "4", "2"], ["depth 5 to 10", "2", "1"], ["system <conve>", "1", "1"]]
    assert [row[0] for row in grown][1:] == ["3 Feb 2026, 04:05", "4 Mar 2026, 05:06"]
    assert element(page, "seeds-left")["data-value"] == "1"


def test_asking_starts_a_job_with_what_was_asked(pool, manager):
    data = {"depth": "12", "systems": ["complex"], "count": "1", "seed": "3", "stratify": "relation"}
    assert manager.post(URL, data)["Location"] == URL
    assert extensions() == [
        {
            "depth": 12,
            "systems": ["complex"],
            "seeds": [1],
            "seed_source": "sample of 1 test triples, stratified by relation, seed 3",
        }
    ]
    job = Job.objects.get()
    work = element(manager.get(URL), "work")
    assert [link["href"] for link in work.all(tag="a")] == [f"/jobs/{job.pk}"]
    assert AuditEntry.objects.get(act="pool-extended").person.username == "boss"


def test_a_seed_file_is_read_and_named(pool, manager):
    file = SimpleUploadedFile("more seeds.tsv", b"p1\tknows\tp4\n")
    assert manager.post(URL, {"seeds_file": file}).status_code == 302
    assert extensions() == [{"depth": None, "systems": [], "seeds": [1], "seed_source": "more seeds.tsv"}]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "Nothing is asked for: give a depth, systems or seeds."),
        ({"depth": "10"}, "Depth 10: pool town-pool has depth 10 already; give more."),
        ({"depth": "1001"}, "less than or equal to 1000"),
        ({"systems": ["rotate"]}, "rotate is not one of the available choices"),
        ({"count": "2"}, "Count 2: give 1 to 1"),
        ({"count": "1", "sample": "0.5"}, "not both"),
        ({"seeds_file": SimpleUploadedFile("s.tsv", b"p0\tknows\tnobody\n")}, "s.tsv:1: the graph does not have"),
        ({"seeds_file": SimpleUploadedFile("s.tsv", b"x" * 5_000_001)}, "5,000,001 bytes"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_refusals_are_shown_at_the_form_and_start_nothing(pool, manager, data, message):
    assert any(message in said for said in refusals(manager.post(URL, data)))
    assert extensions() == []


def test_an_imported_pool_is_offered_no_depth_and_a_full_one_no_seeds(graph, manager):
    make_pool(graph)
    page = manager.get(URL)
    assert {"depth", "count", "systems"} & set(fields(page)) == set()
    assert has(page, "no-depth") and has(page, "no-seeds") and has(page, "no-systems")


def test_researchers_read_and_do_not_change(pool):
    client = Client()
    client.force_login(make_person("rena", site="researcher"))
    page = client.get(URL)
    assert has(page, "grown")
    assert posts(page) == []
    assert (client.post(URL, {"depth": "12"}).status_code, extensions()) == (403, [])


def test_freezing_asks_twice_and_then_holds(pool, manager):
    refused = manager.post("/pools/town-pool/freeze", {})
    assert list(refused.context["freezing"].errors) == ["sure"]
    assert set(refused.context["freezing"].errors["sure"]) <= set(refusals(refused))
    assert Pool.objects.get().frozen_at is None
    assert manager.post("/pools/town-pool/freeze", {"sure": "on"})["Location"] == URL
    day = f"{Pool.objects.get().frozen_at:%Y-%m-%d}"
    page = manager.get(URL)
    assert day in element(page, "stays").text
    assert URL not in posts(page) and "" not in posts(page)
    assert table(page, "grown")[-1][2:] == ["–", "–"]
    again = manager.post("/pools/town-pool/freeze", {"sure": "on"})
    assert AuditEntry.objects.filter(act="pool-frozen").count() == 1
    assert [day in said for said in refusals(again)] == [True]
    assert [day in said for said in refusals(manager.post(URL, {"depth": "12"}))] == [True]


def test_a_pool_that_is_extended_is_not_frozen(pool, manager):
    manager.post(URL, {"depth": "12"})
    refused = manager.post("/pools/town-pool/freeze", {"sure": "on"})
    assert [f"job {Job.objects.get().pk}" in said for said in refusals(refused)] == [True]
    assert Pool.objects.get().frozen_at is None


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(count: int, graph, manager, django_assert_num_queries):
    pool = make_pool(graph, systems=[make_system(graph, f"rotate-s{i}") for i in range(count)])
    Pool.objects.update(growth=GROWTH * count)
    for i in range(count):
        Job.objects.create(kind="extend-pool", pool=pool, params={"i": i})
    with django_assert_num_queries(14):
        manager.get(URL)
