"""The filter page: what each filter took, what is left out without one, and other filters, tried and used."""

from __future__ import annotations

import re

import pytest

from annotation.campaigns.opening import open_campaign
from core.models import AuditEntry
from pooling.errors import PoolError
from pooling.models import Pool
from pooling.pools.kernels.filters import FILTERS
from pooling.views import pool_filter as filter_views
from tests.pages.world import make_graph, make_person, make_pool, make_system

URL = "/pools/town-pool/filter"


def table(html: str, caption: str) -> list[list[str]]:
    """Cells of the rows of the table with this caption, without tags."""
    part = re.search(rf"<caption>{caption}.*?</table>", html, re.S)
    assert part is not None
    rows = re.findall(r"<tr>(.*?)</tr>", part.group().partition("</thead>")[2], re.S)
    return [
        [re.sub(r"<[^>]+>", "", cell).strip() for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]
        for row in rows
    ]


@pytest.fixture
def pool(graph) -> Pool:
    """Two seeds; seven triples that two systems found, three of them filtered."""
    return make_pool(graph, systems=[make_system(graph, name) for name in ("rotate", "distmult")])


def test_filter_page_counts_and_shows_examples(pool, manager):
    html = manager.get(URL).content.decode()
    assert "<dt>filtered (42.9 %)</dt><dd>3</dd>" in html
    assert html.count("1 triple</a>") == 3
    assert "4 triples</a>" in html
    assert html.count("switched off") == len(FILTERS) - 3


def test_filter_that_was_switched_off(pool, manager):
    pool.filters = ["types"]
    pool.save()
    assert manager.get(URL).content.decode().count("switched off") == len(FILTERS) - 1


def test_what_has_no_switch_says_how_often_and_why(pool, manager):
    """Train says of whom p0 and p1 know two, and of who knows p3 and p4 two; the seeds themselves do not count."""
    rows = table(manager.get(URL).content.decode(), "What no pool holds")
    assert [row[:2] for row in rows] == [["Known triples", "8"], ["Duplicates", "7"]]
    assert all("There is no switch" in why for _, _, why in rows)


def test_who_looks_for_a_switch_is_led_to_why_there_is_none(pool, manager):
    html = manager.get(URL).content.decode()
    assert 'always left out: <a href="#always">why there is no switch</a>' in html
    assert '<section class="section" id="always">' in html
    assert "#left-out" not in html
    Pool.objects.update(origin="imported", report=[{"kind": "known fact (train)", "count": 2, "examples": []}])
    assert '<a href="/pools/town-pool/triples#left-out">which lines</a>' in manager.get(URL).content.decode()
    assert 'id="left-out"' in manager.get("/pools/town-pool/triples").content.decode()


def test_other_filters_are_tried_first(pool, manager):
    before = list(pool.triples.values_list("id", "reason"))
    html = manager.get(URL, {"preview": "yes", "filters": ["self-answer", "category-tail"]}).content.decode()
    assert table(html, "A triple that several filters would take") == [
        ["Head question of a 1-1 or 1-N relation", "1", "–"],
        ["Tail question of a 1-1 or N-1 relation", "1", "2"],
        ["Entity type not consistent with the relation", "1", "–"],
        ["Head and tail are the same entity", "–", "0"],
        ["Filtered", "3", "2"],
        ["To people", "4", "5"],
    ]
    assert re.findall(r'<input type="hidden" name="filters" value="([^"]*)">', html) == ["category-tail", "self-answer"]
    assert list(pool.triples.values_list("id", "reason")) == before


def test_the_filters_of_the_pool_are_ticked_and_nothing_to_use(pool, manager):
    form = manager.get(URL).context["form"]
    assert form["filters"].value() == ["category-head", "category-tail", "types"]
    same = manager.get(URL, {"preview": "yes", "filters": pool.filters}).content.decode()
    assert "These are the filters of the pool." in same
    assert "Use these filters" not in same


def test_no_filter_at_all_can_be_tried_and_used(pool, manager):
    html = manager.get(URL, {"preview": "yes"}).content.decode()
    assert table(html, "A triple that several filters would take")[-2:] == [
        ["Filtered", "3", "0"],
        ["To people", "4", "7"],
    ]
    assert manager.post(URL)["Location"] == URL
    assert set(pool.triples.values_list("reason", flat=True)) == {""}
    assert Pool.objects.get().filters == []


def test_using_other_filters_changes_the_reasons_and_is_logged(pool, manager):
    page = manager.post(URL, {"filters": ["types", "category-head"]}, follow=True).content.decode()
    assert "town-pool is filtered anew: 3 triples changed their reason." in page
    assert Pool.objects.get().filters == ["category-head", "types"]
    entry = AuditEntry.objects.get(act="pool-filtered")
    assert (entry.person.username, entry.about) == ("boss", "category-head, types: 0 of 7 filtered")


def test_nonsense_is_refused_at_the_form(pool, manager):
    for html in (
        manager.post(URL, {"filters": ["all"]}).content.decode(),
        manager.get(URL, {"preview": "yes", "filters": ["all"]}).content.decode(),
    ):
        assert "all is not one of the available choices" in html
        assert "Use these filters" not in html
    assert Pool.objects.get().filters == ["category-head", "category-tail", "types"]


def test_with_a_campaign_the_page_says_why_filters_stay(pool, manager):
    open_campaign(pool)
    page = manager.get(URL).content.decode()
    reason = "Pool town-pool has a campaign: people judge what its filters left, so they stay as they are."
    assert f'<p class="muted">{reason}</p>' in page
    assert "Change the filters" not in page
    refused = manager.post(URL, {"filters": ["types"]}).content.decode()
    assert f'<p class="notice notice-error" role="alert">{reason}</p>' in refused
    assert Pool.objects.get().filters == ["category-head", "category-tail", "types"]


def test_a_pool_that_is_too_large_for_a_page_is_filtered_on_the_server(pool, manager, monkeypatch):
    monkeypatch.setattr(filter_views, "MOST_TRIPLES", 6)
    for answer in (manager.get(URL, {"preview": "yes"}), manager.post(URL)):
        html = answer.content.decode()
        assert "7 triples take longer than a page can wait" in html
        assert "manage.py filter_pool town-pool --filters category-head,category-tail,types" in html
        assert "Use these filters" not in html
    assert Pool.objects.get().filters == ["category-head", "category-tail", "types"]
    monkeypatch.setattr(filter_views, "MOST_TRIPLES", 7)
    assert manager.post(URL).status_code == 302


def test_what_was_refused_in_the_meantime_is_shown(pool, manager, monkeypatch):
    def refuse(*args: object) -> int:
        raise PoolError("Somebody opened the campaign.")

    monkeypatch.setattr(filter_views, "refilter_pool", refuse)
    assert '<p class="notice notice-error" role="alert">Somebody opened the campaign.</p>' in (
        manager.post(URL).content.decode()
    )


def test_a_researcher_reads_and_cannot_change(pool, client):
    client.force_login(make_person("rosa", site="researcher"))
    page = client.get(URL, {"preview": "yes", "filters": ["types"]}).content.decode()
    assert "<dt>filtered (42.9 %)</dt>" in page
    assert "Change the filters" not in page and "Use these filters" not in page
    assert client.post(URL, {"filters": ["types"]}).status_code == 403
    assert Pool.objects.get().filters == ["category-head", "category-tail", "types"]


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(count: int, graph, manager, tmp_path, django_assert_num_queries):
    systems = [make_system(graph, f"rotate-s{i}") for i in range(count)]
    for i in range(count):
        make_pool(graph, f"pool-{i}", systems=systems)
        make_graph(tmp_path / f"more{i}", f"more-{i}")
    for query, queries in (({}, 17), ({}, 14), ({"preview": "yes", "filters": ["types"]}, 16)):
        with django_assert_num_queries(queries):
            manager.get("/pools/pool-0/filter", query)
