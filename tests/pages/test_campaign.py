"""The campaign page of a manager."""

from __future__ import annotations

import re

import pytest

from annotation.campaigns.lifecycle import run_open
from annotation.enums import AnnotationJob
from annotation.models import Campaign
from core.jobs.progress import Progress
from core.models import Job
from tests.page import links, read
from tests.pages.world import make_person, make_pool

URL = "/pools/town-pool/campaign"


@pytest.fixture
def manager(sign_in):
    return sign_in("manager")


def test_campaign_is_opened_in_the_browser(world: dict, manager):
    make_pool(world["graph"], "fresh")
    assert "4 triples to judge" in manager.get("/pools/fresh/campaign").content.decode()
    manager.post("/pools/fresh/campaign", {"act": "open"})
    assert Campaign.objects.get(pool__name="fresh").items.count() == 4


def test_a_job_opens_a_campaign_of_many_triples(world: dict, manager, monkeypatch):
    monkeypatch.setattr("annotation.campaigns.lifecycle.RELEASE_AT_ONCE", 3)
    pool = make_pool(world["graph"], "fresh")
    answer = manager.post("/pools/fresh/campaign", {"act": "open", "audit_percent": "100", "single": "on"})
    job = Job.objects.get(kind=AnnotationJob.OPEN_CAMPAIGN)
    assert answer["Location"] == f"/jobs/{job.pk}"
    assert read(manager.get("/pools/fresh/campaign")).has("opening")
    for _ in range(2):  # a worker that died may do it again
        run_open(job, Progress(job))
        campaign = Campaign.objects.get(pool=pool)
        assert (campaign.items.count(), campaign.whole_questions, campaign.contact) == (7, False, world["manager"])


def test_a_job_for_what_cannot_open_is_not_started(world: dict, manager, monkeypatch):
    monkeypatch.setattr("annotation.campaigns.lifecycle.RELEASE_AT_ONCE", 3)
    make_pool(world["graph"], "fresh")
    world["graph"].relations.filter(index=0).update(key="P131")
    assert manager.post("/pools/fresh/campaign", {"act": "open"}).status_code == 200
    assert not Job.objects.filter(kind=AnnotationJob.OPEN_CAMPAIGN).exists()


def test_campaign_is_opened_by_managers_only_and_once(world: dict, sign_in, manager):
    make_pool(world["graph"], "fresh")
    assert sign_in("researcher").post("/pools/fresh/campaign", {"act": "open"}).status_code == 403
    assert not Campaign.objects.filter(pool__name="fresh").exists()
    manager.post("/pools/fresh/campaign", {"act": "open"})
    assert manager.post("/pools/fresh/campaign", {"act": "open"}).status_code == 404
    assert Campaign.objects.filter(pool__name="fresh").count() == 1


@pytest.mark.parametrize("page", ["order", "inbox", "checks", "triples", "triples/1"])
def test_pages_of_a_campaign_that_is_not_open_lead_to_where_it_is_opened(page: str, world: dict, manager):
    make_pool(world["graph"], "fresh")
    answer = manager.get(f"/pools/fresh/campaign/{page}")
    assert (answer.status_code, answer["Location"]) == (302, "/pools/fresh/campaign")


@pytest.mark.parametrize("page", ["", "/rules", "/order", "/inbox", "/inbox?part=comments", "/checks", "/triples"])
def test_no_inline_script_or_style(page: str, world: dict, manager):
    html = manager.get(URL + page).content.decode()
    scripts = re.findall(r"<script(?![^>]*(?:src=|application/json))", html)
    assert (scripts, re.findall(r"<style|\sstyle=|\son\w+=", html)) == ([], [])


def test_names_of_entities_are_text(world: dict, manager):
    assert [item.triple.tail for item in world["campaign"].items.all()].count(5) == 2
    html = manager.get(f"{URL}/triples", {"q": "SCRIPT"}).content.decode()
    links = re.findall(r'href="(/pools/town-pool/campaign/triples/\d+)"', html)
    assert len(links) == 2
    for page in (html, manager.get(links[0]).content.decode()):
        assert "<script>alert" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_unknown_act_is_404(world: dict, manager):
    assert manager.post(URL, {"act": "nothing"}).status_code == 404


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow_with_people(count: int, world: dict, manager, django_assert_num_queries):
    for i in range(count):
        make_person(f"more{i}", campaign=world["campaign"], role="annotator")
    with django_assert_num_queries(20):
        manager.get(URL)


def test_progress_links_to_items_for_managers_only(world: dict, manager, sign_in):
    items = f"{URL}/triples"
    assert items in links(manager.get(URL))
    assert items not in links(sign_in("researcher").get(URL))
