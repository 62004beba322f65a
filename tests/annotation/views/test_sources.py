"""The sources pages of a manager."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from annotation.campaigns.opening import open_campaign
from annotation.models import Source
from annotation.sources.verified import choose_sources, verified
from core.models import AuditEntry
from pooling.models import PooledTriple, Relation
from tests.annotation.world import label_item, make_pool

URL = "/pools/p1/campaign/sources"
EVIL = "<script>alert(1)</script>"


@pytest.fixture
def manager(world, as_user) -> Client:
    return as_user(world.manager)


def page(response) -> str:
    assert response.status_code == 200
    return response.content.decode()


def more_relations(world, count: int) -> None:
    for index in range(1, count + 1):
        Relation.objects.create(graph=world.pool.graph, index=index, key=f"more {index:02}")
        PooledTriple.objects.create(pool=world.pool, head=0, relation=index, tail=1, depth=1)


def pk_of(world, host: str) -> int:
    return world.campaign.sources.get(host=host).pk


def chosen(world) -> dict[int, list[str]]:
    known = verified(world.campaign)
    return {index: [source.host for source in own] for index, own in known.chosen.items()}


def test_sources_with_their_labels(world, manager) -> None:
    for item in world.campaign.items.all()[:2]:
        label_item(world, item, ann="Y")
    choose_sources(world.campaign, [0], [pk_of(world, "imdb.com")])
    html = page(manager.get(URL))
    rows = re.findall(r'">([^<]+)</a></th><td class="mono">([^<]+)</td><td class="number">(\d+)</td>', html)
    assert {row for row in rows if row[2] != "0"} == {("Wikipedia", "wikipedia.org", "2")}
    assert len(rows) == world.campaign.sources.count()
    assert html.count("1 relation</td>") == 1


def test_source_is_added(world, manager) -> None:
    data = {"act": "add", "name": EVIL, "host": "DNB.de.", "search_url": "https://dnb.de/?q={query}"}
    response = manager.post(URL, data)
    assert (response.status_code, response["Location"]) == (302, URL)
    source = Source.objects.get(name=EVIL)
    assert (source.host, source.search_url) == ("dnb.de", "https://dnb.de/?q={query}")
    html = page(manager.get(URL))
    assert "Links at dnb.de are accepted now." in html and EVIL not in html
    assert AuditEntry.objects.get(act="source-added").person == world.manager


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"name": ""}, "This field is required."),
        ({"host": "https://a.org"}, "&#x27;https://a.org&#x27; is no host"),
        ({"host": "wikipedia.org"}, "wikipedia.org is a source of this campaign already."),
        ({"search_url": "https://a.org"}, "must contain {query} once"),
    ],
)
def test_source_that_is_refused_stays_in_the_form(world, manager, data, message: str) -> None:
    before = Source.objects.count()
    html = page(manager.post(URL, {"act": "add", "name": "Mine", "host": "a.org", "search_url": "", **data}))
    assert message in html and (data.get("name") == "" or 'value="Mine"' in html)
    assert Source.objects.count() == before


def test_usual_sources_are_restored(world, manager) -> None:
    Source.objects.filter(host__in=["viaf.org", "imdb.com"]).delete()
    assert manager.post(URL, {"act": "restore"}).status_code == 302
    assert "2 of the usual sources added." in page(manager.get(URL))
    assert Source.objects.filter(host__in=["viaf.org", "imdb.com"]).count() == 2
    manager.post(URL, {"act": "restore"})
    assert "All of the usual sources are here." in page(manager.get(URL))


def test_without_sources_the_page_warns(world, manager) -> None:
    Source.objects.all().delete()
    assert "no answer that needs one can be given" in page(manager.get(URL))


@pytest.mark.parametrize("act", ["", "nothing", "change", "remove"])
def test_unknown_act_is_404(manager, act: str) -> None:
    assert manager.post(URL, {"act": act}).status_code == 404


# -- by relation ---------------------------------------------------------------------------------------------


def test_sources_are_chosen_for_ticked_relations(world, manager) -> None:
    more_relations(world, 3)
    imdb, wiki = pk_of(world, "imdb.com"), pk_of(world, "wikipedia.org")
    data = {"act": "choose", "relations": ["0", "2"], "which": "chosen", "sources": [imdb, wiki]}
    assert manager.post(URL, data)["Location"] == f"{URL}#relations"
    assert chosen(world) == {0: ["wikipedia.org", "imdb.com"], 2: ["wikipedia.org", "imdb.com"]}
    html = page(manager.get(URL))
    assert "2 relations take 2 sources from the next question on." in html
    assert html.count("<td>Wikipedia, IMDb</td>") == 2
    manager.post(URL, {"act": "choose", "relations": ["0"], "which": "all", "sources": [imdb]})
    assert chosen(world) == {2: ["wikipedia.org", "imdb.com"]}


def test_every_means_all_that_the_filter_shows(world, manager) -> None:
    more_relations(world, 22)
    html = page(manager.get(URL, {"q": "MORE"}))
    assert "All 22 relations whose name contains “MORE”" in html and html.count('name="relations"') == 20
    data = {"act": "choose", "every": "1", "which": "chosen", "sources": [pk_of(world, "imdb.com")]}
    response = manager.post(f"{URL}?q=MORE", data)
    assert response["Location"] == f"{URL}?q=MORE#relations"
    assert chosen(world) == {index: ["imdb.com"] for index in range(1, 23)}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"which": "chosen"}, "Choose the relations that you mean."),
        ({"relations": "0", "which": "chosen"}, "Choose one source or more for these relations"),
        ({"relations": "99", "which": "all"}, ""),
        ({"relations": "0", "which": "nonsense"}, "nonsense is not one of the available choices"),
    ],
)
def test_choice_that_is_refused(world, manager, data, message: str) -> None:
    choose_sources(world.campaign, [0], [pk_of(world, "imdb.com")])
    html = page(manager.post(URL, {"act": "choose", **data}))
    assert message in html
    assert ('value="0" id="r0" checked' in html) == (data.get("relations") == "0")
    assert chosen(world) == {0: ["imdb.com"]}


def test_source_of_another_campaign_cannot_be_chosen(world, manager) -> None:
    other = open_campaign(make_pool(world.pool.graph, "p2")).sources.first()
    page(manager.post(URL, {"act": "choose", "relations": "0", "which": "chosen", "sources": other.pk}))
    assert chosen(world) == {}


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(world, manager, count: int, django_assert_num_queries) -> None:
    more_relations(world, count - 1)
    Source.objects.exclude(pk__in=Source.objects.values("pk")[:count]).delete()
    choose_sources(world.campaign, range(count), list(Source.objects.values_list("pk", flat=True)))
    page(manager.get(URL))
    with django_assert_num_queries(11):
        assert page(manager.get(URL)).count('name="relations"') == count


# -- one source ----------------------------------------------------------------------------------------------


def test_source_is_changed_but_for_its_host(world, manager) -> None:
    url = f"{URL}/{pk_of(world, 'imdb.com')}"
    data = {"act": "change", "name": "Films", "search_url": "", "host": "evil.example"}
    assert manager.post(url, data)["Location"] == URL
    assert Source.objects.filter(name="Films", host="imdb.com", search_url="").exists()
    assert "give an https address" in page(manager.post(url, data | {"search_url": "ftp://{query}"}))


def test_page_of_a_source_says_what_its_removal_does(world, manager) -> None:
    label_item(world, world.campaign.items.first(), ann="Y")
    pk = pk_of(world, "wikipedia.org")
    choose_sources(world.campaign, [0], [pk])
    html = page(manager.get(f"{URL}/{pk}"))
    assert "The 1 label that has one keeps it and counts as before." in html
    assert "It is the only source of 1 relation: lived_in." in html
    refused = page(manager.post(f"{URL}/{pk}", {"act": "remove"}))
    assert "is the only source that was chosen for lived_in." in refused
    assert chosen(world) == {0: ["wikipedia.org"]}
    assert manager.post(f"{URL}/{pk}", {"act": "remove", "opens": "on"})["Location"] == URL
    assert not Source.objects.filter(pk=pk).exists()
    assert "Links at wikipedia.org are no longer accepted" in page(manager.get(URL))


def test_source_of_another_campaign_is_404(world, manager) -> None:
    other = open_campaign(make_pool(world.pool.graph, "p2")).sources.first()
    assert manager.post(f"{URL}/{other.pk}", {"act": "remove"}).status_code == 404
    assert Source.objects.filter(pk=other.pk).exists()
    assert manager.get("/pools/p1/campaign/sources/999999").status_code == 404


def test_pool_without_a_campaign_has_no_sources(world, manager) -> None:
    make_pool(world.pool.graph, "p3")
    assert manager.get("/pools/p3/campaign/sources").status_code == 404
