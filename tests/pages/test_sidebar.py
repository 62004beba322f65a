"""The sidebar of a pool and of a graph, the counts beside its entries, and the switch of pools."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest

from annotation.campaigns.lifecycle import prepare_campaign
from annotation.enums import FlagKind
from annotation.models import Flag, Item, QuestionTemplate
from config.sidebar import pool_entries
from core.enums import JobState
from core.models import Job
from evaluation.pages.registry import ANALYSES
from pooling.enums import PoolingJob
from pooling.models import Pool
from tests.page import Element, content, element, has, parse
from tests.pages.world import make_pool

ENTRIES = ["Overview", "Data", "Setup", "Work", "Quality", "Results", "Export"]


def entries(page: object) -> list[str]:
    side = element(page, "sidebar")
    return [one.text for one in side.walk() if "entry" in one.attrs.get("class", "").split()]


def links(page: object) -> list[Element]:
    return element(page, "sidebar").all(tag="a")


def elements_with(page: object, css_class: str) -> list[Element]:
    return [one for one in links(page) if css_class in one.attrs.get("class", "").split()]


def current(page: object) -> tuple[list[str], list[str]]:
    """Return the words of the open entries, and the addresses of the current page."""
    side = element(page, "sidebar")
    groups = side.all(tag="details", class_="entry-group")
    is_open = [one.elements[0].text for one in groups if "open" in one.attrs]
    return is_open, [a["href"] for a in side.all(tag="a") if a.attrs.get("aria-current") == "page"]


def test_a_manager_sees_seven_entries_and_each_page_of_them_answers(world: dict, sign_in):
    client = sign_in("manager")
    page = client.get("/pools/town-pool")
    assert entries(page) == ENTRIES
    for link in links(page):
        found = client.get(link["href"], follow=True)
        assert found.status_code in (200, 409), (link["href"], found.status_code)
        assert entries(found) == ENTRIES, link["href"]
        assert current(found)[1] == [link["href"]], link["href"]


def test_the_comments_of_the_inbox_belong_to_the_inbox(world: dict, sign_in):
    page = sign_in("manager").get("/pools/town-pool/campaign/inbox?part=comments")
    assert current(page) == (["Work"], ["/pools/town-pool/campaign/inbox"])


def test_freezing_is_found_in_the_sidebar_and_the_search(world: dict, sign_in):
    client = sign_in("manager")
    (link,) = [one for one in links(client.get("/pools/town-pool")) if one["href"] == "/pools/town-pool/export"]
    assert (link.text, link["title"]) == ("Export", "Freeze qrels and export")
    shown = client.get("/search?q=qrels&pool=town-pool").content.decode()
    assert "town-pool · Freeze qrels and export" in shown


def test_a_researcher_sees_what_they_may_open(world: dict, sign_in):
    client = sign_in("researcher")
    page = client.get("/pools/town-pool")
    assert entries(page) == ENTRIES
    assert {link.text for link in links(page)} & {"Rules", "People", "Inbox", "Items", "Checks"} == set()
    assert [link["href"] for link in links(page) if client.get(link["href"]).status_code == 403] == []


def test_pages_of_a_campaign_that_is_not_open_lead_to_where_it_is_opened(world: dict, sign_in):
    make_pool(world["graph"], "second")
    client = sign_in("manager")
    ready = {f"/pools/second/campaign/{part}" for part in ("sources", "guidelines", "people", "rules")}
    for link in links(client.get("/pools/second")):
        if "/campaign/" in link["href"]:
            answer = client.get(link["href"], follow=True)
            is_ready = link["href"] in ready
            assert answer.redirect_chain == ([] if is_ready else [("/pools/second/campaign", 302)]), link["href"]
            assert is_ready or "not open yet" in " ".join(content(answer).messages)
            # and the link says so before it is pressed
            marked = (link.attrs.get("class"), link.attrs.get("title"), "(after opening)" in link.text)
            assert marked == ((None, None, False) if is_ready else ("later", "After opening", True))
            ready.discard(link["href"])
    assert not ready
    # pages that know the campaign, made for the preparation or not yet, say the same without asking
    for _ in range(2):
        prepared = client.get("/pools/second/campaign/rules")
        assert len(elements_with(prepared, "later")) == 7
        prepare_campaign(Pool.objects.get(name="second"))
    for url in ("/pools/town-pool", "/pools/town-pool/campaign/rules", "/graphs/town"):
        assert elements_with(client.get(url), "later") == []
    assert sign_in("annotator").get("/campaigns/second/annotate").status_code == 404


def test_people_who_label_have_no_sidebar(sign_in):
    for role in ("annotator", "adjudicator"):
        assert not has(sign_in(role).get("/campaigns/town-pool/guidelines"), "sidebar")
        assert sign_in(role).get("/pools/town-pool/attention").status_code == 403


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/pools/town-pool", ([], ["/pools/town-pool"])),
        ("/pools/town-pool/questions/import", (["Setup"], ["/pools/town-pool/questions"])),
        ("/pools/town-pool/evaluation/stability", (["Results"], ["/pools/town-pool/evaluation/stability"])),
        ("/pools/town-pool/evaluation/paper-001", (["Results"], ["/papers?pool=town-pool"])),
        ("/pools/town-pool/campaign/triples", (["Work"], ["/pools/town-pool/campaign/triples"])),
        (
            "/pools/town-pool/campaign/triples?state=disputed",
            (["Work"], ["/pools/town-pool/campaign/triples?state=disputed"]),
        ),
        ("/graphs/town/systems/rotate?pool=town-pool", (["Data"], ["/graphs/town/systems?pool=town-pool"])),
        ("/graphs/town/systems/rotate", (["Data"], ["/graphs/town/systems"])),
    ],
)
def test_the_entry_of_a_page_is_open(url: str, expected: tuple, sign_in):
    assert current(sign_in("manager").get(url)) == expected


def test_a_graph_has_a_sidebar_of_its_own_unless_a_pool_of_it_leads_there(world: dict, sign_in):
    client = sign_in("manager")
    assert entries(client.get("/graphs/town")) == ["Data"]
    assert entries(client.get("/graphs/town?pool=town-pool")) == ENTRIES
    assert entries(client.get("/graphs/town?pool=other")) == ["Data"]
    assert not has(client.get("/graphs"), "sidebar")


@pytest.mark.parametrize("query", ["", "?pool=town-pool"])
def test_pages_of_systems_stay_in_the_pool_that_led_there(query: str, world: dict, sign_in):
    client = sign_in("manager")

    def linked(url: str) -> set[str]:
        return {one["href"] for one in content(client.get(url)).all(tag="a")}

    listed = linked(f"/graphs/town/systems{query}")
    assert {f"/graphs/town/systems/rotate{query}", f"/graphs/town/train/rotate{query}"} <= listed
    assert f"/graphs/town/systems{query}" in linked(f"/graphs/town/train/rotate{query}")


def test_every_analysis_is_listed_once():
    (results,) = [entry for entry in pool_entries() if entry.key == "results"]
    shown = [item.analysis for group in results.groups for item in group.items if item.analysis]
    assert sorted(shown) == sorted(analysis.key for analysis in ANALYSES)


def test_menu_heading_title_and_search_call_a_page_the_same(world: dict, sign_in):
    client = sign_in("manager")
    for entry in pool_entries():
        for item in (item for group in entry.groups for item in group.items):
            page = parse(client.get(item.url(world["pool"], world["graph"]), follow=True))
            (link,) = [one for one in page.one("sidebar").all(tag="a") if one.attrs.get("aria-current") == "page"]
            assert link.text == item.label
            if item.own_label in ("", "Disputes") or item.analysis:  # the others are headed by the pool or graph
                assert page.one(tag="h1").text == item.label
                assert page.texts(tag="title")[0].startswith(item.label), item
            results = content(client.get(f"/search?q={item.label}&pool=town-pool"))
            assert item.label in [one.elements[0].text for one in results.all(tag="a") if one.elements]


def test_results_show_the_pages_of_one_group_only(sign_in):
    def open_groups(url: str) -> list[str]:
        parts = element(sign_in("manager").get(url), "sidebar").all(class_="entry-part")
        assert [one.one(tag="summary").text for one in parts] == [
            "Ranking",
            "Reliability",
            "Coverage",
            "Lenses",
            "Papers",
        ]
        return [one.one(tag="summary").text for one in parts if "open" in one.attrs]

    assert open_groups("/pools/town-pool/evaluation/depth") == ["Coverage"]
    assert open_groups("/pools/town-pool/evaluation/triples") == ["Ranking"]
    assert open_groups("/pools/town-pool") == ["Ranking"]  # folded with its entry


def test_counts_are_those_of_the_pool(world: dict, sign_in):
    client = sign_in("manager")
    Job.objects.all().delete()
    before = json.loads(client.get("/pools/town-pool/attention").content)
    assert before == {"jobs": 0, "notices": 0, "inbox": 0, "disputes": 0}
    item = Item.objects.filter(campaign=world["campaign"]).first()
    words = QuestionTemplate.objects.first()
    Item.objects.filter(pk=item.pk).update(state="disputed")
    by = {"campaign": world["campaign"], "item": item, "person": world["annotator"], "template": words}
    Flag.objects.create(**by, kind=FlagKind.values[0], text="Odd.", client_id=uuid4())
    Job.objects.create(kind=PoolingJob.TRAIN, state=JobState.RUNNING)
    assert json.loads(client.get("/pools/town-pool/attention").content) == {
        "jobs": 1,
        "notices": 1,
        "inbox": 1,
        "disputes": 1,
    }
    assert json.loads(client.get("/attention").content) == {"jobs": 1, "notices": 1}
    make_pool(world["graph"], "second")
    assert json.loads(client.get("/pools/second/attention").content) == {"jobs": 1, "notices": 1}
    assert json.loads(sign_in("researcher").get("/attention").content) == {"jobs": 1}


def test_pools_to_switch_to_begin_with_those_of_the_graph(world: dict, sign_in):
    make_pool(world["graph"], "second")
    page = content(sign_in("researcher").get("/pools/switch?graph=town"))
    assert [a["href"] for a in page.all(tag="a")] == ["/pools/second", "/pools/town-pool", "/pools"]
