"""What every page has: escaping, a strict policy, navigation by role, no inline code, no other host."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import get_resolver
from django.utils import timezone

from annotation.campaigns.lifecycle import open_campaign
from annotation.models import Membership
from config.pages import PAGES as FRAMES
from config.stages import STAGES
from tests.page import element, elements, has, parse
from tests.pages.test_access import PAGES
from tests.pages.world import EVIL, make_pool

TEMPLATES = sorted(
    path
    for path in Path(settings.BASE_DIR, "templates").rglob("*.html")
    if path.name != "report_file.html"  # no page: a file that is taken away, and holds all it needs
)
EVALUATOR_PAGES = [
    "/", "/graphs", "/graphs/town", "/graphs/town/systems", "/graphs/town/systems/rotate",
    "/import-graph",
    "/graphs/town/runs", "/systems", "/pools", "/pools/new", "/pools/town-pool", "/pools/town-pool/triples",
    "/pools/town-pool/filter", "/pools/town-pool/evaluation", "/pools/town-pool/export",
    "/pools/town-pool/questions", "/pools/town-pool/questions/0", "/pools/town-pool/questions/import",
    "/pools/town-pool/questions/missing-labels", "/pools/town-pool/campaign/sources",
    "/pools/town-pool/campaign/guidelines", "/pools/town-pool/campaign", "/people", "/jobs",
    "/pools/town-pool/campaign/people", "/audit", "/account", "/account/password", "/account/erase",
]  # fmt: skip


@pytest.mark.parametrize("url", EVALUATOR_PAGES)
def test_imported_text_is_escaped_and_nothing_is_inline(url: str, world: dict, sign_in):
    html = sign_in("manager").get(url).content.decode()
    assert EVIL not in html
    assert re.findall(r"<script(?![^>]*\bsrc=)[^>]*>", html) == []
    assert re.findall(r"\s(?:style|on\w+)=", html) == []


def test_a_label_that_would_be_a_script_is_text(world: dict, sign_in):
    for url in ("/pools/town-pool/triples", "/pools/town-pool/filter"):
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in sign_in("manager").get(url).content.decode()


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_templates_hold_no_inline_code_and_no_other_host(path: Path):
    text = path.read_text()
    assert re.findall(r"<script(?![^>]*\bsrc=)(?![^>]*json)[^>]*>|<style|\sstyle=|\son\w+=|\|safe\b", text) == []
    assert re.findall(r"(?:src|href)=\"(?:https?:)?//", text) == []


def test_policy_allows_own_code_only(sign_in):
    policy = sign_in("manager").get("/")["Content-Security-Policy"]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["script-src"] == "'self'"
    assert directives["style-src"] == "'self'"
    assert directives["default-src"] == "'self'"


def links(html: str) -> list[str]:
    return [a.text for nav in elements(html, "site-nav") for a in nav.all(tag="a")]


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        (None, []),
        ("annotator", ["Home", "Annotate", "My labels", "Guidelines", "Help"]),
        ("adjudicator", ["Home", "Adjudicate", "Annotate", "My labels", "Guidelines", "Help"]),
        ("researcher", ["Home", "Pools", "Graphs", "Jobs", "Help"]),
        ("manager", ["Home", "Pools", "Graphs", "People", "Jobs", "Help"]),
    ],
)
def test_navigation_is_that_of_the_role(role: str | None, expected: list[str], sign_in):
    assert links(sign_in(role).get("/" if role else "/login").content.decode()) == expected


def test_with_two_campaigns_the_navigation_is_that_of_the_one_that_the_page_belongs_to(world: dict, sign_in):
    second = open_campaign(make_pool(world["graph"], "second"))
    Membership.objects.create(
        campaign=second, person=world["annotator"], role="adjudicator", consented_at=timezone.now()
    )
    client = sign_in("annotator")
    assert links(client.get("/").content.decode()) == ["Home", "Help"]
    html = client.get("/campaigns/second/annotate").content.decode()
    assert links(html) == ["Home", "Adjudicate", "Annotate", "My labels", "Guidelines", "Help"]
    nav = element(html, "site-nav")
    assert [one.text for one in nav.all(tag="span")] == ["second"]
    assert [a["href"] for a in nav.all(tag="a") if a["href"].startswith("/campaigns/town-pool")] == []
    html = client.get("/campaigns/town-pool/labels").content.decode()
    assert links(html) == ["Home", "Annotate", "My labels", "Guidelines", "Help"]


def test_current_page_is_marked_once(sign_in):
    html = sign_in("manager").get("/pools/town-pool/filter").content.decode()
    assert re.findall(r'<a href="([^"]+)" aria-current="(\w+)"', html) == [
        ("/pools", "true"),
        ("/pools/town-pool/filter", "page"),
    ]


def test_researcher_reads_and_is_offered_no_act_but_to_bring_a_run(sign_in):
    client = sign_in("researcher")
    for url in EVALUATOR_PAGES:
        if client.get(url).status_code == 403 or url.startswith("/account"):
            continue
        html = client.get(url).content.decode()
        assert re.findall(r'<form method="post"[^>]*action="(?!/logout)', html) == [], url
        assert html.count("csrfmiddlewaretoken") == 1 + (url == "/graphs/town/runs"), url


def test_stages_in_the_order_of_the_pipeline(world: dict):
    assert [stage.key for stage in STAGES] == [
        "graph",
        "systems",
        "runs",
        "pool",
        "filter",
        "questions",
        "labels",
        "adjudication",
        "qrels",
        "measures",
        "test-set",
    ]
    assert {stage.url(world["pool"]).split("/")[1] for stage in STAGES} == {"graphs", "pools"}
    assert {stage.url_name for stage in STAGES} <= {*PAGES, "evaluation", "export"}


def test_sign_in_and_out(client, world: dict):
    assert client.get("/pools")["Location"] == "/login?next=/pools"
    wrong = client.post("/login", {"username": "manager", "password": "wrong"})
    assert has(wrong, "wrong")
    right = client.post("/login", {"username": "manager", "password": "look around here", "next": "/pools"})
    assert right["Location"] == "/pools"
    assert client.post("/logout")["Location"] == "/login"
    assert client.get("/").status_code == 302


def test_unknown_address_says_so_even_to_a_stranger(client, db):
    response = client.get("/nothing/here")
    assert response.status_code == 404
    assert has(response, "nothing-here")


def test_manager_with_a_membership_is_still_not_offered_to_label(world: dict, sign_in):
    """add_person refuses such a mix; a row made otherwise must not open the way either."""
    Membership.objects.create(campaign=world["campaign"], person=world["manager"], role="annotator")
    assert "Annotate" not in links(sign_in("manager").get("/").content.decode())


def test_pages_of_the_frame_have_an_address_and_a_way_up():
    known = set(get_resolver().reverse_dict.keys())
    variants = {"graphs-archive", "pools-archive", "systems-archive", "inbox-comments"}
    assert {name for name in FRAMES if name not in known} == variants
    assert {page.parent for page in FRAMES.values()} - {"", *FRAMES} == set()


def breadcrumbs(html: str) -> list[str]:
    way = re.search(r'<nav class="breadcrumbs" aria-label="Breadcrumbs"><ol>(.*?)</ol>', html, re.S)
    return re.findall(r"<li[^>]*>(.*?)</li>", way.group(1)) if way else []


LONGEST = 160


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_lines_of_templates_are_short(path: Path):
    assert [len(line) for line in path.read_text().splitlines() if len(line) > LONGEST] == []


def test_titles_tell_a_pool_from_a_graph_of_the_same_name(world: dict, sign_in):
    make_pool(world["graph"], "town")
    titles = [parse(sign_in("manager").get(url)).one(tag="title").text for url in ("/pools/town", "/graphs/town")]
    assert titles == ["town (pool) · TriplePool", "town (graph) · TriplePool"]


def test_breadcrumbs_lead_up_from_a_page(sign_in):
    client = sign_in("manager")
    assert breadcrumbs(client.get("/graphs").content.decode()) == []
    assert breadcrumbs(client.get("/help/keeping").content.decode()) == ['<a href="/help">Help</a>', "Keep and delete"]
    assert breadcrumbs(client.get("/graphs/town/systems/rotate/delete").content.decode()) == [
        '<a href="/graphs/town/systems">Systems</a>',
        '<a href="/graphs/town/systems/rotate">RotatE</a>',
        "Delete",
    ]
    html = client.get("/graphs?archived=yes").content.decode()
    assert breadcrumbs(html) == ['<a href="/graphs">Graphs</a>', "Archive"]
    assert re.findall(r"<title>(.*?)</title>|<h1>(.*?)</h1>", html) == [
        ("Graphs · TriplePool", ""),
        ("", "Archived graphs"),
    ]
