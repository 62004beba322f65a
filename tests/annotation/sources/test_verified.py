"""Verified sources: the usual ones, what may be added, and which count for which relation."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import pytest
from django.conf import settings

from annotation.campaigns.lifecycle import open_campaign
from annotation.campaigns.overview import labels_by_source
from annotation.errors import CampaignError
from annotation.judging.label_file import read_label_file
from annotation.models import Campaign, Label, Slot, Source
from annotation.sources.evidence import problem_of
from annotation.sources.verified import (
    add_source,
    add_usual_sources,
    change_source,
    choose_sources,
    only_source_of,
    remove_source,
    restore_sources,
    verified,
)
from core.models import AuditEntry
from pooling.graphs.opening import open_graph
from pooling.models import Relation
from tests.annotation.factories import label_item, make_pool

USUAL = json.loads((settings.BASE_DIR / "fixtures" / "sources.json").read_text(encoding="utf-8"))


@pytest.fixture
def campaign(world) -> Campaign:
    return world.campaign


@pytest.fixture
def second(world) -> Relation:
    """Another relation of the graph; the pool asks about relation 0 only."""
    return Relation.objects.create(graph=world.pool.graph, index=1, key="born_in")


def pk_of(campaign: Campaign, host: str) -> int:
    return campaign.sources.get(host=host).pk


def audit() -> list[tuple[str, str]]:
    acts = ("source-added", "source-changed", "source-removed", "sources-chosen")
    return list(AuditEntry.objects.filter(act__in=acts).order_by("pk").values_list("act", "about"))


# -- the usual sources ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", USUAL, ids=lambda source: source["host"])
def test_usual_source_searches_at_its_own_host(source: dict[str, str]) -> None:
    assert set(source) - {"topics"} == {"name", "host", "search"}
    assert problem_of(f"https://{source['host']}/", [source["host"]]) == ""
    if source["search"]:
        assert source["search"].count("{query}") == 1
        parts = urlsplit(source["search"])
        assert parts.scheme == "https"
        assert problem_of(source["search"].replace("{query}", "Ada"), [source["host"]]) == ""


def test_usual_sources_differ() -> None:
    assert len({source["host"] for source in USUAL}) == len({source["name"] for source in USUAL}) == len(USUAL)
    assert {"wikipedia.org", "wikidata.org", "imdb.com", "allmusic.com", "musicbrainz.org"} <= {
        source["host"] for source in USUAL
    }


def test_campaign_opens_with_the_usual_sources(campaign) -> None:
    rows = list(campaign.sources.order_by("pk").values_list("name", "host", "search_url"))
    assert rows == [(one["name"], one["host"], one["search"]) for one in USUAL]
    assert audit() == []


def test_restore_adds_what_is_missing_and_leaves_the_rest(campaign, world) -> None:
    change_source(campaign, pk_of(campaign, "imdb.com"), name="Films", search_url="", by=None)
    for host in ("wikipedia.org", "viaf.org"):
        remove_source(campaign, pk_of(campaign, host))
    assert restore_sources(campaign, by=world.manager) == 2
    assert campaign.sources.count() == len(USUAL)
    assert campaign.sources.get(host="imdb.com").name == "Films"
    assert audit()[-1] == ("source-added", "the usual sources")
    assert restore_sources(campaign) == 0 == add_usual_sources(campaign)
    assert len(audit()) == 4


# -- one source ----------------------------------------------------------------------------------------------


def test_source_is_added_with_a_plain_host(campaign, world) -> None:
    source = add_source(
        campaign, name=" DNB ", host=" DNB.de. ", search_url=" https://dnb.de/?q={query} ", by=world.manager
    )
    assert (source.name, source.host, source.search_url) == ("DNB", "dnb.de", "https://dnb.de/?q={query}")
    assert add_source(campaign, name="M", host="Müller.example").host == "xn--mller-kva.example"
    assert audit() == [("source-added", "dnb.de"), ("source-added", "xn--mller-kva.example")]
    assert AuditEntry.objects.filter(act="source-added").first().pool == world.pool


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"host": "https://a.org"}, "'https://a.org' is not a host name"),
        ({"host": "a.org:8000"}, "is not a host name"),
        ({"host": "a.org/wiki"}, "is not a host name"),
        ({"host": "me@a.org"}, "is not a host name"),
        ({"host": "*.a.org"}, "is not a host name"),
        ({"host": "127.0.0.1"}, "is not a host name"),
        ({"host": "2130706433"}, "is not a host name"),
        ({"host": "localhost"}, "is not a host name"),
        ({"host": ""}, "is not a host name"),
        ({"host": "co.uk"}, "Anybody can have a site below co.uk: give the host of one site"),
        ({"host": "GitHub.io."}, "Anybody can have a site below github.io"),
        ({"host": "s3.amazonaws.com"}, "Anybody can have a site below"),
        ({"host": "a..org"}, "is not a host name"),
        ({"host": "straße.example"}, "is not a host name"),
        ({"host": "a." * 100 + "org"}, "is not a host name"),
        ({"host": "wikipedia.org"}, "is a source of this campaign already"),
        ({"host": "WIKIPEDIA.org."}, "wikipedia.org is a source of this campaign already"),
        ({"name": " "}, "a name of 1 to 80 characters"),
        ({"name": "x" * 81}, "a name of 1 to 80 characters"),
        ({"search_url": "http://a.org/{query}"}, "give an https address"),
        ({"search_url": "javascript:alert({query})"}, "give an https address"),
        ({"search_url": "//a.org/{query}"}, "give an https address"),
        ({"search_url": "https://{query}.org/"}, "give an https address"),
        ({"search_url": "https://me@a.org/{query}"}, "give an https address"),
        ({"search_url": "https://[a.org/{query}"}, "give an https address"),
        ({"search_url": "https://a.org/"}, "must contain {query} once"),
        ({"search_url": "https://a.org/{query}/{query}"}, "must contain {query} once"),
        ({"search_url": "https://a.org/{query}/{subject}"}, "and no other braces"),
        ({"search_url": "https://a.org/{query}" + "x" * 300}, "shorten it to 300"),
    ],
)
def test_source_that_is_refused(campaign, fields: dict[str, str], message: str) -> None:
    with pytest.raises(CampaignError) as refused:
        add_source(campaign, **{"name": "A", "host": "a.org", **fields})
    assert message in str(refused.value)
    assert (campaign.sources.count(), audit()) == (len(USUAL), [])


def test_change_keeps_the_host(campaign) -> None:
    pk = pk_of(campaign, "imdb.com")
    changed = change_source(campaign, pk, name="Films", search_url="https://imdb.com/{query}")
    assert Source.objects.values_list("name", "host", "search_url").get(pk=pk) == (
        "Films",
        "imdb.com",
        "https://imdb.com/{query}",
    )
    change_source(campaign, pk, name=changed.name, search_url=changed.search_url)
    assert audit() == [("source-changed", "imdb.com")]
    with pytest.raises(CampaignError, match="give an https address"):
        change_source(campaign, pk, name="Films", search_url="http://imdb.com/{query}")


def test_source_of_another_campaign_is_neither_changed_nor_removed(campaign, world) -> None:
    other = open_campaign(make_pool(world.pool.graph, "p2")).sources.first()
    for act in (
        lambda: change_source(campaign, other.pk, name="Mine", search_url=""),
        lambda: remove_source(campaign, other.pk),
        lambda: choose_sources(campaign, [0], [other.pk]),
    ):
        with pytest.raises(CampaignError):
            act()
    assert Source.objects.get(pk=other.pk).name == other.name
    assert Source.relations.through.objects.count() == 0


def test_removed_source_leaves_labels_and_their_links(campaign, world) -> None:
    label_item(world, campaign.items.first(), ann="Y")
    assert remove_source(campaign, pk_of(campaign, "wikipedia.org"), by=world.manager) == "wikipedia.org"
    assert Label.objects.get().source_url == "https://en.wikipedia.org/wiki/Ada"
    assert audit() == [("source-removed", "wikipedia.org")]
    with pytest.raises(CampaignError, match="somebody removed it"):
        remove_source(campaign, 0)


# -- by relation ---------------------------------------------------------------------------------------------


def test_relation_takes_all_sources_until_some_are_chosen(campaign, second, world) -> None:
    everywhere = [one["host"] for one in USUAL]
    assert verified(campaign).hosts(0) == everywhere
    chosen = [pk_of(campaign, host) for host in ("imdb.com", "wikidata.org")]
    assert choose_sources(campaign, [0], chosen, by=world.manager) == 1
    known = verified(campaign)
    assert known.hosts(0) == ["wikidata.org", "imdb.com"]
    assert [source.name for source in known.of(0)] == ["Wikidata", "IMDb"]
    assert known.hosts(1) == everywhere == known.hosts(99)
    entry = AuditEntry.objects.get(act="sources-chosen")
    assert (entry.about, entry.details) == ("lived_in", {"n": 1, "sources": ["wikidata.org", "imdb.com"]})


def test_choice_of_several_relations_replaces_the_one_before(campaign, second) -> None:
    wiki, imdb = pk_of(campaign, "wikipedia.org"), pk_of(campaign, "imdb.com")
    choose_sources(campaign, [0], [wiki])
    assert choose_sources(campaign, [0, 1], [imdb]) == 2
    known = verified(campaign)
    assert (known.hosts(0), known.hosts(1)) == (["imdb.com"], ["imdb.com"])
    choose_sources(campaign, [1], None)
    known = verified(campaign)
    assert (known.hosts(0), len(known.hosts(1))) == (["imdb.com"], len(USUAL))


def test_choice_of_one_campaign_is_not_that_of_another(campaign, world) -> None:
    other = open_campaign(make_pool(world.pool.graph, "p2"))
    choose_sources(campaign, [0], [pk_of(campaign, "imdb.com")])
    choose_sources(other, [0], [pk_of(other, "viaf.org")])
    assert verified(campaign).hosts(0) == ["imdb.com"]
    assert verified(other).hosts(0) == ["viaf.org"]
    choose_sources(other, [0], None)
    assert verified(campaign).hosts(0) == ["imdb.com"]


@pytest.mark.parametrize(
    ("relations", "sources", "message"),
    [
        ([], None, "Choose the relations that you mean"),
        ([0, 99], None, "Choose the relations that you mean"),
        ([0], [], "Choose one source or more"),
        ([0], [0], "Choose one source or more"),
    ],
)
def test_choice_that_is_refused_changes_nothing(campaign, relations, sources, message: str) -> None:
    choose_sources(campaign, [0], [pk_of(campaign, "imdb.com")])
    with pytest.raises(CampaignError, match=message):
        choose_sources(campaign, relations, sources)
    assert verified(campaign).hosts(0) == ["imdb.com"]


def test_last_chosen_source_is_not_removed_without_saying_what_follows(campaign, second) -> None:
    wiki, imdb = pk_of(campaign, "wikipedia.org"), pk_of(campaign, "imdb.com")
    choose_sources(campaign, [0], [imdb])
    choose_sources(campaign, [1], [imdb, wiki])
    assert only_source_of(campaign.sources.get(pk=imdb)) == ["lived_in"]
    assert only_source_of(campaign.sources.get(pk=wiki)) == []
    with pytest.raises(CampaignError, match=r"is the only source that was chosen for lived_in\."):
        remove_source(campaign, imdb)
    assert verified(campaign).hosts(0) == ["imdb.com"]
    remove_source(campaign, imdb, opens=True)
    known = verified(campaign)
    assert (len(known.hosts(0)), known.hosts(1)) == (len(USUAL) - 1, ["wikipedia.org"])
    assert AuditEntry.objects.get(act="source-removed").details == {"opened": ["lived_in"]}


@pytest.mark.parametrize("count", [1, 3])
def test_verified_takes_one_query(campaign, second, count: int, django_assert_num_queries) -> None:
    choose_sources(campaign, [0, 1][:count], list(campaign.sources.values_list("pk", flat=True)[:count]))
    with django_assert_num_queries(1):
        known = verified(campaign)
        assert len(known.hosts(0)) == count


# -- labels --------------------------------------------------------------------------------------------------


def test_labels_are_counted_by_source(campaign, world) -> None:
    nested = add_source(campaign, name="English Wikipedia", host="en.wikipedia.org")
    items = list(campaign.items.all()[:4])
    for item in items:
        label_item(world, item, ann="Y")
    links = (
        "https://EN.wikipedia.org/wiki/Ada",
        "https://de.wikipedia.org",
        "https://imdb.com?x=1",
        "https://notwikipedia.org/imdb.com",
    )
    for item, link in zip(items, links, strict=True):
        Label.objects.filter(item=item).update(source_url=link)
    counts = labels_by_source(campaign)
    assert {pk: n for pk, n in counts.items() if n} == {
        pk_of(campaign, "wikipedia.org"): 2,
        nested.pk: 1,
        pk_of(campaign, "imdb.com"): 1,
    }
    Slot.objects.filter(item=items[0]).exclude(annotator=None).update(state="withdrawn")
    assert labels_by_source(campaign)[nested.pk] == 0


def test_imported_label_with_another_source_is_noted_and_counts(campaign, second, tmp_path) -> None:
    graph = open_graph(campaign.pool.graph)
    file = tmp_path / "labels.tsv"
    urls = ["https://en.wikipedia.org/wiki/Ada", "https://www.imdb.com/x", "http://imdb.com/", ""]
    file.write_text("".join(f"p1\tlived_in\tc{n}\tY\tann\t{url}\n" for n, url in enumerate(urls)))
    assert [line.notes for line in read_label_file(file, graph)] == [(), (), (), ()]
    choose_sources(campaign, [0], [pk_of(campaign, "imdb.com")])
    notes = [line.notes for line in read_label_file(file, graph, verified(campaign).hosts)]
    assert notes == [
        (
            "source 'https://en.wikipedia.org/wiki/Ada' goes to en.wikipedia.org, "
            "which is not accepted; the label counts",
        ),
        (),
        ("source 'http://imdb.com/' does not begin with https://; the label counts",),
        (),
    ]
