"""What members agree to before the first question."""

from __future__ import annotations

import pytest

from annotation.forms.people import TEXT_CHANGED, TO_AGREE
from annotation.models import Campaign, Membership
from annotation.people.members import fingerprint
from annotation.views.members import text_saved
from core.people.languages import choose_language
from tests.page import content, element, fields, has, notices, numbers, parse, refused
from tests.pages.world import EVIL

URL = "/campaigns/town-pool/consent"
PAGES = ["annotate", "adjudicate", "labels"]


@pytest.fixture
def asked(world: dict, sign_in):
    """An adjudicator who has not agreed yet."""
    Membership.objects.filter(person=world["adjudicator"]).update(consented_at=None)
    return sign_in("adjudicator")


@pytest.mark.parametrize(
    ("page", "to"), [("annotate", "annotate"), ("adjudicate", "adjudicate"), ("labels", "my-labels")]
)
def test_who_has_not_agreed_is_asked_first_and_then_goes_where_they_wanted(page, to, asked, world: dict):
    wanted = f"/campaigns/town-pool/{page}"
    assert asked.get(wanted)["Location"] == f"{URL}?to={to}"
    assert asked.post(wanted, {})["Location"] == f"{URL}?to={to}" if page == "labels" else True
    agreed = asked.post(f"{URL}?to={to}", {"text": fingerprint(world["campaign"]), "agreed": "on"})
    assert agreed["Location"] == wanted
    assert asked.get(wanted).status_code == 200


@pytest.mark.parametrize("to", ["https://evil.example", "//evil.example", "people", "account-erase", ""])
def test_nothing_in_the_address_sends_the_person_elsewhere(to: str, asked, world: dict):
    sent = {"text": fingerprint(world["campaign"]), "agreed": "on"}
    assert asked.post(f"{URL}?to={to}", sent)["Location"] == "/campaigns/town-pool/annotate"


def test_a_page_in_german_says_that_the_text_is_in_english(asked, world: dict):
    assert not has(asked.get(URL), "in-english")
    choose_language(world["adjudicator"], "de")
    assert has(asked.get(URL), "in-english")
    Campaign.objects.update(language="de")
    assert not has(asked.get(URL), "in-english")


def test_the_text_that_was_agreed_to_has_a_heading_and_says_in_german_that_it_is_in_english(sign_in, world: dict):
    member = sign_in("adjudicator")
    headings = [heading.tag for heading in content(member.get(URL)).all() if heading.tag in ("h1", "h2", "h3")]
    assert headings[:2] == ["h1", "h2"]
    choose_language(world["adjudicator"], "de")
    assert has(member.get(URL), "in-english")


def test_without_the_box_nobody_has_agreed(asked, world: dict):
    response = asked.post(URL, {"text": fingerprint(world["campaign"])})
    assert response.status_code == 422
    assert refused(response) == {"agreed": ["required"]} and TO_AGREE in parse(response).errors
    assert asked.get("/campaigns/town-pool/annotate").status_code == 302


def test_a_text_that_was_not_the_one_on_the_screen_is_shown_again(asked, world: dict):
    before = fingerprint(world["campaign"])
    Campaign.objects.update(personal_data="Everything is published.")
    response = asked.post(URL, {"text": before, "agreed": "on"})
    assert response.status_code == 422
    assert refused(response) == {"text": [TEXT_CHANGED]}
    assert "Everything is published." in element(response, "personal-data").texts(tag="p")
    world["campaign"].refresh_from_db()
    assert fields(response)["text"] == fingerprint(world["campaign"])
    assert Membership.objects.get(person=world["adjudicator"]).consented_at is None


def test_guidelines_can_be_read_before(asked):
    assert asked.get("/campaigns/town-pool/guidelines").status_code == 200


def test_an_empty_text_asks_nobody(asked):
    Campaign.objects.update(personal_data="")
    assert asked.get("/campaigns/town-pool/annotate").status_code == 200


def test_the_text_is_sanitised(asked):
    Campaign.objects.update(personal_data=f"# Read\n\n{EVIL} [x](javascript:alert(1)) **bold**")
    html = asked.get(URL).content.decode()
    assert EVIL not in html
    assert element(html, "personal-data").texts(tag="strong") == ["bold"]
    assert not [a for a in parse(html).all(tag="a") if "javascript" in a.attrs.get("href", "")]


def test_manager_changes_the_text_and_everybody_is_asked_again(world: dict, sign_in):
    manager, annotator = sign_in("manager"), sign_in("annotator")
    url = "/pools/town-pool/campaign/people"
    assert numbers(element(manager.get(url), "asked-again").text) == ["2"]
    same = world["campaign"].personal_data.replace("\n", "\r\n")  # as a browser sends it
    manager.post(url, {"act": "text", "text": same})
    assert annotator.get("/campaigns/town-pool/annotate").status_code == 200
    response = manager.post(url, {"act": "text", "text": "Another text."}, follow=True)
    assert notices(response)[-1] == text_saved(2)
    assert annotator.get("/campaigns/town-pool/annotate")["Location"] == f"{URL}?to=annotate"


def test_stranger_to_the_campaign_does_not_see_the_text(world: dict, client, django_user_model):
    client.force_login(django_user_model.objects.create_user("nobody"))
    assert client.get(URL).status_code == 404
