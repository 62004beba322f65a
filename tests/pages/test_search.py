"""The search: what it finds within and outside a pool, in which order, for whom, and with how many queries."""

from __future__ import annotations

from urllib.parse import quote_plus, urlsplit

import pytest
from django.test import Client
from django.urls import resolve
from django.utils import timezone

from annotation.campaigns.lifecycle import open_campaign, prepare_campaign
from annotation.models import Membership
from config.navigation import rights_by_pool
from config.pages import KEYWORDS, PAGES
from config.sidebar import pool_entries
from core.people.languages import choose_language
from evaluation.browse.own_search import ACCOUNT, search_own
from evaluation.browse.ranked import MOST
from tests.page import content, has, parse
from tests.pages.world import make_graph, make_person, make_pool

IN_POOL = "&pool=town-pool"


def found(client: Client, text: str, more: str = "") -> dict[str, list[str]]:
    """Return the addresses that a search finds, by kind."""
    page = content(client.get(f"/search?q={quote_plus(text)}{more}"))
    kinds, lists = page.texts(tag="h2"), page.all(tag="ul")
    shown = lists[-len(kinds) :] if kinds else []  # before them are those of the navigation
    return {kind: [a["href"] for a in one.all(tag="a")] for kind, one in zip(kinds, shown, strict=True)}


def first(client: Client, text: str, more: str = "") -> str:
    """Return the address that Enter opens."""
    return next(iter(found(client, text, more).values()))[0]


def test_search_finds_what_its_words_name(world: dict, sign_in):
    client = sign_in("manager")
    assert found(client, "town")["Pools"] == ["/pools/town-pool"]
    assert found(client, "TOWN")["Graphs"] == ["/graphs/town"]
    assert found(client, "rot")["Systems"] == ["/graphs/town/systems/rotate"]
    (system,) = parse(client.get("/search", {"q": "rotate"})).all(tag="a", href="/graphs/town/systems/rotate")
    assert system.text == "RotatE on town"
    assert found(client, "annotat")["People"] == [f"/people/{world['annotator'].pk}"]
    assert found(client, "glossary")["Help"] == ["/help/glossary"]
    power = "/pools/town-pool/evaluation/discriminative"
    assert found(client, "discriminative town", IN_POOL)["Pages"] == [power]
    assert found(client, "zzzz") == found(client, "zzzz", IN_POOL) == {}


@pytest.mark.parametrize("more", ["", IN_POOL])
def test_relations_and_entities_are_found_within_a_pool_and_outside(world: dict, sign_in, more: str):
    client = sign_in("researcher")
    assert found(client, "knows", more) == {"Relations": ["/pools/town-pool/evaluation/triples?relation=0"]}
    assert found(client, "cleo", more) == {"Entities": ["/pools/town-pool/evaluation/triples?q=cleo"]}


def test_managers_find_the_items_that_name_an_entity(world: dict, sign_in):
    triples, items = "/pools/town-pool/evaluation/triples?q=cleo", "/pools/town-pool/campaign/triples?q=cleo"
    assert found(sign_in("manager"), "cleo", IN_POOL) == {"Entities": [triples], "Items": [items]}
    assert found(sign_in("manager"), "cleo") == {"Entities": [triples]}


def test_measures_and_terms_are_found_in_the_help_where_they_are_explained(world: dict, sign_in):
    client = sign_in("researcher")
    assert found(client, "macro MRR", IN_POOL) == {
        "Help": ["/help/measures#macro-mrr", "/help/measures#condensed-macro-mrr"]
    }
    assert found(client, "Lease") == {"Help": ["/help/glossary#labels"]}
    macro = found(client, "macro")["Help"]
    assert macro[:2] == ["/help/glossary#evaluation", "/help/measures#macro-mr"]
    for address in found(client, "micro")["Help"]:
        page = content(client.get(address))
        assert page.has(id=urlsplit(address).fragment)


def test_managers_are_led_to_the_items_that_a_statement_names(world: dict, sign_in):
    led = {"Statement": ["/pools/town-pool/campaign/triples?q=zz+qq+xx"]}
    assert found(sign_in("manager"), "zz qq xx", IN_POOL) == led
    assert found(sign_in("manager"), "zz qq", IN_POOL) == found(sign_in("manager"), "zz qq xx") == {}
    assert found(sign_in("researcher"), "zz qq xx", IN_POOL) == {}


def test_outside_a_pool_the_pages_of_all_pools_are_found_each_with_its_pool(world: dict, sign_in, tmp_path):
    make_pool(world["graph"], "second")
    make_pool(make_graph(tmp_path / "village", "village"), "third")
    client = sign_in("researcher")
    pages = found(client, "seeds")["Pages of pools"]
    assert pages == [f"/pools/{pool}/seeds" for pool in ("third", "second", "town-pool")]
    page = content(client.get("/search?q=seeds"))
    told = [
        a.all(tag="span")[1].text.split(" · ")[0] for a in page.all(tag="a") if a["href"] in pages and a.has(tag="span")
    ]
    assert told == ["third", "second", "town-pool"]
    assert found(client, "seeds second")["Pages of pools"] == ["/pools/second/seeds"]
    assert "Pages of pools" not in found(client, "")
    assert found(client, "seeds", IN_POOL)["Pages"] == ["/pools/town-pool/seeds"]
    assert "Pages of pools" not in found(client, "seeds", IN_POOL)
    assert found(client, "seeds second", IN_POOL) == {"Pages of other pools": ["/pools/second/seeds"]}
    assert found(client, "third seeds", IN_POOL) == {"Pages of other pools": ["/pools/third/seeds"]}
    assert "Pages of other pools" not in found(client, "seeds town", IN_POOL) | found(client, "", IN_POOL)
    # an entity of each graph once, with the newest pool of the graph
    assert found(client, "cleo")["Entities"] == [
        f"/pools/{pool}/evaluation/triples?q=cleo" for pool in ("third", "second")
    ]


def test_what_is_named_as_typed_comes_before_what_begins_so_and_what_holds_it(world: dict, sign_in):
    for name in ("pool-20", "a-pool-2", "pool-2", *(f"pool-2{letter}" for letter in "abcdefgh")):
        make_pool(world["graph"], name)
    pools = found(sign_in("researcher"), "pool-2")["Pools"]
    assert len(pools) == MOST
    assert pools[:2] == ["/pools/pool-2", "/pools/pool-2h"]
    assert "/pools/a-pool-2" not in pools
    assert found(sign_in("researcher"), "p2")["Entities"] == ["/pools/pool-2h/evaluation/triples?q=cleo"]


# what a manager types, and where it leads: from home, and from a page of the pool
WORDS = {
    "freeze": "/pools/town-pool/export",
    "qrels": "/pools/town-pool/export",
    "cite": "/pools/town-pool/export",
    "test set": "/pools/town-pool/export",
    "download": "/pools/town-pool/export",
    "disputes": "/pools/town-pool/campaign/triples?state=disputed",
    "disputed": "/pools/town-pool/campaign/triples?state=disputed",
    "kappa": "/pools/town-pool/campaign/quality",
    "tau": "/pools/town-pool/evaluation/correlation",
    "guidelines": "/pools/town-pool/campaign/guidelines",
    "undo": "/pools/town-pool/campaign/people",
    "backup": "/help/keeping",
    "keys": "/account/tokens",
    "password": "/account/password",
    "dark": "/account",
    "download test set": "/pools/town-pool/export",
    "assign items to a person": "/pools/town-pool/campaign/triples",
    "who is the worst annotator?": "/pools/town-pool/campaign/annotators",
    "what if I had fewer labels": "/pools/town-pool/evaluation/stability",
    "cancel": "/jobs",
    "winner": "/pools/town-pool/evaluation",
    "money": "/pools/town-pool/campaign",
    "complaints": "/pools/town-pool/campaign/inbox",
    "worst relation": "/pools/town-pool/campaign/quality",
}


@pytest.mark.parametrize("more", ["", IN_POOL])
@pytest.mark.parametrize("text", [*WORDS, "invite"])
def test_the_first_result_of_a_word_is_the_page_that_does_it(world: dict, sign_in, text: str, more: str):
    wanted = WORDS | {"invite": "/pools/town-pool/campaign/people" if more else "/people"}
    assert first(sign_in("manager"), text, more) == wanted[text]


OWN_WORDS = {
    "how do I undo": "/campaigns/town-pool/labels",
    "german": "/account",
    "undo": "/campaigns/town-pool/labels",
    "guidelines": "/campaigns/town-pool/guidelines",
    "annotate": "/campaigns/town-pool/annotate",
    "report": "/campaigns/town-pool/messages",
    "keys": "/account#keys",
    "dark": "/account",
    "download": "/account",
    "password": "/account/password",
    "glossary": "/help/glossary",
}


@pytest.mark.parametrize("text", OWN_WORDS)
def test_people_who_label_find_the_page_that_does_it(world: dict, sign_in, text: str):
    for role in ("annotator", "adjudicator"):
        assert first(sign_in(role), text) == OWN_WORDS[text]


def test_only_adjudicators_find_disputes(world: dict, sign_in):
    assert first(sign_in("adjudicator"), "disputed") == "/campaigns/town-pool/adjudicate"
    assert first(sign_in("adjudicator"), "disputes") == "/campaigns/town-pool/disputes"
    assert [found(sign_in("annotator"), text) for text in ("disputes", "disputed")] == [{}, {}]
    assert found(sign_in("annotator"), "adjudicate") == {"Help": ["/help/labelling"]}


def test_keywords_are_of_pages_that_a_search_lists():
    items = {item.page for entry in pool_entries() for group in entry.groups for item in group.items}
    assert set(KEYWORDS) - items - set(PAGES) - {key for _, key in ACCOUNT} == set()


@pytest.mark.parametrize("role", ["annotator", "adjudicator"])
def test_people_who_label_find_nothing_that_they_may_not_open(world: dict, sign_in, role: str):
    make_person("someone-else", campaign=open_campaign(make_pool(world["graph"], "second")), role="annotator")
    client = sign_in(role)
    # a pool's pages, another pool, its graph, systems, entities, relations, people, analyses, help of managers
    for text in (
        *("export", "seeds", "overlap", "evaluation", "filter", "second", "rotate", "transe", "cleo", "knows"),
        *("lives in", "someone", "manager", "researcher", "kappa", "tau", "freeze", "qrels", "backup", "jobs", "audit"),
    ):
        for more in ("", IN_POOL, "&pool=second"):
            assert found(client, text, more) == {}, text
    everything = {
        url for text in ("", "a", "e", "town", "town-pool") for urls in found(client, text).values() for url in urls
    }
    assert {urlsplit(url).path.split("/")[1] for url in everything} == {"campaigns", "account", "help", ""}
    for url in everything:
        assert client.get(url).status_code == 200, url
    page = client.get(f"/search?q={IN_POOL}").content.decode()
    assert [name for name in ("rotate", "cleo", "knows", "second", "/pools") if name in page] == []


def test_a_campaign_that_has_not_opened_is_not_found(world: dict, sign_in):
    later = prepare_campaign(make_pool(world["graph"], "later"))
    Membership.objects.create(campaign=later, person=world["annotator"], role="annotator", consented_at=timezone.now())
    assert [*rights_by_pool(world["annotator"])] == ["town-pool"]
    assert found(sign_in("annotator"), "later") == {}


def test_the_search_of_people_who_label_speaks_their_language(world: dict, sign_in):
    choose_language(world["annotator"], "de")
    client = sign_in("annotator")
    page = client.get("/search?q=rückgängig")
    assert b'<html lang="de"' in page.content
    assert found(client, "rückgängig") == {"Kampagnen": ["/campaigns/town-pool/labels"]}
    assert found(client, "dunkle")["Seiten"] == ["/account"]
    assert found(client, "glossar")["Hilfe"] == ["/help/glossary"]
    choose_language(world["manager"], "de")
    assert b'<html lang="en"' in sign_in("manager").get("/search?q=undo").content


def test_every_page_of_a_person_has_a_way_to_the_search(world: dict, sign_in):
    for role in ("annotator", "adjudicator", "researcher", "manager"):
        for url in ("/", "/account", "/help"):
            assert has(sign_in(role).get(url), "search-link"), (role, url)
    assert has(sign_in("annotator").get("/campaigns/town-pool/annotate"), "loop-search")
    assert has(sign_in("adjudicator").get("/campaigns/town-pool/adjudicate"), "loop-search")
    assert not has(Client().get("/login"), "search-link")
    assert Client().get("/search").status_code == 302


def test_search_shows_nobody_what_they_may_not_open(world: dict, sign_in):
    client = sign_in("researcher")
    assert "People" not in found(client, "annotat")
    for text in ("", "rules", "o", "invite", "disputed"):
        for more in ("", IN_POOL):
            for url in [url for urls in found(client, text, more).values() for url in urls]:
                assert resolve(urlsplit(url).path)
                assert client.get(url).status_code != 403, url


def test_a_search_survives_odd_text(sign_in):
    for role in ("manager", "annotator"):
        client = sign_in(role)
        for text in ("%3Cscript%3E", "a" * 500, "%25", "_"):
            page = client.get(f"/search?q={text}{IN_POOL}")
            assert page.status_code == 200 and b"<script>alert" not in page.content


def test_a_graph_whose_files_are_gone_does_not_break_the_search(world: dict, sign_in):
    world["graph"].artifact = "graphs/gone"
    world["graph"].save()
    assert found(sign_in("manager"), "annotat")["People"] == [f"/people/{world['annotator'].pk}"]
    assert found(sign_in("manager"), "cleo") == {}


@pytest.mark.parametrize("num_pools", [1, 3])
def test_queries_of_a_search(world: dict, sign_in, django_assert_num_queries, tmp_path, num_pools: int):
    for number in range(1, num_pools):
        make_pool(make_graph(tmp_path / f"graph-{number}", f"graph-{number}"), f"pool-{number}")
    manager, annotator = sign_in("manager"), sign_in("annotator")
    found(manager, "o")
    with django_assert_num_queries(6):  # session, person; pools, graphs, systems, people
        manager.get("/search?part=1&q=o")
    with django_assert_num_queries(8):  # and the pool that it is asked from, and whether it has items
        manager.get(f"/search?part=1&q=o{IN_POOL}")
    with django_assert_num_queries(3):  # session, person; campaigns, memberships
        annotator.get("/search?part=1&q=o")
    assert len(search_own("", world["annotator"])) == 3
