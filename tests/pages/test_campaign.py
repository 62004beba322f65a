"""The campaign page and the questions page of a manager."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User

from annotation.domain.rules import add_source
from annotation.errors import CampaignError
from annotation.models import Campaign, Membership, QuestionTemplate, Source
from tests.pages.world import make_person, make_pool

URL = "/pools/town-pool/campaign"


@pytest.fixture
def manager(sign_in):
    return sign_in("manager")


def test_new_person_gets_a_password_that_is_shown_once(world: dict, manager):
    html = manager.post(URL, {"act": "person", "username": "nina", "role": "annotator"}).content.decode()
    password = re.search(r'<code class="mono large">([^<]+)</code>', html).group(1)
    nina = User.objects.get(username="nina")
    assert nina.check_password(password)
    assert list(nina.memberships.values_list("campaign__pool__name", "role")) == [("town-pool", "annotator")]
    assert password not in manager.get(URL).content.decode()


def test_person_who_has_an_account_keeps_the_password(world: dict, manager):
    make_person("nina")
    response = manager.post(URL, {"act": "person", "username": "nina", "role": "adjudicator"})
    assert response.status_code == 302
    assert User.objects.get(username="nina").check_password("look around here")


@pytest.mark.parametrize(
    ("username", "message"),
    [
        ("", "This field is required."),
        ("researcher", "cannot be annotator"),
        ("two words", "cannot be a user name"),
    ],
)
def test_person_who_cannot_be_added(username: str, message: str, world: dict, manager):
    before = Membership.objects.count()
    html = manager.post(URL, {"act": "person", "username": username, "role": "annotator"}).content.decode()
    assert message in html
    assert Membership.objects.count() == before


def test_rules_are_saved(world: dict, manager):
    data = {"act": "rules", "evidence_rule": "never", "lease_minutes": "30", "state": "closed"}
    assert manager.post(URL, data).status_code == 302
    assert Campaign.objects.values_list("evidence_rule", "lease_minutes", "state").get() == (
        "never",
        30,
        "closed",
    )


def test_nonsense_rules_change_nothing(world: dict, manager):
    data = {"act": "rules", "evidence_rule": "sometimes", "lease_minutes": "0", "state": "open"}
    html = manager.post(URL, data).content.decode()
    assert "sometimes is not one of the available choices" in html
    assert Campaign.objects.values_list("evidence_rule", "lease_minutes").get() == ("both", 15)


def test_source_is_added_and_removed(world: dict, manager):
    data = {"act": "source", "name": "DNB", "host": "DNB.de.", "search_url": "https://dnb.de/?q={query}"}
    manager.post(URL, data)
    source = Source.objects.get(name="DNB")
    assert (source.host, source.search_url) == ("dnb.de", "https://dnb.de/?q={query}")
    manager.post(URL, {"act": "remove", "source": source.pk})
    assert not Source.objects.filter(name="DNB").exists()


def test_source_of_another_campaign_is_not_removed(world: dict, manager):
    from annotation.domain.campaign import open_campaign

    other = open_campaign(make_pool(world["graph"], "other")).sources.first()
    manager.post(URL, {"act": "remove", "source": other.pk})
    assert Source.objects.filter(pk=other.pk).exists()


@pytest.mark.parametrize(
    ("host", "search", "message"),
    [
        ("https://a.org", "", "is no host"),
        ("a.org:8000", "", "is no host"),
        ("127.0.0.1", "", "is no host"),
        ("localhost", "", "is no host"),
        ("a.org", "http://a.org/{query}", "give an https address"),
        ("a.org", "javascript:alert({query})", "give an https address"),
        ("a.org", "https://{query}.org/", "give an https address"),
        ("a.org", "https://a.org/", "must contain {query} once"),
        ("wikipedia.org", "", "is a source of this campaign already"),
    ],
)
def test_source_that_is_refused(host: str, search: str, message: str, world: dict):
    with pytest.raises(CampaignError, match=re.escape(message)):
        add_source(world["campaign"], name="A", host=host, search_url=search)


def test_campaign_is_opened_in_the_browser(world: dict, manager):
    make_pool(world["graph"], "fresh")
    assert "4 triples to judge" in manager.get("/pools/fresh/campaign").content.decode()
    manager.post("/pools/fresh/campaign", {"act": "open"})
    assert Campaign.objects.get(pool__name="fresh").items.count() == 4


def test_unknown_act_is_404(world: dict, manager):
    assert manager.post(URL, {"act": "nothing"}).status_code == 404


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow_with_people(count: int, world: dict, manager, django_assert_num_queries):
    for i in range(count):
        make_person(f"more{i}", campaign=world["campaign"], role="annotator")
    with django_assert_num_queries(11):
        manager.get(URL)
    with django_assert_num_queries(9):
        manager.get("/people")


QUESTIONS = "/pools/town-pool/questions"
TEXTS = {
    "relation": "0",
    "statement": "Is {subject} a friend of {object}?",
    "tail_question": "Whose friend is {subject}?",
    "head_question": "Who is a friend of {object}?",
}


def test_questions_of_the_relations_that_people_are_asked_about(world: dict, manager):
    html = manager.get(QUESTIONS).content.decode()
    assert re.findall(r'<h2 class="mono break" id="h\d+">([^<]+)</h2>', html) == ["knows"]
    assert "Does ada know emil?" in html


def test_change_is_a_new_version(world: dict, manager):
    assert manager.post(QUESTIONS, TEXTS)["Location"] == f"{QUESTIONS}#r0"
    versions = QuestionTemplate.objects.filter(relation__index=0).values_list(
        "version", "statement", "is_default"
    )
    assert list(versions)[-1] == (2, "Is {subject} a friend of {object}?", False)
    assert "Is ada a friend of emil?" in manager.get(QUESTIONS).content.decode()


def test_tail_question_without_subject_is_refused_and_kept_on_the_page(world: dict, manager):
    html = manager.post(QUESTIONS, TEXTS | {"tail_question": "Whose friend?"}).content.decode()
    assert "the tail question has no {subject}" in html
    assert 'value="Whose friend?"' in html
    assert QuestionTemplate.objects.filter(relation__index=0).count() == 1


def test_preview_is_filled_and_escaped(world: dict, manager):
    typed = TEXTS | {"part": "preview", "statement": "<b>{subject}</b> {object}?"}
    html = manager.get(QUESTIONS, typed).content.decode()
    assert '<p class="large">&lt;b&gt;ada&lt;/b&gt; emil?</p>' in html
    assert "<html" not in html
    assert QuestionTemplate.objects.filter(relation__index=0).count() == 1


@pytest.mark.parametrize("relation", ["", "x", "99"])
def test_unknown_relation_is_404(relation: str, world: dict, manager):
    assert manager.post(QUESTIONS, TEXTS | {"relation": relation}).status_code == 404
