"""The pages of people for a manager: everybody, one person, the members of a campaign."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core import mail
from django.core.mail.message import sanitize_address
from django.test import Client

from annotation.campaigns.lifecycle import open_campaign
from annotation.models import Campaign, Invitation, Membership
from annotation.people import accounts, invitations
from annotation.people.invitations import OVER_ALREADY, find_invitation, invite
from annotation.views import members, people
from annotation.views.members import REVOKED
from core.models import AuditEntry
from tests.page import element, elements, fields, has, links, notices, numbers, parse, refused
from tests.pages.world import EVIL, make_person, make_pool

MEMBERS = "/pools/town-pool/campaign/people"
PASSWORD = "look around here"


@pytest.fixture
def manager(sign_in):
    return sign_in("manager")


def said(client: Client, url: str, data: dict) -> list[str]:
    """Return what the page says after the act."""
    return notices(client.post(url, data, follow=True))


def link_in(page: object) -> str:
    """Return the path of the link that the page shows this once."""
    site, path = element(page, "secret-link")["value"].split("testserver")
    assert site == "http://"
    return path


def missing(page: object) -> list[str]:
    """Return who the page says is missing in the campaign."""
    return [told for one in elements(page, "warning") for told in one.texts(tag="p")]


def test_new_person_gets_a_password_that_is_shown_once(world: dict, manager):
    response = manager.post(MEMBERS, {"act": "person", "username": "nina", "role": "annotator"})
    password = element(response, "new-password").text
    nina = User.objects.get(username="nina")
    assert nina.check_password(password)
    assert list(nina.memberships.values_list("campaign__pool__name", "role")) == [("town-pool", "annotator")]
    assert password not in manager.get(MEMBERS).content.decode()  # nowhere
    assert response["Cache-Control"] == "no-store"
    assert AuditEntry.objects.get(act="role-given").person == world["manager"]


def test_person_who_has_an_account_keeps_the_password(world: dict, manager):
    make_person("nina")
    response = manager.post(MEMBERS, {"act": "person", "username": "nina", "role": "adjudicator"})
    assert response.status_code == 302
    assert User.objects.get(username="nina").check_password(PASSWORD)


@pytest.mark.parametrize(
    ("username", "why"),
    [
        ("", {"username": ["required"]}),
        ("researcher", {"__all__": [accounts.SEES_SYSTEMS.format("researcher", "researcher", "annotator")]}),
        ("two words", {"__all__": [accounts.NO_NAME.format("two words", UnicodeUsernameValidator.message)]}),
        ("Manager", {"__all__": [accounts.NAME_TAKEN.format("Manager")]}),
    ],
)
def test_person_who_cannot_be_added(username: str, why: dict, world: dict, manager):
    before = Membership.objects.count()
    data = {"act": "person", "username": username, "role": "annotator"}
    assert refused(manager.post(MEMBERS, data), "person_form") == why
    assert Membership.objects.count() == before


def test_role_is_taken_away_and_given_again(world: dict, manager):
    data = {"act": "take", "person": world["annotator"].pk, "role": "annotator"}
    assert said(manager, MEMBERS, data) == [members.ROLE_TAKEN.format("annotator", "annotator")]
    assert world["annotator"].memberships.count() == 0
    assert said(manager, MEMBERS, data) == [members.ROLE_GONE]
    manager.post(MEMBERS, {"act": "person", "username": "annotator", "role": "annotator"})
    assert world["annotator"].memberships.count() == 1


def test_role_in_another_campaign_stays(world: dict, manager):
    other = open_campaign(make_pool(world["graph"], "other"))
    Membership.objects.create(campaign=other, person=world["annotator"], role="annotator")
    manager.post(MEMBERS, {"act": "take", "person": world["annotator"].pk, "role": "annotator"})
    assert list(world["annotator"].memberships.values_list("campaign", flat=True)) == [other.pk]


@pytest.mark.parametrize("person", ["x", 10**30, "9" * 5000, None])
def test_nonsense_takes_nothing(person: object, world: dict, manager):
    data = {} if person is None else {"person": person, "role": "annotator"}
    before = Membership.objects.count()
    assert manager.post(MEMBERS, {"act": "take", **data}).status_code == 302
    assert Membership.objects.count() == before


@pytest.mark.parametrize("url", ["/people", MEMBERS, "/people/{annotator}"])
def test_unknown_act_is_404(url: str, world: dict, manager):
    url = url.format(annotator=world["annotator"].pk)
    assert manager.post(url, {"act": "nothing"}).status_code == 404


def test_too_few_people_are_told_and_people_who_are_off_count_as_none(world: dict, manager):
    assert missing(manager.get(MEMBERS)) == [accounts.FEW_ANNOTATORS]
    second = make_person("second", campaign=world["campaign"], role="annotator")
    assert missing(manager.get(MEMBERS)) == []
    manager.post(f"/people/{second.pk}", {"act": "off"})
    manager.post(f"/people/{world['adjudicator'].pk}", {"act": "off"})
    assert missing(manager.get(MEMBERS)) == [accounts.FEW_ANNOTATORS, accounts.NO_ADJUDICATOR]


@pytest.mark.parametrize(
    ("url", "role", "campaign"), [("/people", "researcher", None), (MEMBERS, "adjudicator", "town-pool")]
)
def test_invitation_is_made_and_its_link_shown_once(url: str, role: str, campaign, world: dict, manager):
    response = manager.post(url, {"act": "invite", "role": role, "days": "7"})
    link = link_in(response)
    made = find_invitation(link.rpartition("/")[2])
    assert (made.role, made.campaign and made.campaign.pool.name) == (role, campaign)
    assert (made.expires_at - made.created_at).days in (6, 7)
    assert made.created_by == world["manager"]
    assert response["Cache-Control"] == "no-store"
    assert link not in manager.get(url).content.decode()


@pytest.mark.parametrize(
    ("url", "data", "why"),
    [
        ("/people", {"role": "annotator", "days": "7"}, {"role": ["invalid_choice"]}),
        (MEMBERS, {"role": "manager", "days": "7"}, {"role": ["invalid_choice"]}),
        (MEMBERS, {"role": "annotator", "days": "365"}, {"days": ["invalid_choice"]}),
        (MEMBERS, {"role": "annotator", "days": "7", "email": "nonsense"}, {"email": ["invalid"]}),
        (
            MEMBERS,
            {"role": "annotator", "days": "7", "email": "a@example.org\nBcc: b@example.org"},
            {"email": ["invalid"]},
        ),
    ],
)
def test_invitation_that_is_refused(url: str, data: dict, why: dict, world: dict, manager):
    assert refused(manager.post(url, {"act": "invite", **data}), "invite_form") == why
    assert not Invitation.objects.exists()


def test_invitation_is_sent_where_the_site_sends_e_mail(world: dict, manager, settings):
    data = {"act": "invite", "role": "annotator", "days": "7", "email": "nina@example.org"}
    page = manager.post(MEMBERS, data)
    assert "nina@example.org" in element(page, "no-mail").text and not has(page, "sent") and not has(page, "not-sent")
    assert mail.outbox == []
    settings.EMAIL_IS_SET = True
    page = manager.post(MEMBERS, data)
    assert "nina@example.org" in element(page, "sent").text and not has(page, "not-sent")
    (message,) = mail.outbox
    assert (message.to, message.subject) == (["nina@example.org"], "An invitation to TriplePool")
    assert f"http://testserver{link_in(page)}\n" in message.body


@pytest.mark.parametrize(
    ("of_campaign", "asked", "subject"),
    [
        ("en", "de", "Eine Einladung zu TriplePool"),
        ("de", "", "Eine Einladung zu TriplePool"),
        ("de", "en", "An invitation to TriplePool"),
        ("fr", "", "An invitation to TriplePool"),  # a language that the site does not speak
    ],
)
@pytest.mark.parametrize("act", ["invite", "many"])
def test_invitation_is_written_in_the_chosen_language_or_that_of_the_campaign(
    world: dict, manager, settings, act: str, of_campaign: str, asked: str, subject: str
):
    settings.EMAIL_IS_SET = True
    Campaign.objects.update(language=of_campaign)
    shown = manager.get(MEMBERS)
    assert len(parse(shown).all(tag="select", name="language")) == 2  # for one, and for many
    form = shown.context[f"{act}_form"]
    assert form["language"].value() == of_campaign
    data = {"act": act, "role": "annotator", "days": "7", "email": "n@example.org", "emails": "n@example.org"}
    manager.post(MEMBERS, data | {"language": asked})
    (message,) = mail.outbox
    assert message.subject == subject and "town-pool" in message.body
    assert ("Annotation" if subject.startswith("Eine") else "annotator") in message.body
    assert ("If you did not expect this" in message.body) is subject.startswith("An ")


def test_link_for_several_says_how_many_joined(world: dict, manager):
    page = manager.post(MEMBERS, {"act": "invite", "role": "annotator", "days": "7", "limit": "3"})
    made = find_invitation(link_in(page).rpartition("/")[2])
    assert (made.limit, made.uses) == (3, 0)
    Invitation.objects.update(uses=2)
    assert numbers(parse(manager.get(MEMBERS)).one(id="invitations").one(tag="tbody").one("for").text) == ["2", "3"]
    asked = {"act": "invite", "role": "annotator", "days": "7", "limit": "3", "email": "a@example.org"}
    assert refused(manager.post(MEMBERS, asked), "invite_form") == {"email": ["one"]}


def test_many_are_invited_by_pasted_addresses(world: dict, manager, settings):
    asked = {
        "act": "many",
        "role": "annotator",
        "days": "7",
        "emails": "a@example.org, <b@example.org>;\na@example.org\n",
    }
    page = parse(manager.post(MEMBERS, asked))
    rows = {row.one(tag="th").text: row.one(tag="input")["value"] for row in page.all("hand-over")}
    assert list(rows) == ["a@example.org", "b@example.org"] and mail.outbox == []
    assert {find_invitation(link.rpartition("/")[2]).email for link in rows.values()} == set(rows)
    settings.EMAIL_IS_SET = True
    page = parse(manager.post(MEMBERS, asked | {"emails": "a@example.org c@example.org"}))
    assert [message.to for message in mail.outbox] == [["c@example.org"]] and not page.has("hand-over")
    assert numbers(page.one("many").text) == ["1", "1", "1"]  # invited, by e-mail, invited before


@pytest.mark.parametrize("act", ["invite", "many"])
def test_link_of_an_address_that_no_mail_can_have_is_shown(act: str, world: dict, manager, settings, monkeypatch):
    """A domain with a part of more than 63 letters is an address to Django's forms, but not to its mails."""
    settings.EMAIL_IS_SET, settings.PRODUCTION, settings.SITE_URL = True, True, "https://labels.example.org"
    monkeypatch.setattr(invitations, "send_mail", lambda *args: sanitize_address(args[3][0], "utf-8"))
    address = f"a@{'é' * 60}.org"
    page = manager.post(MEMBERS, {"act": act, "role": "annotator", "days": "7", "email": address, "emails": address})
    assert page.status_code == 200 and Invitation.objects.count() == 1
    assert "https://labels.example.org/invitations/" in page.content.decode()


def test_page_sends_no_more_mails_after_a_while_and_shows_the_links(world: dict, manager, settings, monkeypatch):
    settings.EMAIL_IS_SET = True
    monkeypatch.setattr("annotation.views.members.MAIL_SECONDS", -1.0)
    asked = {"act": "many", "role": "annotator", "days": "7", "emails": "a@example.org b@example.org"}
    page = parse(manager.post(MEMBERS, asked))
    assert mail.outbox == [] and len(page.all("hand-over")) == 2


@pytest.mark.parametrize("emails", ["", "a@example.org nonsense", "a@example.org\nBcc: b@example.org", "<b>x</b>"])
def test_nobody_is_invited_if_one_address_is_none(emails: str, world: dict, manager):
    response = manager.post(MEMBERS, {"act": "many", "role": "annotator", "days": "7", "emails": emails})
    assert list(refused(response, "many_form")) == ["emails"] and "<b>x</b>" not in response.content.decode()
    assert not Invitation.objects.exists() and mail.outbox == []


def test_a_mail_server_that_fails_is_told_and_the_link_still_shown(world: dict, manager, settings):
    settings.EMAIL_IS_SET = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1  # nothing listens there
    data = {"act": "invite", "role": "annotator", "days": "7", "email": "nina@example.org"}
    page = manager.post(MEMBERS, data)
    assert "nina@example.org" in element(page, "not-sent").text
    assert find_invitation(link_in(page).rpartition("/")[2]) is not None


def test_links_are_https_where_the_site_is(world: dict, manager, settings):
    settings.SESSION_COOKIE_SECURE = True
    link = element(manager.post(MEMBERS, {"act": "invite", "role": "annotator", "days": "7"}), "secret-link")
    assert link["value"].startswith("https://testserver/invitations/") and "readonly" in link


def test_invitation_is_revoked_on_the_page_it_was_made_on_only(world: dict, manager):
    made, _ = invite("annotator", world["campaign"])
    assert manager.post("/people", {"act": "revoke", "row": made.pk}).status_code == 404
    other = open_campaign(make_pool(world["graph"], "other"))
    assert manager.post(f"/pools/{other}/campaign/people", {"act": "revoke", "row": made.pk}).status_code == 404
    assert said(manager, MEMBERS, {"act": "revoke", "row": made.pk}) == [REVOKED]
    assert said(manager, MEMBERS, {"act": "revoke", "row": made.pk}) == [OVER_ALREADY]
    assert manager.post(MEMBERS, {"act": "revoke", "row": "x"}).status_code == 404


def test_researcher_and_annotator_can_invite_nobody(world: dict, sign_in):
    for role in ("researcher", "annotator", "adjudicator"):
        for url in ("/people", MEMBERS):
            data = {"act": "invite", "role": "manager" if url == "/people" else "annotator", "days": "7"}
            assert sign_in(role).post(url, data).status_code == 403
    assert not Invitation.objects.exists()


def test_people_are_found_by_a_part_of_the_name(world: dict, manager):
    found = links(manager.get("/people", {"q": "SEARCH"}))
    assert [name for url, name in found.items() if re.fullmatch(r"/people/\d+", url)] == ["researcher"]
    nobody = manager.get("/people", {"q": "%"})
    assert has(nobody, "empty") and fields(nobody)["q"] == "%"
    assert manager.get("/people", {"q": "\0"}).status_code == 400  # refused in words: tests/pages/test_nul.py


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow_with_people(count: int, world: dict, manager, django_assert_num_queries):
    Membership.objects.all().delete()
    for i in range(count):
        make_person(f"more{i}", campaign=world["campaign"], role="annotator")
        invite("annotator", world["campaign"], by=world["manager"])
        invite("researcher", by=world["manager"])
    with django_assert_num_queries(6):
        manager.get(MEMBERS)
    with django_assert_num_queries(9):
        manager.get("/people")


def test_person_is_switched_off_and_on(world: dict, manager, sign_in):
    annotator, url = sign_in("annotator"), f"/people/{world['annotator'].pk}"
    assert annotator.get("/").status_code == 200
    assert said(manager, url, {"act": "off"}) == [people.SWITCHED_OFF.format("annotator")]
    assert annotator.get("/")["Location"] == "/login?next=/"
    assert said(manager, url, {"act": "on"}) == [people.SWITCHED_ON.format("annotator")]
    assert Client().post("/login", {"username": "annotator", "password": PASSWORD})["Location"] == "/"


def test_manager_cannot_switch_off_or_demote_the_own_account(world: dict, manager):
    url = f"/people/{world['manager'].pk}"
    assert said(manager, url, {"act": "off"}) == [accounts.OWN_ACCOUNT]
    assert said(manager, url, {"act": "take", "role": "manager"}) == [people.OWN_ROLE]
    assert manager.get("/people").status_code == 200


def test_site_role_is_taken_away_and_campaign_roles_are_not_here(world: dict, manager):
    url = f"/people/{world['researcher'].pk}"
    told = said(manager, url, {"act": "take", "role": "researcher"})
    assert told == [people.ROLE_TAKEN.format("researcher", "researcher")]
    assert world["researcher"].groups.count() == 0
    assert manager.post(url, {"act": "take", "role": "annotator"}).status_code == 404


def test_password_link_works_once(world: dict, manager, client):
    path = link_in(manager.post(f"/people/{world['annotator'].pk}", {"act": "link"}))
    form = client.get(path, follow=True)
    assert form.redirect_chain[-1][0].endswith("/set-password")  # the secret is in no referrer
    typed = {"new_password1": "quite another phrase", "new_password2": "quite another phrase"}
    assert client.post(form.redirect_chain[-1][0], typed)["Location"] == "/password/new/done"
    assert User.objects.get(username="annotator").check_password("quite another phrase")
    assert has(Client().get(path, follow=True), "link-refused")


def test_password_link_of_an_account_that_is_off_is_refused(world: dict, manager, client):
    url = f"/people/{world['annotator'].pk}"
    path = link_in(manager.post(url, {"act": "link"}))
    manager.post(url, {"act": "off"}, follow=True)
    assert has(client.get(path, follow=True), "link-refused")
    typed = {"new_password1": "quite another phrase", "new_password2": "quite another phrase"}
    client.post(path, typed)
    client.post(path.rpartition("/")[0] + "/set-password", typed)
    assert User.objects.get(username="annotator").check_password(PASSWORD)
    assert said(manager, url, {"act": "link"}) == [accounts.IS_OFF.format("annotator")]


def test_erase_needs_the_name_typed(world: dict, manager):
    url = f"/people/{world['annotator'].pk}/erase"
    assert has(manager.get(url), "kept")
    for typed in ("", "Annotator", "ann"):
        manager.post(url, {"typed": typed, "password": PASSWORD})
    assert User.objects.filter(username="annotator").exists()
    assert refused(manager.post(url, {"typed": "annotator", "password": "wrong"})) == {
        "password": ["password_incorrect"]
    }
    assert User.objects.filter(username="annotator").exists()
    manager.post(url, {"typed": "annotator", "password": PASSWORD})
    assert not User.objects.filter(username="annotator").exists()
    names = links(manager.get("/people")).values()
    assert [bool(re.fullmatch(r"erased-[0-9a-f]{8}", name)) for name in names].count(True) == 1


def test_names_are_text(world: dict, manager):
    person = make_person("evil", campaign=world["campaign"], role="annotator")
    User.objects.filter(pk=person.pk).update(username=EVIL, email=EVIL)
    for url in ("/people", MEMBERS, f"/people/{person.pk}", f"/people/{person.pk}/erase", "/audit"):
        html = manager.get(url).content.decode()
        assert EVIL not in html
        assert EVIL in parse(html).text or url == "/audit"
