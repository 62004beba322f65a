"""A campaign is prepared before it opens: managers set it up, and nobody else sees anything of it."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.campaigns.lifecycle import open_campaign, prepare_campaign
from annotation.enums import CampaignState
from annotation.errors import CampaignError
from annotation.labelling.own_labels import own_progress
from annotation.models import Campaign
from annotation.people.invitations import invite
from annotation.permissions import visible_campaigns
from evaluation.overview.counts import stage_counts
from pooling.models import Pool
from pooling.pools.filtering import has_campaign
from tests.page import Element, read
from tests.pages.world import make_person, make_pool

SETUP = ("sources", "guidelines", "people", "rules")


@pytest.fixture
def fresh(world: dict) -> Pool:
    return make_pool(world["graph"], "fresh")


@pytest.fixture
def manager(sign_in):
    return sign_in("manager")


@pytest.mark.parametrize("page", SETUP)
def test_setup_pages_work_before_the_campaign_opens_and_to_look_makes_none(fresh: Pool, page: str, manager):
    with CaptureQueriesContext(connection) as asked:
        before = read(manager.get(f"/pools/fresh/campaign/{page}"))
    assert before.has("preparing") and not Campaign.every.filter(pool=fresh).exists()
    assert [one["sql"] for one in asked if one["sql"].split()[0] in ("INSERT", "UPDATE", "DELETE")] == []
    campaign = prepare_campaign(fresh)
    assert (campaign.state, campaign.items.count()) == (CampaignState.PREPARING, 0)
    assert campaign.guideline_versions.count() == 1 and campaign.sources.exists()
    after = read(manager.get(f"/pools/fresh/campaign/{page}"))
    assert after.has("preparing") and fields_of(after) == fields_of(before)  # as the first change will find it
    open_campaign(fresh)
    assert not read(manager.get(f"/pools/fresh/campaign/{page}")).has("preparing")


def fields_of(page: Element) -> list[str]:
    """Return the values of its text fields, and the rows of its tables of sources."""
    boxes = [one.attrs.get("value", "") for one in page.all(tag="input") if one.attrs.get("type") in ("text", "number")]
    sources = [row[:2] for table in page.all("sources-table") for row in table.rows]
    return [*boxes, *(one.text for one in page.all(tag="textarea")), *map(str, sources)]


def test_first_change_makes_the_campaign_once_and_a_preview_makes_none(fresh: Pool, manager):
    base = "/pools/fresh/campaign"
    assert manager.post(f"{base}/guidelines?part=preview", {"text": "**Look**", "after": "1"}).status_code == 200
    assert not Campaign.every.filter(pool=fresh).exists()
    manager.post(f"{base}/sources", {"act": "restore"})
    (campaign,) = Campaign.every.filter(pool=fresh)
    assert read(manager.get(f"{base}/sources")).has(tag="a", href=f"{base}/sources/{campaign.sources.first().pk}")
    manager.post(f"{base}/people", {"act": "person", "username": "zoe", "role": "annotator"})
    assert Campaign.every.get(pool=fresh).members.count() == 1


@pytest.mark.parametrize("page", SETUP)
def test_only_managers_prepare(fresh: Pool, page: str, sign_in):
    for role in ("researcher", "annotator"):
        assert sign_in(role).get(f"/pools/fresh/campaign/{page}").status_code == 403
    assert not Campaign.every.filter(pool=fresh).exists()


def test_what_was_prepared_is_there_when_the_campaign_opens(fresh: Pool, manager, world: dict):
    base = "/pools/fresh/campaign"
    manager.post(f"{base}/guidelines", {"act": "save", "text": "Look twice.", "after": "1"})
    manager.post(f"{base}/sources", {"act": "add", "name": "Town hall", "host": "hall.example.org"})
    manager.post(f"{base}/people", {"act": "person", "username": "zoe", "role": "annotator"})
    rules = {"evidence_rule": "never", "lease_minutes": "33", "undo_minutes": "5", "gold_percent": "7"}
    form = manager.get(f"{base}/rules").context["form"]
    manager.post(
        f"{base}/rules", {name: form[name].value() for name in form.fields if form[name].value() is not None} | rules
    )
    prepared = Campaign.every.get(pool=fresh)
    page = read(manager.get(base))
    assert page.one("people").text.startswith("1 member")
    manager.post(base, {"act": "open"})
    campaign = Campaign.objects.get(pool=fresh)
    assert (campaign.pk, campaign.state, campaign.items.count()) == (prepared.pk, CampaignState.OPEN, 4)
    assert (campaign.evidence_rule, campaign.lease_minutes, campaign.gold_percent) == ("never", 33, 7)
    assert campaign.created_at > prepared.created_at
    assert campaign.guideline_versions.order_by("-version").first().text == "Look twice."
    assert campaign.sources.filter(host="hall.example.org").count() == 1
    assert [member.person.username for member in campaign.members.all()] == ["zoe"]
    with pytest.raises(CampaignError, match="already open"):
        open_campaign(fresh)


def test_nobody_else_sees_a_campaign_in_preparation(fresh: Pool, client):
    campaign = prepare_campaign(fresh)
    person = make_person("early", campaign=campaign, role="adjudicator")
    client.force_login(person)
    for path in ("annotate", "adjudicate", "labels", "disputes", "messages", "guidelines", "consent"):
        assert client.get(f"/campaigns/fresh/{path}").status_code == 404
    assert client.get("/api/v1/campaigns/fresh").status_code == 404
    assert client.post("/api/v1/campaigns/fresh/claim", {}, content_type="application/json").status_code == 404
    home = client.get("/")
    assert read(home).has("opens-later") and "fresh" not in home.content.decode()
    assert own_progress(person) == [] and not visible_campaigns(person).exists()
    open_campaign(fresh)
    assert not read(client.get("/")).has("opens-later")
    assert client.get("/campaigns/fresh/annotate").status_code == 200


def test_a_pool_whose_campaign_is_in_preparation_is_as_one_without(fresh: Pool, manager):
    prepare_campaign(fresh)
    assert stage_counts(fresh).campaign is None and not has_campaign(fresh)
    assert manager.get("/pools/fresh/filter").status_code == 200
    for page in ("order", "inbox", "checks", "triples"):
        assert manager.get(f"/pools/fresh/campaign/{page}")["Location"] == "/pools/fresh/campaign"
    assert "fresh" not in {row["pool"] for row in manager.get("/api/v1/campaigns").json()["results"]}
    manager.post("/pools/fresh/campaign", {"act": "state", "state": "paused"})  # opens it: nothing else can be done
    assert Campaign.objects.get(pool=fresh).state == CampaignState.OPEN


def test_an_invitation_says_that_the_campaign_opens_later(fresh: Pool, client):
    campaign = prepare_campaign(fresh)
    _, token = invite("annotator", campaign, email="", days=7)
    assert read(client.get(f"/invitations/{token}")).has("opens-later")
    open_campaign(fresh)
    assert not read(client.get(f"/invitations/{token}")).has("opens-later")
