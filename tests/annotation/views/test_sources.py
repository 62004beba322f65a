"""The sources pages of a manager."""

from __future__ import annotations

import re

import pytest

from annotation.campaigns.lifecycle import open_campaign
from annotation.models import Source
from annotation.sources.verified import (
    NO_RELATIONS,
    NO_SOURCES,
    add_source,
    change_source,
    choose_sources,
    remove_source,
    verified,
)
from annotation.views import told
from core.models import AuditEntry
from tests.annotation.factories import label_item, make_pool, more_relations
from tests.page import codes, read, refusal

URL = "/pools/p1/campaign/sources"
EVIL = "<script>alert(1)</script>"


def pk_of(world, host: str) -> int:
    return world.campaign.sources.get(host=host).pk


def chosen(world) -> dict[int, list[str]]:
    known = verified(world.campaign)
    return {index: [source.host for source in own] for index, own in known.chosen.items()}


def test_sources_with_their_labels(world, manager) -> None:
    for item in world.campaign.items.all()[:2]:
        label_item(world, item, ann="Y")
    choose_sources(world.campaign, [0], [pk_of(world, "imdb.com")])
    rows = read(manager.get(URL)).one("sources-table").rows
    assert [row[:3] for row in rows if row[2] != "0"] == [["Wikipedia", "wikipedia.org", "2"]]
    assert len(rows) == world.campaign.sources.count()
    assert [(row[1], row[3][0]) for row in rows if row[3] != "–"] == [("imdb.com", "1")]


def test_source_is_added(world, manager) -> None:
    data = {"act": "add", "name": EVIL, "host": "DNB.de.", "search_url": "https://dnb.de/?q={query}"}
    response = manager.post(URL, data)
    assert (response.status_code, response["Location"]) == (302, URL)
    source = Source.objects.get(name=EVIL)
    assert (source.host, source.search_url) == ("dnb.de", "https://dnb.de/?q={query}")
    response = manager.get(URL)
    assert read(response).messages == [told.source_added(source)] and EVIL not in response.content.decode()
    assert AuditEntry.objects.get(act="source-added").person == world.manager


@pytest.mark.parametrize(
    "data", [{"host": "https://a.org"}, {"host": "wikipedia.org"}, {"search_url": "https://a.org"}]
)
def test_source_that_is_refused_stays_in_the_form(world, manager, data) -> None:
    before = Source.objects.count()
    asked = {"name": "Mine", "host": "a.org", "search_url": "", **data}
    page = read(manager.post(URL, {"act": "add", **asked})).one(id="add")
    assert page.texts("refused") == refusal(lambda: add_source(world.campaign, **asked))
    assert [one["value"] for one in page.all(tag="input", name="name")] == ["Mine"]
    assert Source.objects.count() == before


def test_source_without_a_name_is_refused(world, manager) -> None:
    before = Source.objects.count()
    response = manager.post(URL, {"act": "add", "name": "", "host": "a.org", "search_url": ""})
    assert codes(response.context["add_form"]) == {"name": ["required"]}
    assert len(read(response).one(id="add").errors) == 1 and Source.objects.count() == before


def test_usual_sources_are_restored(world, manager) -> None:
    Source.objects.filter(host__in=["viaf.org", "imdb.com"]).delete()
    assert manager.post(URL, {"act": "restore"}).status_code == 302
    assert read(manager.get(URL)).messages == [told.sources_restored(2)]
    assert Source.objects.filter(host__in=["viaf.org", "imdb.com"]).count() == 2
    manager.post(URL, {"act": "restore"})
    assert read(manager.get(URL)).messages == [told.sources_restored(0)]


def test_without_sources_the_page_warns(world, manager) -> None:
    Source.objects.all().delete()
    assert read(manager.get(URL)).has("warning")


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
    page = read(manager.get(URL))
    assert page.messages == [told.sources_chosen(2, 2)]
    assert page.texts("sources").count("Wikipedia, IMDb") == 2
    manager.post(URL, {"act": "choose", "relations": ["0"], "which": "all", "sources": [imdb]})
    assert chosen(world) == {2: ["wikipedia.org", "imdb.com"]}


def test_every_means_all_that_the_filter_shows(world, manager) -> None:
    more_relations(world, 22)
    page = read(manager.get(URL, {"q": "MORE"}))
    every = page.one("every").text
    assert (re.findall(r"\d+", every), "MORE" in every, len(page.all(name="relations"))) == (["22"], True, 20)
    data = {"act": "choose", "every": "1", "which": "chosen", "sources": [pk_of(world, "imdb.com")]}
    response = manager.post(f"{URL}?q=MORE", data)
    assert response["Location"] == f"{URL}?q=MORE#relations"
    assert chosen(world) == {index: ["imdb.com"] for index in range(1, 23)}


@pytest.mark.parametrize(
    ("data", "errors"),
    [
        ({"which": "chosen"}, {"__all__": [NO_RELATIONS]}),
        ({"relations": "0", "which": "chosen"}, {"__all__": [NO_SOURCES]}),
        ({"relations": "99", "which": "all"}, {"relations": ["invalid_choice"]}),
        ({"relations": "0", "which": "nonsense"}, {"which": ["invalid_choice"]}),
    ],
)
def test_choice_that_is_refused(world, manager, data, errors) -> None:
    choose_sources(world.campaign, [0], [pk_of(world, "imdb.com")])
    response = manager.post(URL, {"act": "choose", **data})
    assert codes(response.context["choose_form"]) == errors
    assert ("checked" in read(response).one(id="r0")) == (data.get("relations") == "0")
    assert chosen(world) == {0: ["imdb.com"]}


def test_source_of_another_campaign_cannot_be_chosen(world, manager) -> None:
    other = open_campaign(make_pool(world.pool.graph, "p2")).sources.first()
    manager.post(URL, {"act": "choose", "relations": "0", "which": "chosen", "sources": other.pk})
    assert chosen(world) == {}


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(world, manager, count: int, django_assert_num_queries) -> None:
    more_relations(world, count - 1)
    Source.objects.exclude(pk__in=Source.objects.values("pk")[:count]).delete()
    choose_sources(world.campaign, range(count), list(Source.objects.values_list("pk", flat=True)))
    manager.get(URL)
    with django_assert_num_queries(9):
        assert len(read(manager.get(URL)).all(name="relations")) == count


# -- one source ----------------------------------------------------------------------------------------------


def test_source_is_changed_but_for_its_host(world, manager) -> None:
    url = f"{URL}/{pk_of(world, 'imdb.com')}"
    data = {"act": "change", "name": "Films", "search_url": "", "host": "evil.example"}
    assert manager.post(url, data)["Location"] == URL
    assert Source.objects.filter(name="Films", host="imdb.com", search_url="").exists()
    wrong = {"name": "Films", "search_url": "ftp://{query}"}
    page = read(manager.post(url, data | wrong))
    pk = int(url.removeprefix(f"{URL}/"))
    assert page.one(id="change").texts("refused") == refusal(lambda: change_source(world.campaign, pk, **wrong))


def test_page_of_a_source_says_what_its_removal_does(world, manager) -> None:
    label_item(world, world.campaign.items.first(), ann="Y")
    pk = pk_of(world, "wikipedia.org")
    choose_sources(world.campaign, [0], [pk])
    removal = read(manager.get(f"{URL}/{pk}")).one(id="remove")
    assert removal.one("kept").text.split()[1] == "1"
    assert (removal.one("warning").one("alone").text, removal.one("number-alone").text) == ("lived_in", "1")
    refused = read(manager.post(f"{URL}/{pk}", {"act": "remove"})).one(id="remove").texts("refused")
    assert refused == refusal(lambda: remove_source(world.campaign, pk))
    assert chosen(world) == {0: ["wikipedia.org"]}
    assert manager.post(f"{URL}/{pk}", {"act": "remove", "opens": "on"})["Location"] == URL
    assert not Source.objects.filter(pk=pk).exists()
    assert read(manager.get(URL)).messages == [told.source_removed("wikipedia.org")]


def test_source_of_another_campaign_is_404(world, manager) -> None:
    other = open_campaign(make_pool(world.pool.graph, "p2")).sources.first()
    assert manager.post(f"{URL}/{other.pk}", {"act": "remove"}).status_code == 404
    assert Source.objects.filter(pk=other.pk).exists()
    assert manager.get("/pools/p1/campaign/sources/999999").status_code == 404


def test_sources_of_a_pool_are_chosen_before_its_campaign_opens(world, manager) -> None:
    make_pool(world.pool.graph, "p3")
    assert read(manager.get("/pools/p3/campaign/sources")).has(tag="input", name="act", value="add")
    assert manager.get("/pools/p4/campaign/sources").status_code == 404
