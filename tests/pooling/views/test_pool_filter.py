"""The filter page: what each filter took, what is left out without one, and other filters, tried and used."""

from __future__ import annotations

import pytest
from django.utils.text import capfirst

from annotation.campaigns.lifecycle import open_campaign
from core.jobs.progress import Progress
from core.models import AuditEntry, Job
from pooling.enums import PoolingJob
from pooling.errors import PoolError
from pooling.forms.pools import PoolForm
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from pooling.pools.filtering import run_filter_pool, why_filters_stay, why_types_idle
from pooling.pools.kernels.filters import ALWAYS, FILTERS
from pooling.views import pool_filter as filter_views
from tests.page import element, elements, has, links, notices, refusals, table
from tests.pages.world import make_graph, make_person, make_pool, make_system

URL = "/pools/town-pool/filter"


@pytest.fixture
def pool(graph) -> Pool:
    """Two seeds; seven triples that two systems found, three of them filtered."""
    return make_pool(graph, systems=[make_system(graph, name) for name in ("rotate", "distmult")])


def led_to_triples(response: object) -> list[str]:
    """The reasons whose triples the page leads to; a filter that is switched off leads to none."""
    addresses = list(links(response))
    return [address.partition("?reason=")[2] for address in addresses if "?reason=" in address]


def totals(html: str) -> list[list[str]]:
    [foot] = element(html, "preview-table").all(tag="tfoot")
    return [row.texts(tag="td") for row in foot.all(tag="tr")]


def test_filter_page_counts_and_shows_examples(pool, manager):
    html = manager.get(URL).content.decode()
    assert element(html, "figures").texts(tag="dd") == ["7", "3", "4"]
    assert "42.9 %" in element(html, "figures").all(tag="dt")[1].text
    assert led_to_triples(html) == [*pool.filters, "people"]
    assert {name: element(html, f"filter-{name}").text.split()[0] for name in pool.filters} == dict.fromkeys(
        pool.filters, "1"
    )
    assert links(html)["/pools/town-pool/triples?reason=people"].split()[0] == "4"


def test_the_filter_types_says_that_a_graph_without_types_gives_it_nothing(pool, manager):
    why = why_types_idle(open_graph(pool.graph), ["types"])
    assert [one.text for one in elements(manager.get(URL), "idle")] == [why] and why
    form = PoolForm(pool.graph)
    assert form.fields["filters"].help_text.endswith(why)


def test_filter_that_was_switched_off(pool, manager):
    pool.filters = ["types"]
    pool.save()
    assert led_to_triples(manager.get(URL)) == ["types", "people"]


def test_what_has_no_switch_says_how_often_and_why(pool, manager):
    """Train says of whom p0 and p1 know two, and of who knows p3 and p4 two; the seeds themselves do not count."""
    rows = table(manager.get(URL), "always-table")
    assert [(label, why) for label, _, why in rows] == [
        (capfirst(one.label), one.description) for one in ALWAYS.values()
    ]
    assert [count for _, count, _ in rows] == ["8", "7"]


def test_who_looks_for_a_switch_is_led_to_why_there_is_none(pool, manager):
    html = manager.get(URL).content.decode()
    assert element(html, "why-always")["href"] == "#always"
    assert element(html, "always").tag == "section"
    assert "#left-out" not in html
    Pool.objects.update(origin="imported", report=[{"kind": "known fact (train)", "count": 2, "examples": []}])
    assert "/pools/town-pool/triples#left-out" in links(manager.get(URL))
    assert element(manager.get("/pools/town-pool/triples"), "left-out").tag == "section"


def test_other_filters_are_tried_first(pool, manager):
    before = list(pool.triples.values_list("id", "reason"))
    html = manager.get(URL, {"preview": "yes", "filters": ["self-answer", "category-tail"]}).content.decode()
    names = ("category-head", "category-tail", "types", "self-answer")
    assert table(html, "preview-table") == [
        [capfirst(FILTERS[name].label), *counts]
        for name, counts in zip(names, (["1", "–"], ["1", "2"], ["1", "–"], ["–", "0"]), strict=True)
    ]
    assert totals(html) == [["3", "2"], ["4", "5"]]
    hidden = [one for one in element(html, "preview").all(tag="input") if one.attrs.get("name") == "filters"]
    assert [(one["type"], one["value"]) for one in hidden] == [("hidden", "category-tail"), ("hidden", "self-answer")]
    assert list(pool.triples.values_list("id", "reason")) == before


def test_the_filters_of_the_pool_are_ticked_and_nothing_to_use(pool, manager):
    form = manager.get(URL).context["form"]
    assert form["filters"].value() == ["category-head", "category-tail", "types"]
    same = manager.get(URL, {"preview": "yes", "filters": pool.filters}).content.decode()
    assert has(same, "same")
    assert not has(same, "use")


def test_no_filter_at_all_can_be_tried_and_used(pool, manager):
    html = manager.get(URL, {"preview": "yes"}).content.decode()
    assert totals(html) == [["3", "0"], ["4", "7"]]
    assert manager.post(URL)["Location"] == URL
    assert set(pool.triples.values_list("reason", flat=True)) == {""}
    assert Pool.objects.get().filters == []


def test_using_other_filters_changes_the_reasons_and_is_logged(pool, manager):
    page = manager.post(URL, {"filters": ["types", "category-head"]}, follow=True)
    assert [[word for word in said.split() if word.isdigit()] for said in notices(page)] == [["3"]]
    assert Pool.objects.get().filters == ["category-head", "types"]
    entry = AuditEntry.objects.get(act="pool-filtered")
    assert (entry.person.username, entry.about) == ("boss", "category-head, types: 0 of 7 filtered")


def test_nonsense_is_refused_at_the_form(pool, manager):
    for html in (
        manager.post(URL, {"filters": ["all"]}).content.decode(),
        manager.get(URL, {"preview": "yes", "filters": ["all"]}).content.decode(),
    ):
        assert ["all" in said.split() for said in refusals(html)] == [True]
        assert not has(html, "use")
    assert Pool.objects.get().filters == ["category-head", "category-tail", "types"]


def test_with_a_campaign_the_page_says_why_filters_stay(pool, manager):
    open_campaign(pool)
    page = manager.get(URL)
    reason = why_filters_stay(pool)
    assert element(page, "stays").text == reason
    assert not has(page, "change")
    refused = element(manager.post(URL, {"filters": ["types"]}), "refused")
    assert (refused.text, refused["role"]) == (reason, "alert")
    assert Pool.objects.get().filters == ["category-head", "category-tail", "types"]


def test_a_pool_that_is_too_large_for_a_page_is_filtered_by_a_job(pool, manager, monkeypatch):
    monkeypatch.setattr(filter_views, "MOST_TRIPLES", 6)
    page = manager.get(URL, {"preview": "yes", "filters": "types"})
    assert (has(page, "use"), has(page, "preview-table")) == (True, False)
    answer = manager.post(URL, {"filters": ["types"]})
    job = Job.objects.get()
    assert (answer["Location"], job.kind, job.pool) == (f"/jobs/{job.pk}", PoolingJob.FILTER_POOL, pool)
    assert Pool.objects.get().filters == ["category-head", "category-tail", "types"]
    for _ in range(2):  # a worker that died may do it again
        run_filter_pool(job, Progress(job))
        assert Pool.objects.get().filters == ["types"]


def test_what_was_refused_in_the_meantime_is_shown(pool, manager, monkeypatch):
    def refuse(*args: object) -> int:
        raise PoolError("Somebody opened the campaign.")

    monkeypatch.setattr(filter_views, "refilter_pool", refuse)
    refused = element(manager.post(URL), "refused")
    assert (refused.text, refused["role"]) == ("Somebody opened the campaign.", "alert")


def test_a_researcher_reads_and_cannot_change(pool, client):
    client.force_login(make_person("rosa", site="researcher"))
    page = client.get(URL, {"preview": "yes", "filters": ["types"]})
    assert element(page, "figures").texts(tag="dd") == ["7", "3", "4"]
    assert not has(page, "change") and not has(page, "use")
    assert client.post(URL, {"filters": ["types"]}).status_code == 403
    assert Pool.objects.get().filters == ["category-head", "category-tail", "types"]


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(count: int, graph, manager, tmp_path, django_assert_num_queries):
    systems = [make_system(graph, f"rotate-s{i}") for i in range(count)]
    for i in range(count):
        make_pool(graph, f"pool-{i}", systems=systems)
        make_graph(tmp_path / f"more{i}", f"more-{i}")
    for query, queries in (({}, 18), ({}, 15), ({"preview": "yes", "filters": ["types"]}, 17)):
        with django_assert_num_queries(queries):
            manager.get("/pools/pool-0/filter", query)
