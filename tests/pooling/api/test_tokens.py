"""Tokens at the door of the API: scope, end, revocation, owner; and the page on which they are made."""

import re
from datetime import timedelta

import pytest
from django.test import Client, override_settings
from django.utils import timezone

from annotation.people.accounts import switch_off
from annotation.people.own_data import erase, own_data
from core.enums import TokenScope
from core.models import ApiToken
from core.people.tokens import create_token
from tests.page import refused

GRAPHS, CLAIM = "/api/v1/graphs", "/api/v1/campaigns/town-pool/claim"


def with_token(secret: str) -> Client:
    return Client(headers={"Authorization": f"Token {secret}"})


@pytest.fixture
def token_of(world):
    def made(role: str, *scopes: str) -> str:
        return create_token(world[role], "-".join(scopes), scopes, 30)[1]

    return made


def test_token_reads_what_its_owner_may_read(token_of):
    client = with_token(token_of("researcher", "read"))
    assert [graph["name"] for graph in client.get(GRAPHS).json()["results"]] == ["town"]
    assert ApiToken.objects.get().last_used_at is not None


@pytest.mark.parametrize(
    ("role", "scope", "method", "url", "status", "error"),
    [
        ("researcher", "run", "get", GRAPHS, 403, "This token lacks the scope 'read': make one that has it."),
        ("annotator", "label", "get", GRAPHS, 403, "This token lacks the scope 'read': make one that has it."),
        ("manager", "read", "post", CLAIM, 403, "This token lacks the scope 'label': make one that has it."),
    ],
)
def test_token_out_of_scope(token_of, role, scope, method, url, status, error):
    response = getattr(with_token(token_of(role, scope)), method)(url, content_type="application/json")
    assert (response.status_code, response.json()) == (status, {"error": error})


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "Token"])
def test_token_comes_as_bearer_too(token_of, scheme):
    secret = token_of("researcher", "read")
    assert Client(headers={"Authorization": f"{scheme} {secret}"}).get(GRAPHS).status_code == 200
    refused = Client(headers={"Authorization": f"{scheme} {secret}x"}).get(GRAPHS)
    assert (refused.status_code, refused.json()) == (401, {"error": "Invalid token."})


@pytest.mark.parametrize("wrong", ["Bearer", "Bearer ", "Bearer a b", "Basic abc"])
def test_header_without_a_token_is_401(world, wrong):
    assert Client(headers={"Authorization": wrong}).get(GRAPHS).status_code == 401


def test_address_with_a_slash_is_the_one_without(token_of, world):
    client = with_token(token_of("researcher", "read"))
    for path in ("graphs", "graphs/town", "pools/town-pool/qrels"):
        assert client.get(f"/api/v1/{path}/?").content == client.get(f"/api/v1/{path}").content
    page = client.get("/api/v1/graphs/", {"page_size": "1", "archived": "false"})
    assert [graph["name"] for graph in page.json()["results"]] == ["town"]
    work = with_token(token_of("annotator", "label")).post(CLAIM + "/", {"count": 1}, content_type="application/json")
    assert work.status_code == 200 and work.json()["items"]


def test_address_with_a_slash_asks_for_the_csrf_token_of_a_session(world):
    client = Client(enforce_csrf_checks=True)
    client.force_login(world["annotator"])
    for url in (CLAIM, CLAIM + "/"):
        assert client.post(url, {"count": 1}, content_type="application/json").status_code == 403


def test_label_token_works_as_its_annotator(token_of):
    answer = with_token(token_of("annotator", "label")).post(CLAIM, {"count": 1}, content_type="application/json")
    assert answer.status_code == 200
    assert len(answer.json()["items"]) >= 1


def test_token_never_does_more_than_its_owner(world, token_of):
    secret = token_of("researcher", "read")
    world["researcher"].groups.clear()
    response = with_token(secret).get(GRAPHS)
    assert (response.status_code, response.json()) == (403, {"error": "Your role may not do this."})


@pytest.mark.parametrize("end", ["expired", "revoked", "switched off", "erased"])
def test_token_that_is_over(world, token_of, end):
    secret = token_of("researcher", "read")
    assert with_token(secret).get(GRAPHS).status_code == 200
    if end == "expired":
        ApiToken.objects.update(expiry=timezone.now() - timedelta(seconds=1))
    elif end == "revoked":
        ApiToken.objects.all().delete()
    elif end == "switched off":
        switch_off(world["researcher"], by=world["manager"])
    else:
        erase(world["researcher"], by=world["manager"])
    response = with_token(secret).get(GRAPHS)
    assert (response.status_code, response.json()) == (401, {"error": "Invalid token."})
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize("secret", ["", "tp_unknown", "tp_ two words", "tp_\xff\xfe"])
def test_no_such_token_is_401(world, secret):
    response = with_token(secret).get(GRAPHS)
    assert response.status_code == 401
    assert set(response.json()) == {"error"}


@pytest.mark.parametrize(
    ("role", "scope", "url"),
    [
        ("manager", "read", GRAPHS), ("researcher", "read", GRAPHS), ("researcher", "read", "/api/v1/nothing"),
        ("annotator", "label", "/api/v1/campaigns/town-pool/progress"), ("annotator", "label", "/api/v1/campaigns"),
    ],
)  # fmt: skip
def test_who_asks_too_often_waits(token_of, role, scope, url):
    """Each role has a rate of its own, whatever the endpoint."""
    client = with_token(token_of(role, scope))
    rates = dict.fromkeys(["manager", "researcher", "annotator"], "9/min") | {role: "2/min"}
    with override_settings(API_RATES=rates):
        statuses = [client.get(url).status_code for _ in range(3)]
        last = client.get(url)
    assert statuses in ([200, 200, 429], [404, 404, 429])
    assert 0 < int(last["Retry-After"]) <= 60 and "throttled" in last.json()["error"]


def test_own_data_names_tokens_without_their_hash(world, token_of):
    token_of("researcher", "read")
    [told] = own_data(world["researcher"])["tokens"]
    assert told["name"] == "read" and told["scopes"] == ["read"] and "digest" not in told


# -- the page ---------------------------------------------------------------------------------------------------


def test_page_shows_a_token_once(world, sign_in):
    client = sign_in("researcher")
    asked = {"name": "nightly", "scopes": ["run", "read"], "days": "7"}
    for wrong in ({}, {"password": "wrong"}):  # a stolen session makes none
        assert refused(client.post("/account/tokens", asked | wrong)) == {"password": ["password_incorrect"]}
    assert not ApiToken.objects.exists()
    made = client.post("/account/tokens", asked | {"password": "look around here"})
    secret = re.search(r'value="(tp_[^"]+)"', made.content.decode())[1]
    assert made["Cache-Control"] == "no-store"
    assert with_token(secret).get(GRAPHS).status_code == 200
    again = client.get("/account/tokens").content.decode()
    assert secret not in again and secret[:15] in again and "nightly" in again
    assert "; ".join([TokenScope.READ.label, TokenScope.RUN.label]) in again


def test_page_says_what_is_wrong(world, sign_in):
    client = sign_in("annotator")
    response = client.post("/account/tokens", {"name": "", "scopes": ["read"], "days": "7"})
    assert response.status_code == 422
    assert refused(response) == {"name": ["required"], "scopes": ["invalid_choice"]}
    assert not ApiToken.objects.exists()


def test_page_revokes(world, sign_in, token_of):
    secret = token_of("researcher", "read")
    sign_in("manager").post("/account/tokens", {"revoke": "read"})
    assert with_token(secret).get(GRAPHS).status_code == 200
    assert sign_in("researcher").post("/account/tokens", {"revoke": "read"})["Location"] == "/account/tokens"
    assert with_token(secret).get(GRAPHS).status_code == 401
