"""Sign in at a provider of OpenID Connect, from the button to the session. Run by ../test_single_sign_on.py."""

from __future__ import annotations

import gzip
import os
import time
from typing import BinaryIO
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils.encoding import iri_to_uri

from annotation.models import Identity
from annotation.people.own_data import erase, own_data
from config.provider_answers import IS_AWAY
from core.models import ApiToken, AuditEntry
from core.people.tokens import create_token
from tests.config.sso.provider import OidcProvider, new_key
from tests.page import read

ANNA = {"sub": "42", "email": "anna@example.org", "email_verified": True, "preferred_username": "anna"}


@pytest.fixture(scope="module")
def running():
    provider = OidcProvider(urlsplit(os.environ["OIDC_ISSUER"]).port)
    yield provider
    provider.close()


@pytest.fixture
def provider(running: OidcProvider, db) -> OidcProvider:
    from django.core.cache import cache

    cache.clear()
    running.claims, running.userinfo, running.token, running.config = dict(ANNA), None, {}, {}
    running.signing_key, running.sends_id_token, running.raw = None, True, {}
    IS_AWAY.clear()
    return running


def begin(client: Client, address: str = "/sso/oidc/login") -> str:
    return client.get(address)["Location"]


def finish(client: Client, provider: OidcProvider, to_provider: str):
    code, state = provider.authorize(to_provider)
    return client.get("/sso/oidc/callback", {"code": code, "state": state})


def sign_in(client: Client, provider: OidcProvider, address: str = "/sso/oidc/login"):
    return finish(client, provider, begin(client, address))


def test_an_address_that_asks_too_often_waits_a_minute(client, provider, monkeypatch) -> None:
    from config import single_sign_on_pages as pages

    monkeypatch.setattr(pages, "MOST_A_MINUTE", 2)
    seen = [client.get("/sso/oidc/login", REMOTE_ADDR="192.0.2.1")["Location"] for _ in range(3)]
    assert [to == "/login" for to in seen] == [False, False, True]
    assert pages.too_many() in client.get("/login").content.decode()
    assert client.get("/sso/oidc/login", REMOTE_ADDR="192.0.2.2")["Location"] != "/login"


def is_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def person(client: Client) -> User:
    return User.objects.get(pk=client.session["_auth_user_id"])


def test_button_leads_to_the_provider_and_back_to_the_page(client, provider) -> None:
    button = read(client.get("/login?next=/account")).one("sso-oidc")
    assert "Uni Login" in button.text
    assert sign_in(client, provider, button["href"])["Location"] == "/account"
    anna = person(client)
    assert (anna.username, anna.email, anna.has_usable_password(), list(anna.groups.all())) == (
        "anna", "anna@example.org", False, [],
    )  # fmt: skip
    assert (client.get("/").status_code, client.get("/pools").status_code) == (200, 403)
    assert AuditEntry.objects.filter(act="identity-added", subject=anna).count() == 1


def test_second_sign_in_is_the_same_account_whatever_the_address_is_now(client, provider) -> None:
    sign_in(client, provider)
    provider.claims |= {"email": "new@example.org", "preferred_username": "other"}
    again = Client()
    sign_in(again, provider)
    assert (person(again), User.objects.count(), Identity.objects.count()) == (person(client), 1, 1)


def test_account_with_the_verified_address_is_taken_and_what_others_may_hold_of_it_ends(client, provider) -> None:
    mine = User.objects.create_user("ann", "Anna@Example.org", "of somebody else?")
    squatter = Client()
    squatter.force_login(mine, backend=settings.AUTHENTICATION_BACKENDS[-1])
    create_token(mine, "old", ["label"], 1)
    sign_in(client, provider)
    mine.refresh_from_db()
    assert (person(client), User.objects.count()) == (mine, 1)
    assert squatter.get("/account").status_code == 302
    assert not mine.has_usable_password() and not ApiToken.objects.exists()


def test_who_wrote_the_address_of_another_into_the_own_account_is_out_once_the_other_comes(client, provider) -> None:
    """They would share the account, and whatever role the other is given."""
    provider.claims |= {"sub": "7", "email": "mallory@example.org", "preferred_username": "mallory"}
    sign_in(client, provider)
    assert client.post("/account", {"email": "anna@example.org"}).status_code == 302
    anna, mallory = Client(), Client()
    provider.claims = dict(ANNA)
    sign_in(anna, provider)
    provider.claims |= {"sub": "7", "email": "mallory@example.org"}
    sign_in(mallory, provider)
    assert person(anna).email == "anna@example.org" and person(mallory) != person(anna)
    assert Identity.objects.get(person=person(anna)).subject == "42"


def test_address_that_is_not_verified_matches_nobody_and_is_not_kept(client, provider) -> None:
    boss = User.objects.create_user("boss", "anna@example.org", "x")
    for claim in (False, "false", None):
        provider.claims |= {"sub": f"of {claim}", "email_verified": claim}
        one = Client()
        sign_in(one, provider)
        assert person(one) != boss and person(one).email == ""


def test_address_of_several_accounts_or_of_one_that_is_off_lets_nobody_in(client, provider) -> None:
    User.objects.create_user("a", "anna@example.org", "x")
    other = User.objects.create_user("b", "ANNA@example.org", "x")
    assert sign_in(client, provider)["Location"] == "/login" and not is_in(client)
    other.delete()
    User.objects.update(is_active=False)
    assert sign_in(client, provider)["Location"] == "/login" and not is_in(client)
    assert Identity.objects.count() == 0


def test_account_that_is_switched_off_stays_out(client, provider) -> None:
    sign_in(client, provider)
    User.objects.update(is_active=False)
    again = Client()
    sign_in(again, provider)
    assert not is_in(again) and again.get("/account").status_code == 302


@pytest.mark.parametrize("name", ["аnna", "ANNA", "anna1", "", "erased-1", "a b<script>", "ﬁnn", "x" * 300])
def test_new_account_has_a_name_that_is_allowed_and_looks_like_nobody_elses(client, provider, name) -> None:
    User.objects.create_user("anna", "other@example.org", "x")
    provider.claims |= {"preferred_username": name, "email": "", "sub": "7"}
    sign_in(client, provider)
    made = person(client)
    made.full_clean(exclude=["password"])
    from annotation.people.names import looks_like_one_of

    assert not looks_like_one_of(made.username, ["anna"]) and not made.username.startswith("erased-")


@pytest.mark.parametrize(
    "wrong",
    [
        {"signing_key": True},
        {"token": {"aud": "another"}},
        {"token": {"iss": "https://another.example.org"}},
        {"token": {"exp": int(time.time()) - 900}},
        {"token": {"sub": "another"}},
        {"userinfo": {"sub": "another", "email": "boss@example.org", "email_verified": True}},
        {"sends_id_token": False},
        {"config": {"issuer": "https://another.example.org"}},
        {"config": {"jwks_uri": "http://127.0.0.1:9/"}},
    ],
    ids=str,
)
def test_answer_that_is_not_the_providers_lets_nobody_in(client, provider, wrong) -> None:
    to_provider = begin(client)
    for name, value in wrong.items():
        setattr(provider, name, new_key() if value is True else value)
    assert finish(client, provider, to_provider)["Location"] == "/login"
    assert not is_in(client) and User.objects.count() == 0
    assert read(client.get("/login")).messages


def test_answer_without_the_state_of_this_browser_is_refused(client, provider) -> None:
    """Somebody sends a link to the end of a sign-in of theirs."""
    code, state = provider.authorize(begin(Client()))
    client.get("/sso/oidc/callback", {"code": code, "state": state})
    assert not is_in(client)


def test_code_works_once(client, provider) -> None:
    code, state = provider.authorize(begin(client))
    assert client.get("/sso/oidc/callback", {"code": code, "state": state})["Location"] == "/"
    client.post("/logout")
    client.get("/sso/oidc/callback", {"code": code, "state": state})
    assert not is_in(client)


DEEP = b"[" * 200_000
ENDPOINTS = ("/.well-known/openid-configuration", "/token", "/keys", "/me")


@pytest.mark.parametrize("garbage", [b"", b"[]", b"5", b"null", DEEP, b" " * 2_000_000, b"\xff"], ids=len)
@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_garbage_of_the_provider_is_told(client, provider, endpoint: str, garbage: bytes) -> None:
    to_provider = begin(client)
    provider.raw[endpoint] = garbage
    assert finish(client, provider, to_provider)["Location"] == "/login"
    assert not is_in(client) and read(client.get("/login")).messages


@pytest.mark.parametrize(
    "said",
    [{"sub": "x" * 200}, {"sub": "x" * 300}, {"sub": "a\0b"}, {"name": 5}, {"name": ["a"]}, {"email": ["a@b.org"]}],
    ids=str,
)
def test_claims_of_another_kind_are_no_error(client, provider, said) -> None:
    provider.claims |= said
    done = sign_in(client, provider)
    assert done.status_code == 302 and is_in(client) == ("email" in said)


def test_token_that_lasts_for_ever_is_no_error(client, provider) -> None:
    to_provider = begin(client)
    provider.raw["/token"] = b'{"access_token": "a", "expires_in": 1%s}' % (b"0" * 40)
    assert finish(client, provider, to_provider)["Location"] == "/login"


HEAD = b"HTTP/1.1 200 OK\r\n"
SLOWLY = {  # what begins, what follows again and again, and seconds between
    "first line": (b"", b"H", 0.1),
    "headers": (HEAD, b"X: y\r\n", 0.1),
    "others first": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 50, 0),
    "body": (HEAD + b"\r\n", b" ", 0.1),
    "chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", 0.1),
    "end of chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n", 0.1),
    "packed nothing": (HEAD + b"Content-Encoding: gzip\r\n\r\n", gzip.compress(b"") * 50, 0),
}


@pytest.mark.parametrize("how", SLOWLY)
def test_answer_without_an_end_is_left_in_time(client, provider, monkeypatch, how: str) -> None:
    from config import provider_answers

    first, then, pause = SLOWLY[how]

    def drip(to: BinaryIO) -> None:
        to.write(first)
        until = time.monotonic() + 6
        while time.monotonic() < until:
            to.write(then)
            time.sleep(pause)

    monkeypatch.setattr(provider_answers, "SECONDS", 0.3)
    provider.raw[ENDPOINTS[0]] = drip
    before = time.monotonic()
    assert client.get("/sso/oidc/login")["Location"] == "/login" and time.monotonic() - before < 3
    assert IS_AWAY.is_set()


def test_redirect_is_followed_a_few_times_and_each_answer_has_its_time(client, provider, monkeypatch) -> None:
    from config import provider_answers

    def lead(to: BinaryIO) -> None:
        to.write(b"HTTP/1.1 302 Found\r\nLocation: /.well-known/openid-configuration\r\nContent-Length: 0\r\n\r\n")

    provider.raw[ENDPOINTS[0]] = lead
    asked = len(provider.asked)
    assert client.get("/sso/oidc/login")["Location"] == "/login" and len(provider.asked) - asked == 4

    def once(to: BinaryIO) -> None:
        lead(to)
        provider.raw[ENDPOINTS[0]] = lambda to: time.sleep(2)

    monkeypatch.setattr(provider_answers, "SECONDS", 0.3)
    provider.raw[ENDPOINTS[0]] = once
    before = time.monotonic()
    assert client.get("/sso/oidc/login")["Location"] == "/login" and time.monotonic() - before < 1.5


def test_provider_that_is_slow_is_asked_by_one_request_at_a_time(client, provider, monkeypatch) -> None:
    from config import provider_answers

    monkeypatch.setattr(provider_answers, "SLOW_SECONDS", 0)
    assert client.get("/sso/oidc/login")["Location"] != "/login" and IS_AWAY.is_set()


def test_while_the_provider_is_away_one_request_at_a_time_asks_it(client, provider) -> None:
    from config.single_sign_on_pages import _one_that_asks

    IS_AWAY.set()
    before = len(provider.asked)
    with _one_that_asks:
        assert client.get("/sso/oidc/login")["Location"] == "/login" and len(provider.asked) == before
    assert client.get("/sso/oidc/login")["Location"] != "/login" and not IS_AWAY.is_set()
    assert _one_that_asks.acquire(blocking=False)
    _one_that_asks.release()
    provider.raw[ENDPOINTS[0]] = b" " * 2_000_000
    assert client.get("/sso/oidc/login")["Location"] == "/login" and IS_AWAY.is_set()


def test_address_with_a_sign_that_only_small_letters_make_a_k_is_another(client, provider) -> None:
    boss = User.objects.create_user("boss", "kim@example.org", "x")
    provider.claims["email"] = "\u212aim@example.org"
    sign_in(client, provider)
    assert is_in(client) and person(client) != boss


def test_address_that_is_none_here_is_left_out(client, provider) -> None:
    provider.claims["email"] = "k\u0130m@example.org"
    sign_in(client, provider)
    assert person(client).email == ""


@pytest.mark.parametrize("to", ["é", "home", "nothing"])
def test_next_is_an_address_never_the_name_of_a_page(client, provider, to: str) -> None:
    assert sign_in(client, provider, f"/sso/oidc/login?next={to}")["Location"] == iri_to_uri(to)


def test_who_cancels_is_told_on_the_page_to_sign_in(client, provider) -> None:
    _, state = provider.authorize(begin(client))
    answer = client.get("/sso/oidc/callback", {"error": "access_denied", "state": state})
    assert answer["Location"] == "/login" and read(client.get("/login")).messages


def test_next_leads_to_no_other_site(client, provider) -> None:
    assert sign_in(client, provider, "/sso/oidc/login?next=https://evil.example.org/")["Location"] == "/"


def test_signed_in_person_cannot_be_connected_to_another_identity(client, provider) -> None:
    boss = User.objects.create_user("boss", "boss@example.org", "x")
    client.force_login(boss, backend=settings.AUTHENTICATION_BACKENDS[-1])
    sign_in(client, provider, "/sso/oidc/login?process=connect")
    assert person(client).username == "anna" and not Identity.objects.filter(person=boss).exists()


def test_session_is_a_new_one(client, provider) -> None:
    to_provider = begin(client)
    before = client.session.session_key
    finish(client, provider, to_provider)
    assert is_in(client) and client.session.session_key != before


def test_own_data_tell_of_the_identity_and_erasure_ends_it(client, provider) -> None:
    sign_in(client, provider)
    anna = person(client)
    assert own_data(anna)["single_sign_on"][0]["subject"] == "42"
    erase(anna)
    again = Client()
    sign_in(again, provider)
    assert person(again) != anna


def test_who_has_no_password_can_make_a_token_soon_after_signing_in_only(client, provider) -> None:
    from datetime import timedelta

    from django.utils import timezone

    sign_in(client, provider)
    asked = {"name": "mine", "scopes": ["label"], "days": "7"}
    User.objects.update(last_login=timezone.now() - timedelta(minutes=11))
    assert client.post("/account/tokens", asked).status_code == 422
    User.objects.update(last_login=timezone.now())
    assert client.post("/account/tokens", asked).status_code == 200 and ApiToken.objects.count() == 1


def test_pages_of_allauth_are_those_two_and_take_get_only(client, provider) -> None:
    from tests.pages.test_access import PAGES, routes

    extra = {name for name, _ in routes()} - set(PAGES)
    assert extra == {"openid_connect_login", "openid_connect_callback"}
    for page in ("login", "callback"):
        assert client.post(f"/sso/oidc/{page}").status_code == 405
    for path in ("accounts/login/", "accounts/signup/", "accounts/email/", "accounts/social/connections/"):
        assert client.get(f"/{path}").status_code in (302, 404)
    root = User.objects.create_superuser("root", password="x")
    client.force_login(root, backend=settings.AUTHENTICATION_BACKENDS[-1])
    assert client.get("/accounts/email/").status_code == 404
    assert "socialaccount" not in client.get("/admin/").content.decode()


def test_provider_that_is_away_is_told(client, provider, monkeypatch) -> None:
    monkeypatch.setattr(provider, "discovery", lambda: {})
    assert client.get("/sso/oidc/login")["Location"] == "/login" and read(client.get("/login")).messages


PASSWORDS = os.environ.get("PASSWORD_SIGN_IN", "1") == "1"


def test_passwords_are_on_or_off_as_the_operator_says(client, provider) -> None:
    User.objects.create_user("boss", "boss@example.org", "a long pass phrase")
    page = client.get("/login").content.decode()
    client.post("/login", {"username": "boss", "password": "a long pass phrase"})
    told = {path: client.get(path).status_code for path in ("/password/forgotten", "/password/new/x/y")}
    assert ('name="password"' in page, is_in(client)) == (PASSWORDS, PASSWORDS)
    button = read(Client().get("/login")).one("sso-oidc")
    assert button["class"] == ("button" if PASSWORDS else "button-primary")  # one primary button a page
    assert set(told.values()) == {200 if PASSWORDS else 404}


def test_account_page_speaks_of_passwords_only_to_who_has_one(client, provider) -> None:
    boss = User.objects.create_user("boss", "boss@example.org", "a long pass phrase")
    client.force_login(boss, backend=settings.AUTHENTICATION_BACKENDS[-1])
    for has_one, one in ((PASSWORDS, client), (False, Client())):
        if one is not client:
            sign_in(one, provider)
        page = one.get("/account").content.decode()
        assert ('name="password"' in page, 'href="/account/password"' in page) == (has_one, has_one)
        one.post("/account", {"email": "new@example.org"})
        assert person(one).email == ("boss@example.org" if has_one else "new@example.org")
        person(one).delete()


def test_invitation_is_accepted_by_who_signs_in_at_the_provider(client, provider) -> None:
    from annotation.people.invitations import invite

    made = invite("researcher")
    secret = next(part for part in made if isinstance(part, str))
    page = f"/invitations/{secret}"
    if not PASSWORDS:
        assert client.get(page)["Location"].startswith("/login?next=/invitations/")
    sign_in(client, provider, f"/sso/oidc/login?next={page}")
    client.post(page)
    assert [group.name for group in person(client).groups.all()] == ["researcher"]


def test_managers_make_links_to_a_new_password_where_there_are_passwords(client, provider) -> None:
    from annotation.people.accounts import give_role

    boss, anna = (User.objects.create_user(name, f"{name}@example.org", "x") for name in ("boss", "anna"))
    give_role(boss, "manager")
    client.force_login(boss, backend=settings.AUTHENTICATION_BACKENDS[-1])
    page = f"/people/{anna.pk}"
    assert ("Make password link" in client.get(page).content.decode()) == PASSWORDS
    assert client.post(page, {"act": "link"}).status_code == (200 if PASSWORDS else 404)
