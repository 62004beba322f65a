"""In which language a page is: that of the person, English for managers, and what <html> says is true."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.people.invitations import invite
from annotation.people.members import set_personal_data
from annotation.people.own_data import erase, own_data
from config.languages import ENGLISH, TRANSLATED
from core.models import Preferences
from core.people.languages import choose_language, chosen_language
from core.people.tokens import create_token
from tests.page import read
from tests.pages.test_access import PAGES, ROLES, url_of

pytestmark = pytest.mark.django_db
GERMAN = {"HTTP_ACCEPT_LANGUAGE": "de-AT,de;q=0.8,en;q=0.5"}


def language(response) -> str:
    """The language that a page says it is in."""
    [found] = re.findall(r'<html lang="([a-z-]+)"', response.content.decode())
    return found


def test_every_page_of_people_who_label_is_in_one_list_or_the_other():
    annotator = ROLES.index("annotator")
    seen = {name for name, (_, statuses) in PAGES.items() if statuses[annotator] == 200}
    public = {name for name, (_, statuses) in PAGES.items() if statuses[0] == 200}
    calls = {name for name in seen if name.startswith("api-")} - TRANSLATED
    pages = (seen | public) - calls - {"home", "search"}  # these two are English for managers and researchers
    assert pages == pages & (TRANSLATED | ENGLISH)
    assert set(PAGES) >= TRANSLATED | ENGLISH


def test_before_sign_in_the_browser_says_the_language_and_the_switch_changes_it(client):
    assert language(client.get("/login")) == "en"
    german = client.get("/login", **GERMAN)
    assert language(german) == "de"
    assert "Accept-Language" in german["Vary"]
    assert language(client.get("/nothing/here", **GERMAN)) == "de"
    back = client.post("/language", {"language": "de", "next": "/login?next=/"})
    assert (back.status_code, back["Location"]) == (302, "/login?next=/")
    assert language(client.get("/login")) == "de"
    client.post("/language", {"language": "en"})
    assert language(client.get("/login", **GERMAN)) == "en"
    assert client.post("/language", {"language": "de", "next": "https://elsewhere.example/"})["Location"] == "/"


def switch(response) -> tuple[list[str], bool]:
    """The languages that the page offers, in its forms of them, and whether strangers see them below the content."""
    page = read(response, response.status_code)
    offered = [one["value"] for form in page.all("languages") for one in form.all(tag="button", name="language")]
    return offered, any(foot.all("languages") for foot in page.one(tag="main").all(tag="footer"))


def test_the_switch_is_below_the_sign_in_and_in_the_bar_of_who_labels(world: dict, client, sign_in):
    for address in ("/login", "/password/forgotten", "/nothing/here", "/invitations/nothing"):
        assert switch(client.get(address)) == (["de"], True)
        assert switch(client.get(address, **GERMAN)) == (["en"], True)
    annotator = sign_in("annotator")
    assert switch(annotator.get("/account")) == (["de"], False)
    loop = read(annotator.get(url_of("annotate", world)))
    line = loop.one(tag="div", class_="loop-language")
    assert [one["value"] for one in line.all(tag="button", name="language")] == ["de"]
    assert switch(sign_in("manager").get("/")) == ([], False)


def test_a_person_chooses_once_for_every_browser(world: dict, sign_in):
    client = sign_in("annotator")
    assert language(client.get("/", **GERMAN)) == "de"  # nothing chosen yet
    client.post("/language", {"language": "en"})
    other = Client()
    other.force_login(world["annotator"])
    assert language(other.get("/", **GERMAN)) == "en"
    client.post("/language", {"language": "de"})
    assert {language(other.get(url_of(name, world))) for name in ("home", "annotate", "account", "guidelines")} == {
        "de"
    }
    assert language(other.get("/pools")) == "de"  # not for this account: the refusal is for the annotator
    assert language(other.get("/help")) == "en"


@pytest.mark.parametrize("role", ["manager", "researcher"])
def test_pages_of_managers_and_researchers_stay_english(world: dict, sign_in, role: str):
    choose_language(world[role], "de")
    client = sign_in(role)
    at, found = ROLES.index(role), {}
    for name, (_, statuses) in PAGES.items():
        if statuses[at] == 200 and not name.startswith("api-"):
            response = client.get(url_of(name, world), **GERMAN)
            if response["Content-Type"].startswith("text/html") and b"<html" in response.content:
                found[name] = language(response)
    assert {name for name, code in found.items() if code == "de"} == set(found) & TRANSLATED
    assert {"account", "guidelines"} <= set(found) & TRANSLATED
    assert {found["home"], found["pools"], language(client.get("/nothing", **GERMAN))} == {"en"}


def test_calls_of_the_pages_follow_the_person_and_calls_by_token_are_english(world: dict, sign_in, client):
    choose_language(world["annotator"], "de")
    _, token = create_token(world["annotator"], "script", ["label"], 1)
    call = {
        "path": reverse("api-claim", args=["town-pool"]),
        "data": {"count": "x"},
        "content_type": "application/json",
    }
    english = client.post(**call, **GERMAN, HTTP_AUTHORIZATION=f"Bearer {token}").json()
    german = sign_in("annotator").post(**call).json()
    assert english["error"] == "count: A valid integer is required."
    assert german["error"] not in ("", english["error"])


def test_who_joins_keeps_the_language_of_the_invitation(world: dict, client, django_user_model):
    set_personal_data(world["campaign"], "")
    _, token = invite("annotator", world["campaign"], by=world["manager"])
    filled = {"username": "nora", "password": "correct horse battery", "again": "correct horse battery"}
    answer = client.post(reverse("invitation", args=[token]), filled, **GERMAN)
    assert answer.status_code == 302
    nora = django_user_model.objects.get(username="nora")
    assert chosen_language(nora) == own_data(nora)["account"]["language"] == "de"
    erase(nora, by=nora)
    assert not Preferences.objects.filter(person=nora).exists()


def test_a_language_that_is_no_longer_offered_is_none(world: dict, settings):
    choose_language(world["annotator"], "de")
    settings.LANGUAGES = [("en", "English")]
    assert chosen_language(world["annotator"]) == ""


def test_words_of_scripts_come_in_the_language_of_their_address(client):
    script = client.get("/language/de.js", HTTP_ACCEPT_LANGUAGE="en")
    assert script["Content-Type"].startswith("text/javascript")
    assert client.get("/language/xx.js").status_code == 404
