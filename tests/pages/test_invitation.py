"""The page on which an invitation is accepted."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.test import Client
from django.utils import timezone

from annotation.forms import people as forms
from annotation.models import Invitation
from annotation.people import invitations
from annotation.people.accounts import LABELS_BLIND, NAME_TAKEN, NO_NAME
from annotation.people.invitations import invite
from annotation.people.members import fingerprint
from tests.page import element, fields, has, links, parse, refused

PHRASE = "quite another phrase"


@pytest.fixture
def invited(world: dict):
    """Where an annotator's invitation is, and what a new person sends there."""
    made, token = invite("annotator", world["campaign"], email="nina@example.org", by=world["manager"])
    typed = {
        "username": "nina",
        "password": PHRASE,
        "again": PHRASE,
        "email": "nina@example.org",
        "text": fingerprint(world["campaign"]),
        "agreed": "on",
    }
    return f"/invitations/{token}", typed, made


def test_new_person_makes_an_account_and_is_signed_in(invited, client):
    url, typed, made = invited
    page = client.get(url)
    assert fields(page)["email"] == "nina@example.org"
    assert has(page, "personal-data")
    assert client.post(url, typed)["Location"] == "/"
    nina = User.objects.get(username="nina")
    assert nina.email == "nina@example.org"
    assert nina.memberships.get().consented_at is not None
    assert client.get("/campaigns/town-pool/annotate").status_code == 200
    assert Invitation.objects.get(pk=made.pk).used_by == nina


@pytest.mark.parametrize("sends", [True, False])
def test_an_address_is_asked_for_with_what_the_site_does_with_it(sends: bool, invited, sign_in, client, settings):
    settings.EMAIL_IS_SET, settings.SITE_URL = sends, "https://pool.example"
    said = forms.FOR_PASSWORDS if sends else forms.NO_MAIL
    for page in (client.get(invited[0]), sign_in("annotator").get("/account")):
        assert parse(page).one(id="id_email_helptext").text == said


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"agreed": ""}, {"agreed": ["required"]}),
        ({"text": "0" * 64}, {"text": [forms.TEXT_CHANGED]}),
        ({"again": "other"}, {"again": [forms.PASSWORDS_DIFFER]}),
        ({"password": "12345678", "again": "12345678"}, {"password": ["password_too_common"]}),
        ({"password": "nina1", "again": "nina1"}, {"password": ["password_too_similar", "password_too_short"]}),
        ({"username": "annotator"}, NAME_TAKEN.format("annotator")),
        ({"username": "ANNOTATOR"}, NAME_TAKEN.format("ANNOTATOR")),
        ({"username": "two words"}, NO_NAME.format("two words", UnicodeUsernameValidator.message)),
        ({"email": "nonsense"}, {"email": ["invalid"]}),
    ],
)
def test_what_is_refused_makes_no_account_and_does_not_use_the_link_up(change, why, invited, client):
    url, typed, made = invited
    before = User.objects.count()
    response = client.post(url, typed | change)
    assert response.status_code == 422
    if isinstance(why, str):  # said by the domain, after both forms
        assert element(response, "refused").text == why
    else:
        assert refused(response, "join_form") | refused(response, "agree_form") == why
    assert User.objects.count() == before
    assert Invitation.objects.get(pk=made.pk).used_at is None
    assert client.get("/").status_code == 302


def test_known_person_accepts_with_the_account(world: dict, invited, client, django_user_model):
    url, typed, _ = invited
    client.force_login(django_user_model.objects.create_user("known"))
    page = client.get(url)
    assert element(page, "signed-in").text == "known"
    assert "password" not in fields(page)
    assert client.post(url, {"text": typed["text"]}).status_code == 422
    # whoever is signed in gets the role, and no second account
    assert client.post(url, typed)["Location"] == "/"
    assert not User.objects.filter(username="nina").exists()
    member = User.objects.get(username="known").memberships.get()
    assert (member.role, member.consented_at is not None) == ("annotator", True)


@pytest.mark.parametrize("role", ["annotator", "adjudicator"])
def test_who_labels_cannot_become_manager(role: str, world: dict, sign_in):
    _, token = invite("manager", by=world["manager"])
    response = sign_in(role).post(f"/invitations/{token}", {})
    assert response.status_code == 422
    assert element(response, "refused").text == LABELS_BLIND.format(role, role, "manager")
    assert world[role].groups.count() == 0
    assert Invitation.objects.get().used_at is None


def test_site_role_asks_for_no_agreement(world: dict, client):
    _, token = invite("researcher")
    url = f"/invitations/{token}"
    page = client.get(url)
    assert "agreed" not in fields(page) and not has(page, "personal-data")
    assert client.post(url, {"username": "rita", "password": PHRASE, "again": PHRASE})["Location"] == "/"
    assert client.get("/pools").status_code == 200


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"expires_at": timezone.now() - timedelta(seconds=1)}, invitations.EXPIRED),
        ({"revoked_at": timezone.now()}, invitations.TAKEN_BACK),
        ({"used_at": timezone.now()}, invitations.USED),
    ],
)
@pytest.mark.parametrize("role", [None, "annotator"])
def test_invitation_that_is_over_is_gone(change, why: str, role, invited, sign_in):
    url, typed, made = invited
    Invitation.objects.filter(pk=made.pk).update(**change)
    client, before = sign_in(role), User.objects.count()
    for response in (client.get(url), client.post(url, typed)):
        assert response.status_code == 410
        assert element(response, "why").text == why
    assert User.objects.count() == before


def test_no_other_page_learns_the_secret(invited, client):
    url, *_ = invited
    for response in (client.get(url), client.post(url, {}), client.get("/invitations/unknown")):
        # with no-referrer a browser would send "Origin: null", and the form would be refused
        assert response["Referrer-Policy"] == "strict-origin"
        assert response["Cache-Control"] == "no-store"


def test_form_from_elsewhere_is_refused(invited):
    url, typed, _ = invited
    client = Client(enforce_csrf_checks=True)
    client.get(url)
    response = client.post(url, typed, headers={"origin": "https://evil.example"})
    assert response.status_code == 403
    assert has(response, "not-sent")
    assert not User.objects.filter(username="nina").exists()


def test_nothing_in_the_address_sends_the_person_elsewhere(invited, client):
    url, typed, _ = invited
    assert client.post(f"{url}?next=https://evil.example/", typed)["Location"] == "/"


def test_signing_in_comes_back_to_the_invitation(invited, world: dict, client):
    url, _, _ = invited
    assert f"/login?next={url.replace('/', '%2F')}" in links(client.get(url))
    typed = {"username": "researcher", "password": "look around here", "next": url}
    assert client.post("/login", typed)["Location"] == url


@pytest.mark.parametrize("to", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_signing_in_goes_to_no_other_site(to: str, world: dict, client):
    typed = {"username": "researcher", "password": "look around here", "next": to}
    assert client.post("/login", typed)["Location"] == "/"


def test_ten_wrong_passwords_lock_the_name(world: dict, client):
    wrong = {"username": "annotator", "password": "wrong"}
    codes = [client.post("/login", wrong).status_code for _ in range(10)]
    assert codes == [200] * 9 + [429]
    right = client.post("/login", {"username": "annotator", "password": "look around here"})
    assert right.status_code == 429
    assert has(right, "locked")
    # others are not kept out
    assert client.post("/login", {"username": "adjudicator", "password": "look around here"})["Location"] == "/"


def test_a_new_password_ends_the_lock(world: dict, client, sign_in):
    for _ in range(10):
        client.post("/login", {"username": "annotator", "password": "wrong"})
    page = sign_in("manager").post(f"/people/{world['annotator'].pk}", {"act": "link"})
    path = element(page, "secret-link")["value"].removeprefix("http://testserver")
    form = client.get(path, follow=True).redirect_chain[-1][0]
    client.post(form, {"new_password1": PHRASE, "new_password2": PHRASE})
    assert client.post("/login", {"username": "annotator", "password": PHRASE})["Location"] == "/"
